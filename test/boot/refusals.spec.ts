// @tags nest
import { expect, test } from '@jest/globals';
import { allow, AllowAny, deny, Restify } from 'nestjs-restify';
import { Entity, PrimaryColumn } from 'typeorm';
import { problemsOf } from './refused-start.js';

@Restify({ app: 'boot', permissions: [AllowAny] })
@Entity('boot_refused')
class Refused {
  @PrimaryColumn() id: number;
}

test('what refusals of a prefix hide is one of two words', async () => {
  expect(await problemsOf({ entities: [Refused], restify: { refusalsHide: 'all' as never } })).toEqual([
    `RestifyModule.forRoot('rest/v1').refusalsHide: refusalsHide cannot be "all". Write 'rows' or 'nothing'.`,
  ]);
});

test.each([
  [
    'rows',
    { rows: undefined },
    'allow({ rows }) was given nothing that it can use. Leave the option out to grant all rows.',
  ],
  [
    'rows',
    { rows: null },
    'allow({ rows }) was given nothing that it can use. Leave the option out to grant all rows.',
  ],
  [
    'readable',
    { readable: undefined },
    'allow({ readable }) was given nothing that it can use. Leave the option out to grant all fields.',
  ],
  [
    'writable',
    { writable: null },
    'allow({ writable }) was given nothing that it can use. Leave the option out to grant all fields.',
  ],
  [
    'writable',
    { writable: 'id' },
    'allow({ writable }) was given nothing that it can use. Leave the option out to grant all fields.',
  ],
])('%s of a grant that are given have a value: %j', (_name, given, problem) => {
  expect(() => allow(given as never)).toThrow(problem);
});

test.each([{ hides: undefined }, { hides: null }, { hides: 'row' }])(
  'the value of "hides" is one of the known words: %j',
  (given) => {
    expect(() => deny(given as never)).toThrow("deny({ hides }) takes 'rows' or 'nothing'.");
  },
);
