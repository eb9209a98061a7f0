// @tags db http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { WORLD } from '../support/world.js';
import type { JsonColumn } from './json-path-models.js';

const TYPES: Readonly<Record<string, readonly JsonColumn[]>> = {
  sqlite: WORLD.name === 'nest-12' ? ['simple-json', 'json', 'jsonb'] : ['simple-json', 'json'],
  postgres: ['jsonb'],
  mariadb: ['simple-json', 'json'],
};
const ROWS = 250;
const QUERIES = 220;

/** Numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const TEXTS = [
  '',
  ' ',
  'a',
  'A',
  'a ',
  'ab',
  'b',
  'é',
  'e\u0301',
  'ß',
  'ss',
  '日本',
  '😀',
  '\uffff',
  '"',
  '\\',
  "'",
  '%',
  '_',
  'a_b',
  'a%b',
  'null',
  'true',
  '1',
  '{}',
  '[]',
  '$',
  'a\tb',
  'a\n',
  'x'.repeat(300),
  '--',
  '"a"',
  '\\u0061',
  '?',
  '$1',
  ':a',
];
const NUMBERS = [
  '0',
  '-0',
  '1',
  '1.0',
  '1e0',
  '10E-1',
  '-1',
  '2',
  '0.1',
  '0.30000000000000004',
  '1.1',
  '9007199254740991',
  '-9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '9007199254740991.3',
  '9007199254740991.5',
  '12345678901234567890',
  '-9223372036854775808',
  '9223372036854775807',
  '1e22',
  '1e300',
  '1e-300',
  '1e400',
  '-1e400',
  '1e-400',
  '123456789.123456789',
];
const BROKEN = ['{bad', '', ' ', '{"s":"a"} x', "{'s':'a'}", '{"s":"a",}', '{"s":a}', '{"n":01}', 'NaN'];
/** Path, key by key, and the type. */
const PATHS = {
  s: { keys: ['s'], as: 'string' },
  n: { keys: ['n'], as: 'number' },
  b: { keys: ['b'], as: 'boolean' },
  l: { keys: ['l'], as: 'string[]' },
  'o.s': { keys: ['o', 's'], as: 'string' },
  'o.n': { keys: ['o', 'n'], as: 'number' },
  "größe's x": { keys: ["größe's x"], as: 'string' },
  $: { keys: ['$'], as: 'number' },
  '0': { keys: ['0'], as: 'string' },
} as const;
type Path = keyof typeof PATHS;
const LOOKUPS = {
  string: [
    'exact',
    'ne',
    'in',
    'isnull',
    'gt',
    'gte',
    'lt',
    'lte',
    'range',
    'contains',
    'startswith',
    'endswith',
  ],
  number: ['exact', 'ne', 'in', 'isnull', 'gt', 'gte', 'lt', 'lte', 'range'],
  boolean: ['exact', 'ne', 'in', 'isnull'],
  'string[]': ['contains', 'isnull'],
} as const;

