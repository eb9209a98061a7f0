// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsDefined,
  IsEmail,
  IsEnum,
  IsIn,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsPositive,
  IsString,
  IsUUID,
  IsUrl,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { Restify, RestifyOpenApi } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

enum Size {
  Small = 's',
  Large = 'l',
}

class VoPlace {
  @Length(2, 5) @Column({ length: 20, default: 'Rome' }) city: string;
}

class VoBase {
  @PrimaryGeneratedColumn() id: number;
  @MinLength(3) @Column({ length: 20, default: 'abc' }) inherited: string;
}

@Restify('vo')
@Entity('vo_item')
class VoItem extends VoBase {
  @Length(2, 4) @Column({ length: 20, default: 'ab' }) text: string;
  @MaxLength(6) @Matches(/^[a-z]{2,}$/) @Column({ length: 4, default: 'ab' }) word: string;
  @Matches(/^\S+ \S+$/u) @Column({ length: 20, default: 'a b' }) pair: string;
  @Matches(/^.{2}$/) @Column({ length: 20, default: 'ab' }) units: string;
  @Matches(/^[a-z]+$/i) @Column({ length: 20, default: 'ab' }) cased: string;
  @IsEmail() @Column({ length: 40, default: 'a@example.org' }) mail: string;
  @IsUrl() @Column({ length: 40, default: 'example.org' }) link: string;
  @IsUUID() @Column({ length: 40, default: '6f1f1d3c-3c5a-4a0c-9a63-7f5f0f8f2c11' }) token: string;
  @IsEnum(Size) @Column({ length: 10, default: 's' }) size: Size;
  @IsIn([1, 2, 3]) @Column('int', { default: 1 }) step: number;
  @Min(2) @Max(9) @Column('int', { default: 2 }) rank: number;
  @IsPositive() @Column('float', { default: 1 }) price: number;
  @ArrayMinSize(1) @ArrayMaxSize(2) @Column('simple-array', { default: 'a' }) tags: string[];
  @IsEnum(Size, { each: true }) @Column('simple-array', { default: 's' }) sizes: Size[];
  @Length(2, 3, { each: true }) @Column('simple-array', { default: 'ab' }) words: string[];
  @IsObject() @Column('simple-json', { nullable: true }) settings: object | null;
  @IsOptional() @IsObject() @Column('simple-json', { nullable: true }) extra: object | null;
  @IsArray() @Column('simple-json', { nullable: true }) rows: unknown[] | null;
  @IsArray()
  @ArrayMaxSize(2)
  @IsEnum(Size, { each: true })
  @Column('simple-json', { nullable: true })
  chosen: Size[];
  @IsEnum(Size, { each: true }) @Column('simple-json', { nullable: true }) mixed: unknown;
  @IsIn(['a', 1]) @Column('simple-json', { nullable: true }) scalar: unknown;
  @IsString() @Column('date', { nullable: true }) day: Date;
  @IsString() @Column('simple-json', { nullable: true }) said: unknown;
  @IsDefined() @Column('int', { nullable: true }) known: number | null;
  @IsNotEmpty() @Column('varchar', { length: 10, nullable: true }) filled: string | null;
  @IsOptional() @MinLength(2) @Column('varchar', { length: 10, nullable: true }) maybe: string | null;
  @MinLength(9, { groups: ['admin'] }) @Column({ length: 10, default: 'grouped-x' }) grouped: string;
  @ValidateIf((item: VoItem) => item.rank === 1)
  @MinLength(3)
  @Column({ length: 10, default: '' })
  some: string;
  @ValidateNested() @Column(() => VoPlace) place: VoPlace;
  @Column(() => VoPlace) free: VoPlace;
}

let started: StartedApp;
let fits: (body: object) => boolean;
let schemas: Record<string, { properties: Record<string, Record<string, unknown>> }>;
beforeAll(async () => {
  started = await startApp({ entities: [VoItem] });
  const document = started.app
    .get(RestifyOpenApi)
    .extend({ openapi: '3.1.0', info: { title: 'v', version: '1' }, paths: {} });
  ({ schemas } = (
    JSON.parse(JSON.stringify(document)) as { components: { schemas: typeof schemas } }
  ).components);
  const ajv = new Ajv2020({ strict: false, logger: false });
  addFormats.default(ajv);
  const name = Object.keys(schemas).find((each) => /change|patch|partial/i.test(each)) ?? '';
  fits = ajv.compile({ ...schemas[name], components: { schemas } });
  const made = await started.client.post('/rest/v1/vo/voitem/', { known: 1 });
  expect(made.status).toBe(201);
});
afterAll(() => started.close());

