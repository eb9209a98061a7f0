// @tags nest
import { describe, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { declareUnchecked, problemsOf } from './refused-start.js';

@Entity('boot_thing')
class Thing {
  @PrimaryGeneratedColumn() id: number;
}

@Entity('boot_holder')
class Holder {
  @PrimaryGeneratedColumn() id: number;
  @ManyToMany(() => Thing) @JoinTable() things: Relation<Thing[]>;
}

const CONDITIONAL = "Write true, false or { require: true, etag: 'content' }, with either of the two.";
const CACHE = "Write its directives, such as 'private, no-cache' or 'public, max-age=60', or false for none.";

describe('conditional requests refuse to start', () => {
  test.each([
    [
      'a text',
      { conditional: 'yes' },
      [`Thing.conditional: this does not configure conditional requests. ${CONDITIONAL}`],
    ],
    [
      'null',
      { conditional: null },
      [`Thing.conditional: this does not configure conditional requests. ${CONDITIONAL}`],
    ],
    [
      'an unknown option',
      { conditional: { required: true } },
      [`Thing.conditional.required: "required" is not an option of conditional requests. ${CONDITIONAL}`],
    ],
    [
      'no flag',
      { conditional: { require: 'PUT' } },
      [`Thing.conditional.require: this is neither true nor false. ${CONDITIONAL}`],
    ],
    [
      'another tag',
      { conditional: { etag: 'weak' } },
      [
        "Thing.conditional.etag: this is not 'content'. Write etag: 'content', or leave it out: the version column tells where it can.",
      ],
    ],
    [
      'an invalid Cache-Control',
      { cacheControl: true },
      [`Thing.cacheControl: this is not a valid value of Cache-Control. ${CACHE}`],
    ],
    [
      'an empty one',
      { cacheControl: '' },
      [`Thing.cacheControl: this is not a valid value of Cache-Control. ${CACHE}`],
    ],
    [
      'one that ends the header',
      { cacheControl: 'private\r\nSet-Cookie: a=b' },
      [`Thing.cacheControl: this is not a valid value of Cache-Control. ${CACHE}`],
    ],
  ])('with %s', async (_, options, problems) => {
    declareUnchecked(Thing, { app: 'boot', ...options });
    expect(await problemsOf({ entities: [Thing] })).toEqual(problems);
  });

  test.each([true, false, {}, { require: true, etag: 'content' as const }])(
    'and not with %j',
    async (conditional) => {
      restify(Thing, {
        app: 'boot',
        conditional,
        cacheControl: 'public, max-age=60, stale-while-revalidate=30, no-cache="Set-Cookie"',
      });
      await expect(problemsOf({ entities: [Thing] })).rejects.toThrow('The application has started.');
    },
  );

  test('as the default of a prefix, and for a junction', async () => {
    restify(Thing, { app: 'boot' });
    declareUnchecked(Holder, { app: 'boot', through: { things: { cacheControl: 7 } } });
    expect(await problemsOf({ entities: [Thing, Holder], restify: { cacheControl: 'a b' } })).toEqual([
      `RestifyModule.forRoot('rest/v1').cacheControl: this is not a valid value of Cache-Control. ${CACHE}`,
      `Holder.through.things.cacheControl: this is not a valid value of Cache-Control. ${CACHE}`,
    ]);
  });
});
