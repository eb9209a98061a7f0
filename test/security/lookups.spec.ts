// @tags db
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { basic, Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { StatementLog } from '../faults/statement-log.js';
import { Choice, fillLookups, LOOKUP_MODELS } from '../features/lookup-models.js';

/** At the greatest limits that a model may have, over a relation to itself. */
@Restify({
  app: 'deep',
  filterFields: {
    id: ['in'],
    at: ['in'],
    name: ['in', 'exact', 'contains'],
    'parts.name': ['exact', 'in'],
    'whole.parts.name': ['exact'],
  },
  filterGroups: true,
  queryLimits: {
    values: 500,
    searchTerms: 200,
    groupTerms: 200,
    groupRelated: 20,
    groupDepth: 20,
    groupLength: 10_000,
  },
})
@Entity('deep_part')
class Part {
  @PrimaryColumn()
  id: number;

  @Column()
  name: string;

  @Column({ type: Date, nullable: true })
  at: Date | null;

  @ManyToOne(() => Part, (part) => part.parts, { nullable: true })
  whole: Relation<Part> | null;

  @OneToMany(() => Part, (part) => part.whole)
  parts: Relation<Part[]>;
}

const CHOICES = '/rest/v1/polls/choice/';
const QUESTIONS = '/rest/v1/polls/question/';
const SQL = [
  ') OR (1=1',
  "' OR '1'='1",
  '" OR "1"="1',
  '` OR `1`=`1',
  '; DROP TABLE lookup_choice',
  '--',
  '/**/',
  '\\',
  "\\' OR 1=1 -- ",
  '#',
  '$1',
  ':p',
  '?',
  '%',
  '_',
  '* FROM',
  'sleep(5)',
  '\u2019 OR \u2018',
  '\uFF07',
  '\u200B',
  '\n',
];
const HIDDEN = [
  'secret',
  'question__secret',
  'question__draft',
  'choices__secret',
  'question__choices__secret',
  'tags__price',
  'made',
  'open__gte',
  'votes__contains',
];
const RESERVED = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '__defineGetter__',
  'valueOf',
  'constructor__prototype',
  '__proto____gte',
  'and',
  'or',
  'not',
  '$or',
  'where',
  'relations',
  'cache',
];