/** Both take it; both refuse it; the document takes what the server refuses, because no schema says it. */
test.each<[string, readonly unknown[], readonly unknown[], readonly unknown[]]>([
  ['inherited', ['abc', '😀😀😀'], ['ab', '😀😀', ' a '], []],
  ['text', ['ab', 'abcd', '😀😀😀😀'], ['a', 'abcde', '', '   ', ' a '], []],
  ['word', ['ab', 'abcd', ' ab '], ['a', 'AB', 'abcde', 'a b', ''], []],
  ['pair', ['a b', ' a b '], ['ab', 'a b c'], []],
  ['units', ['ab', '😀'], [], ['abc', '😀😀']],
  ['cased', ['ab', 'AB'], [], ['1']],
  ['mail', ['a@example.org', 'ö@example.org'], [], ['nobody']],
  ['link', ['example.org', ' http://example.org/a ', 'ö.org/{a}'], ['no link', 'a.org/<b>', ''], ['nolink']],
  ['token', ['6f1f1d3c-3c5a-4a0c-9a63-7f5f0f8f2c11'], ['x'], []],
  ['size', ['s', 'l'], ['m', 'Small'], []],
  ['step', [1, 3], [0, 4], []],
  ['rank', [2, 9], [1, 10], []],
  ['price', [0.5, 3], [0, -1], []],
  ['tags', [['a'], ['a', 'b']], [[], ['a', 'b', 'c']], []],
  ['sizes', [['s'], ['s', 'l'], []], [['m'], ['s', 'm']], []],
  ['words', [['ab', 'abc'], []], [['a'], ['ab', 'abcd']], []],
  ['settings', [{}, { a: [1] }], [[], 'a', 1, true, null], []],
  ['extra', [{}, null], [[], 'a'], []],
  ['rows', [[], [{ a: 1 }]], [{}, 'a', 1, null], []],
  ['chosen', [[], ['s', 'l']], [['m'], ['s', 's', 's'], 's', null], []],
  ['mixed', [['s'], 's', []], [['m'], [null]], ['m', 1]],
  ['scalar', ['a', 1], ['b', 2, {}, null], []],
  ['day', ['2022-10-02'], [null, 5, '2022-13-02'], []],
  ['said', ['a', ''], [1, {}, [], null], []],
  ['known', [1], [null], []],
  ['filled', ['a'], ['', null], []],
  ['maybe', ['ab', null], ['a'], []],
  ['grouped', ['123456789'], [], ['1']],
  ['some', ['', 'a'], [], []],
  ['place', [{ city: 'ab' }, {}], [{ city: 'a' }, { city: 'abcdef' }], []],
  ['free', [{ city: 'a' }, { city: 'abcdef' }], [], []],
])('%s is described as it is judged', async (name, ...[taken, refused, beyond]) => {
  const answerTo = async (value: unknown): Promise<[unknown, boolean, number]> => [
    value,
    fits({ [name]: value }),
    (await started.client.patch('/rest/v1/vo/voitem/1/', { [name]: value })).status,
  ];
  expect(await Promise.all(taken.map(answerTo))).toEqual(taken.map((value) => [value, true, 200]));
  expect(await Promise.all(refused.map(answerTo))).toEqual(refused.map((value) => [value, false, 400]));
  expect(await Promise.all(beyond.map(answerTo))).toEqual(beyond.map((value) => [value, true, 400]));
});

test('OPTIONS has lengths, bounds, choices and formats', async () => {
  const { actions } = (await started.client.send('OPTIONS', '/rest/v1/vo/voitem/')).json as {
    actions: { POST: Record<string, { children?: object }> };
  };
  expect(actions.POST).toMatchObject({
    inherited: { min_length: 3, max_length: 20 },
    text: { min_length: 2, max_length: 4 },
    word: { max_length: 4 },
    mail: { type: 'email' },
    link: { type: 'url' },
    size: { type: 'choice', choices: [{ value: 's', display_name: 's' }, { value: 'l' }] },
    step: { type: 'choice', choices: [{ value: 1 }, { value: 2 }, { value: 3 }] },
    rank: { min_value: 2, max_value: 9 },
    place: { children: { city: { min_length: 2, max_length: 5 } } },
  });
  expect(actions.POST.grouped).not.toHaveProperty('min_length');
  expect(actions.POST.some).not.toHaveProperty('min_length');
  expect(actions.POST.free?.children).toMatchObject({ city: { max_length: 20 } });
});

@Restify({ app: 'vo', optional: ['filled'] })
@Entity('vo_defined')
class VoDefined {
  @PrimaryGeneratedColumn() id: number;
  @IsDefined() @Column('int', { nullable: true }) known: number | null;
  @IsDefined() @Column('int', { default: 5 }) counted: number;
  @IsDefined() @Column('int', { nullable: true, default: 5 }) filled: number | null;
  @IsOptional() @IsDefined() @Column('int', { nullable: true }) maybe: number | null;
  @Column('int', { nullable: true }) other: number | null;
}

test('what @IsDefined names is required, and a stored null blocks no change', async () => {
  const defined = await startApp({ entities: [VoDefined] });
  const { app, client, dataSource } = defined;
  const url = '/rest/v1/vo/vodefined/';
  try {
    const document: unknown = app
      .get(RestifyOpenApi)
      .extend({ openapi: '3.1.0', info: { title: 'v', version: '1' }, paths: {} });
    const { components } = document as {
      components: { schemas: Record<string, { title?: string; $ref?: string; required?: string[] }> };
    };
    const requiredTo = (purpose: string): unknown => {
      const body = Object.values(components.schemas).find(({ title }) => title?.endsWith(`, to ${purpose}`));
      return (components.schemas[body?.$ref?.split('/').at(-1) ?? ''] ?? body)?.required;
    };
    expect(requiredTo('create')).toEqual(['known', 'counted']);
    expect(requiredTo('replace')).toEqual(['known', 'counted']);
    expect(requiredTo('change')).toBeUndefined();
    const missing = { known: ['This field is required.'], counted: ['This field is required.'] };
    expect((await client.post(url, { filled: 1 })).json).toEqual(missing);
    expect((await client.post(url, { known: 1, counted: 2, filled: 3 })).status).toBe(201);
    expect((await client.put(`${url}1/`, {})).json).toEqual(missing);
    await dataSource.query('UPDATE vo_defined SET known = NULL');
    expect((await client.patch(`${url}1/`, { other: 2 })).json).toMatchObject({ known: null, other: 2 });
    expect((await client.patch(`${url}1/`, { known: null })).status).toBe(400);
    expect((await client.put(`${url}1/`, { known: 3, counted: 4 })).json).toMatchObject({
      known: 3,
      counted: 4,
    });
  } finally {
    await defined.close();
  }
});