class Documents {
  constructor(private readonly random: () => number) {}

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.random() * items.length)] as Item;
  }

  /** JSON of a text, with some of its characters escaped. */
  private text(): string {
    const text = this.pick(TEXTS);
    if (this.random() < 0.7) return JSON.stringify(text);
    return `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
  }

  number(): string {
    if (this.random() < 0.7) return this.pick(NUMBERS);
    return String((this.random() - 0.5) * 10 ** Math.floor(this.random() * 30 - 12));
  }

  value(depth = 0): string {
    const kind = this.random();
    if (kind < 0.35) return this.text();
    if (kind < 0.6) return this.number();
    if (kind < 0.7) return this.pick(['true', 'false']);
    if (kind < 0.78 || depth > 3) return 'null';
    const items = Array.from({ length: Math.floor(this.random() * 4) }, () => this.value(depth + 1));
    if (kind < 0.9) return `[${items.join(', ')}]`;
    return this.members(['s', 'n', 'x', 'a"b', 'a.b', 'a\\'], depth + 1);
  }

  private list(): string {
    return `[${Array.from({ length: Math.floor(this.random() * 4) }, () => (this.random() < 0.7 ? this.text() : this.value(2))).join(',')}]`;
  }

  private members(names: readonly string[], depth: number): string {
    const members = names
      .filter(() => this.random() < 0.7)
      .map((name) => `${JSON.stringify(name)} : ${this.valueOf(name, depth)}`);
    return `{${members.join(',')}}`;
  }

  /** Mostly of the type that filters of the name have. */
  private valueOf(name: string, depth: number): string {
    if (this.random() < 0.35) return this.value(depth);
    if (name === 'n' || name === '$') return this.number();
    if (name === 'b') return this.pick(['true', 'false']);
    if (name === 'l') return this.list();
    return name === 'o' ? this.members(['s', 'n'], depth + 1) : this.text();
  }

  document(takesBroken: boolean): string | null {
    const kind = this.random();
    if (kind < 0.04) return null;
    if (kind < 0.1) return this.value();
    if (kind < 0.16 && takesBroken) return this.pick(BROKEN);
    return this.members(['s', 'n', 'b', 'l', 'o', "größe's x", '$', '0', 's"', 'o.s', 'S'], 0);
  }
}

function parse(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function valueAt(document: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    document,
  );
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'number':
      return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
    case 'string[]':
      return Array.isArray(value);
    default:
      return typeof value === type;
  }
}

/** Below 0, 0 or above 0: texts by their bytes. */
function order(one: unknown, other: unknown): number {
  if (typeof one === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other as string));
  return (one as number) - (other as number);
}

type Test = (value: never, compared: never) => boolean;
const TESTS: Readonly<Record<string, Test>> = {
  exact: (value, compared) => value === compared,
  ne: (value, compared) => value !== compared,
  in: (value, compared: readonly unknown[]) => compared.includes(value),
  gt: (value, compared) => order(value, compared) > 0,
  gte: (value, compared) => order(value, compared) >= 0,
  lt: (value, compared) => order(value, compared) < 0,
  lte: (value, compared) => order(value, compared) <= 0,
  range: (value, [low, high]: readonly unknown[]) => order(value, low) >= 0 && order(value, high) <= 0,
  contains: (value: string | readonly unknown[], compared: string) => value.includes(compared),
  startswith: (value: string, compared: string) => value.startsWith(compared),
  endswith: (value: string, compared: string) => value.endsWith(compared),
};

/** Whether a document matches. */
function matches(document: unknown, path: Path, lookup: string, compared: unknown): boolean {
  const { keys, as } = PATHS[path];
  const value = valueAt(document, keys);
  const isNull = value === undefined || value === null;
  if (lookup === 'isnull') return isNull === compared;
  if (isNull) return lookup === 'ne';
  return isOf(as, value) && (TESTS[lookup]?.(value as never, compared as never) ?? false);
}

function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

onEachDatabase('answers of filters by values in JSON', (database) => {
  describe.each(TYPES[database.name] ?? [])('in columns of the type %s', (type) => {
    @Restify({
      app: 'docs',
      shape: true,
      filterFields: Object.fromEntries(
        Object.entries(PATHS).map(([path, { as }]) => [`meta.${path}`, { type: as, lookups: LOOKUPS[as] }]),
      ),
      orderingFields: ['meta.s', 'meta.n', 'meta.o.n', 'id'],
      orderingNulls: true,
      filterGroups: true,
    })
    @Entity('jp_answer')
    class Answer {
      @PrimaryColumn({ type: 'int' }) id: number;
      @Column({ type, nullable: true }) meta: Record<string, unknown> | null;
    }

    const takesBroken = type === 'simple-json' || (database.name === 'sqlite' && type === 'json');
    const random = randomOf(47);
    const documents = new Documents(random);
    const rows = Array.from({ length: ROWS }, (_, index) => ({
      id: index + 1,
      text: documents.document(takesBroken),
    }));
    const parsed = rows.map(({ id, text }) => ({ id, document: parse(text) }));
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ entities: [Answer], database, compare: false });
      const value = { sqlite: type === 'jsonb' ? 'jsonb(?)' : '?', postgres: '$2::jsonb', mariadb: '?' }[
        database.name
      ];
      for (const { id, text } of rows)
        await started.dataSource.query(
          `INSERT INTO jp_answer (id, meta) VALUES (${database.name === 'postgres' ? '$1' : '?'}, ${value})`,
          [id, text],
        );
    });
    afterAll(() => started.close());

    const ids = async (query: string): Promise<unknown> => {
      const { status, json, text } = await started.client.get(`/rest/v1/docs/answer/?fields=id&${query}`);
      return status === 200 ? (json as { id: number }[]).map(({ id }) => id) : [status, text];
    };

    const compared = (as: string, lookup: string): { text: string; value: unknown } => {
      if (lookup === 'isnull' || as === 'boolean') {
        const value = random() < 0.5;
        return lookup === 'in'
          ? { text: `${value},${value}`, value: [value] }
          : { text: String(value), value };
      }
      const one = (): { text: string; value: unknown } => {
        if (as !== 'number') {
          const value = documents.pick(TEXTS);
          return { text: value, value };
        }
        const text = documents.number();
        const value = Number(text);
        return Number.isFinite(value) ? { text, value } : { text: '1', value: 1 };
      };
      if (lookup !== 'in' && lookup !== 'range') return one();
      const several = [one(), one()];
      return {
        text: several.map(({ text }) => quote(text)).join(','),
        value: several.map(({ value }) => value),
      };
    };

    test('equal those of a computation from the documents', async () => {
      const differences: unknown[] = [];
      let found = 0;
      for (let each = 0; each < QUERIES; each++) {
        const path = documents.pick(Object.keys(PATHS) as Path[]);
        const { as } = PATHS[path];
        const lookup = documents.pick<string>(LOOKUPS[as]);
        const { text, value } = compared(as, lookup);
        if (text === '') continue;
        const name = `meta__${path.replaceAll('.', '__')}__${lookup}`;
        const isNegated = random() < 0.25;
        const query = isNegated
          ? `filter=${encodeURIComponent(`not(${name}=${quote(text)})`)}`
          : `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;
        const expected = parsed
          .filter(({ document }) => matches(document, path, lookup, value) !== isNegated)
          .map(({ id }) => id);
        found += expected.length;
        const answered = await ids(`${query}&ordering=id`);
        if (JSON.stringify(answered) !== JSON.stringify(expected))
          differences.push({ query, answered, expected });
      }
      expect(differences).toEqual([]);
      expect(found).toBeGreaterThan(QUERIES);
    });

    test.each(['s', 'n', 'o.n'] as const)('order by %s', async (path) => {
      const { keys, as } = PATHS[path];
      const valueOf = ({ document }: { document: unknown }): unknown => {
        const value = valueAt(document, keys);
        return isOf(as, value) ? value : undefined;
      };
      const some = parsed.filter((each) => valueOf(each) !== undefined);
      const none = parsed.filter((each) => valueOf(each) === undefined);
      // Equal in the first 255 characters is equal.
      some.sort((one, other) => order(valueOf(one), valueOf(other)) || one.id - other.id);
      const name = `meta__${path.replace('.', '__')}`;
      expect(await ids(`ordering=${name}.nullslast,id`)).toEqual([...some, ...none].map(({ id }) => id));
    });
  });
});