onEachDatabase('filters under attack', (database) => {
  const log = new StatementLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: [...LOOKUP_MODELS, Part],
      database,
      dataSource: { logging: true, logger: log },
      restify: { authentication: [basic((name) => ({ name }))] },
    });
    await fillLookups(started.dataSource);
    await started.dataSource.manager.save(Part, [
      { id: 1, name: 'whole', at: new Date('2022-10-02T09:00:00Z') },
      { id: 2, name: 'part', whole: { id: 1 } },
    ]);
  });
  afterAll(() => started.close());
  beforeEach(() => {
    log.clear();
  });

  const get = (url: string, query: string): Promise<Answer> => started.client.get(`${url}?${query}`);
  /** The answer to a filter of a shown field that does not exist, whatever its name would disclose. */
  const noFilter = (name: string): unknown => ({
    [name]: [expect.stringMatching(/^There is no such filter\.(?!.*(secret|draft|price))/)],
  });
  const shown = async (url: string, name: string): Promise<boolean> => {
    const [first = '', rest] = name.split('__');
    const [row = {}] = (await get(url, '')).json as Record<string, unknown>[];
    return rest !== undefined && first !== '' && Object.hasOwn(row, first);
  };
  const ids = ({ status, json, text }: Answer): unknown =>
    status === 200 ? (json as { id: number }[]).map(({ id }) => id) : [status, text];
  const filter = (text: string): string => `filter=${encodeURIComponent(text)}`;
  const inQuotes = (text: string): string => `"${text.replace(/[\\"]/g, (each) => `\\${each}`)}"`;

  test('S1 SQL in a value is a value, in every lookup and in groups', async () => {
    for (const text of SQL) {
      const value = encodeURIComponent(`zz${text}`);
      for (const lookup of [
        '',
        '__iexact',
        '__in',
        '__contains',
        '__icontains',
        '__startswith',
        '__istartswith',
        '__endswith',
        '__iendswith',
        '__gt',
      ])
        expect([text, lookup, ids(await get(CHOICES, `text${lookup}=${value}`))]).toEqual([
          text,
          lookup,
          lookup === '__gt' ? expect.any(Array) : [],
        ]);
      expect(ids(await get(CHOICES, `text!=${value}`))).toEqual([1, 2, 3, 4, 5, 6]);
      expect(ids(await get(QUESTIONS, `choices__text=${value}&tags__word=${value}`))).toEqual([]);
      expect(
        ids(await get(CHOICES, filter(`or(text=${inQuotes(`zz${text}`)},named=${inQuotes(`zz${text}`)})`))),
      ).toEqual([]);
    }
    expect(log.failed).toEqual([]);
    expect(log.statements.filter((each) => each.includes('zz'))).toEqual([]);
    expect(await started.dataSource.manager.count(Choice)).toBe(6);
  });

  test('S1 SQL in a name is not a name', async () => {
    const plain = (await get(CHOICES, '')).text;
    log.clear();
    await get(CHOICES, '');
    const statements = [...log.statements];
    for (const text of SQL) {
      for (const name of [`votes${text}`, `question__${text}`, `${text}__gte`]) {
        log.clear();
        const answer = await get(CHOICES, `${encodeURIComponent(name)}=1`);
        if (name.startsWith('question__')) expect(answer.json).toEqual(noFilter(name));
        else expect(answer.text).toBe(plain);
        expect(log.statements).toEqual(answer.status === 200 ? statements : []);
        log.clear();
        const grouped = await get(CHOICES, filter(`or(${name}=1)`));
        expect([name, grouped.status, Object.keys(grouped.json as object)]).toEqual([name, 400, ['filter']]);
        expect(log.statements).toEqual([]);
      }
    }
  });

  test('S3 an order takes nothing but a name and a place for nulls', async () => {
    const plain = (await get(CHOICES, '')).text;
    for (const place of [
      '.nullsfirst;',
      '.nullsfirst--',
      '.nullslast nulls first',
      ' nulls last',
      '.nulls',
      '.last',
      '.nullslast)',
      '.NullsLast',
      '.nullslast\u200B',
    ]) {
      expect([place, (await get(CHOICES, `ordering=${encodeURIComponent(`votes${place}`)}`)).text]).toEqual([
        place,
        plain,
      ]);
    }
    for (const name of [
      'secret.nullslast',
      '-made.nullsfirst',
      'question__secret.nullslast',
      '__proto__.nullslast',
    ])
      expect((await get(CHOICES, `ordering=${name}`)).text).toBe(plain);
    expect(log.failed).toEqual([]);
  });

  test('S2 S15 a hidden field, a reserved name and no name at all answer alike, as parameters and in groups', async () => {
    for (const [url, known] of [
      [CHOICES, 'votes'],
      [QUESTIONS, 'choices__votes'],
      ['/rest/v1/polls/question/1/choices/', 'votes'],
      ['/rest/v1/polls/question/1/tags/', 'tag'],
    ] as const) {
      const plain = (await get(url, '')).text;
      const unknown = await get(url, filter(`or(${known}=1,zzzzz=deep)`));
      for (const name of [...HIDDEN, ...RESERVED]) {
        for (const parameter of [name, `${name}!`, `${name}__in`]) {
          const { status, json, text } = await get(url, `${parameter}=deep`);
          const isShown = await shown(url, parameter);
          expect([parameter, status]).toEqual([parameter, isShown ? 400 : 200]);
          expect(isShown ? json : text).toEqual(isShown ? noFilter(parameter) : plain);
        }
        const asked = await get(url, filter(`or(${known}=1,${name}=deep)`));
        expect([asked.status, asked.text.replace(`\\"${name}\\"`, '\\"zzzzz\\"')]).toEqual([
          400,
          unknown.text,
        ]);
      }
    }
    expect(({} as Record<string, unknown>)['deep']).toBeUndefined();
  });

  test('S5 brackets and lists for scalars mean nothing of their own, and repeated lists are one', async () => {
    const plain = (await get(CHOICES, '')).text;
    for (const query of [
      'votes[gte]=4',
      'votes[$gt]=4',
      'filter[or]=1',
      'votes[]=4',
      'filter.or=1',
      'votes%5Bgte%5D=4',
    ])
      expect([query, (await get(CHOICES, query)).text]).toEqual([query, plain]);
    expect(ids(await get(CHOICES, 'votes__in=1,2&votes__in=4'))).toEqual([1, 3, 6]);
    expect((await get(CHOICES, 'votes=1,2')).json).toEqual({ votes: ['Enter a number.'] });
    expect((await get(CHOICES, 'votes={"gte":4}')).status).toBe(400);
  });

  test('S17 NUL, lone surrogates, and numbers that are none are 400 in every place', async () => {
    for (const text of ['%00', '%ED%A0%80', '%', '%C3']) {
      for (const place of ['text__contains=a', 'votes!=1', 'filter=or(text=a', 'votes__near=', 'liked='])
        expect([text, place, (await get(CHOICES, place + text)).status]).toEqual([text, place, 400]);
    }
    for (const number of ['NaN', 'Infinity', '1e400', '0x10', '9'.repeat(1500), '1.5', '--1', '1%202']) {
      for (const name of ['votes__gte', 'votes__in', 'votes__near', 'around'])
        expect([name, number, (await get(CHOICES, `${name}=${number}`)).status]).toEqual([name, number, 400]);
      expect((await get(CHOICES, `filter=or(votes=${number})`)).status).toBe(400);
    }
    for (const number of ['9007199254740993', '-9223372036854775809']) {
      for (const query of [
        `votes__gt=${number}`,
        `votes__near=${number}`,
        `around=${number}`,
        filter(`not(votes=${number})`),
      ])
        expect([query, (await get(CHOICES, query)).status]).toEqual([query, 400]);
    }
    expect(log.failed).toEqual([]);
  });

  describe('S8 shapes', () => {
    const parts = (query: string): Promise<Answer> => get('/rest/v1/deep/part/', query);

    test('of groups that are deep, broken or long are refused or cheap', async () => {
      for (const text of [
        '('.repeat(5000),
        'or('.repeat(2000),
        'not('.repeat(2000),
        ')'.repeat(3000),
        `or(${','.repeat(3000)})`,
        `or(${'text="",'.repeat(30)}`,
        '"'.repeat(3000),
        `text="${'\\'.repeat(1500)}`,
        `or(${'='.repeat(1900)})`,
        `${'!'.repeat(1900)}=1`,
        ' '.repeat(1999),
        `or(${'a'.repeat(1900)}`,
      ]) {
        const answer = await started.client.get(
          `${CHOICES}?filter=${text.replaceAll('"', '%22').replaceAll(' ', '%20')}`,
        );
        expect([text.slice(0, 20), answer.status, Object.keys(answer.json as object)]).toEqual([
          text.slice(0, 20),
          400,
          ['filter'],
        ]);
      }
      expect(log.statements).toEqual([]);
    });

    test('at the greatest limits are statements that every database takes', async () => {
      const many = Array.from({ length: 500 }, (_, index) => `n${index}`).join(',');
      expect(ids(await parts(`name__in=whole,${many.split(',').slice(1).join(',')}`))).toEqual([1]);
      expect(ids(await parts(`parts__name__in=part,${many.split(',').slice(1).join(',')}`))).toEqual([1]);
      expect(
        ids(await parts(`id__in=${Array.from({ length: 500 }, (_, index) => index).join(',')}`)),
      ).toEqual([1, 2]);
      expect(
        ids(
          await parts(
            `at__in=${Array.from({ length: 500 }, (_, index) => new Date(Date.UTC(2022, 9, 2, 9, index)).toISOString().replace(':00.000', '')).join(',')}`,
          ),
        ),
      ).toEqual([1]);
      expect(ids(await parts(filter(`${'not('.repeat(20)}name=whole${')'.repeat(20)}`)))).toEqual([1]);
      expect(
        ids(
          await parts(
            filter(`or(${Array.from({ length: 20 }, (_, index) => `parts__name=p${index % 2}`).join(',')})`),
          ),
        ),
      ).toEqual([]);
      expect(
        ids(
          await parts(
            filter(
              `or(${Array.from({ length: 200 }, (_, index) => `name=${index === 7 ? 'part' : 'x'}`).join(',')})`,
            ),
          ),
        ),
      ).toEqual([2]);
      expect(ids(await parts(filter(`${'or(name=x,not('.repeat(10)}name=part${'))'.repeat(10)}`)))).toEqual([
        2,
      ]);
      expect(log.failed).toEqual([]);
    });

    test('of paths over a relation of a model to itself are those that are named', async () => {
      const plain = (await parts('')).text;
      expect(ids(await parts('whole__parts__name=part'))).toEqual([2]);
      for (const name of [
        'parts__parts__name',
        'whole__parts__parts__name',
        `${'parts__'.repeat(1000)}name`,
        'parts__whole__name',
        'parts',
        'parts__id',
      ])
        if (name === 'parts') expect((await parts(`${name}=part`)).text).toBe(plain);
        else expect([name, (await parts(`${name}=part`)).json]).toEqual([name, noFilter(name)]);
    });
  });
});
