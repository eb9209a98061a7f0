import { describe, expect, test } from '@jest/globals';
import type { Json } from '../core/errors/rest-exception.js';
import { conjunction, disjunction, negation } from '../core/query/condition.js';
import type { Condition } from '../core/query/condition.js';
import { LOOKUPS } from '../core/query/lookups.js';
import type { Lookup } from '../core/query/lookups.js';
import type { Column } from '../core/schema/column.js';
import type { DataType } from '../core/schema/data-type.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import { compileWhere } from './compile-where.js';
import { mysql } from './dialects/mysql.js';
import { postgres } from './dialects/postgres.js';
import { sqlite } from './dialects/sqlite.js';
import { Scope } from './query-scope.js';
import { StatementCache } from './statement-cache.js';
import type { Statement } from './statement.js';
import type { TableNames, TableRegistry } from './table-names.js';
import { UTC } from './dialects/local-time.js';

const DIALECTS = [
  ['SQLite', sqlite],
  ['PostgreSQL', postgres],
  ['MySQL', mysql(UTC)],
] as const;

const TABLE: TableNames = {
  path: '"thing"',
  ownAlias: '"thing"',
  column: (alias, { id }) => `${alias}."${id}"`,
  joinedColumn: (alias, { id }) => `${alias}."${id}"`,
  name: ({ id }) => `"${id}"`,
  holders: () => [],
  rows: () => [],
  rowsEvenDeleted: () => [],
};
const TABLES: TableRegistry = { of: () => TABLE, named: () => TABLE, isGuaranteed: () => false };
const THING = { id: 'thing', relations: new Map(), key: { columns: [] } } as unknown as ResourceSchema;

function columnOf(type: DataType): Column {
  return { id: `of ${type.kind}`, path: type.kind, type, nullable: true };
}

/** Types with values in their canonical form, of which some need other SQL than others. */
const TYPES: readonly (readonly [DataType, readonly Json[]])[] = [
  [{ kind: 'integer', min: -10, max: 10 }, [1, 2, 0]],
  [{ kind: 'bigint', min: -10n, max: 10n }, ['1', '2']],
  [{ kind: 'decimal', precision: 5, scale: 2 }, ['1.00', '2.50']],
  [{ kind: 'float' }, [0.5, 2]],
  [{ kind: 'boolean' }, [true, false]],
  [{ kind: 'string', trim: true }, ['a', '', '50%_!', 'a']],
  [{ kind: 'string', trim: true, loose: true }, ['a', '', 'b ']],
  [{ kind: 'date' }, ['2026-01-01', '2026-01-02']],
  [{ kind: 'time', digits: 3 }, ['10:00:00.000', '11:00:00.000']],
  [
    { kind: 'datetime', digits: 3, zoned: false },
    ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.500Z', '2026-01-02T00:00:00.000Z'],
  ],
  [{ kind: 'uuid' }, ['6b0f5a2e-52a7-4b8d-9b43-0d9a3a4f5a01', '6b0f5a2e-52a7-4b8d-9b43-0d9a3a4f5a02']],
  [{ kind: 'enum', values: ['a', 'b', 3] }, ['a', 'b', 3]],
];

/** The values of a lookup: of two and of all values for lists, of both ends for a range. */
function valuesFor(lookup: Lookup, values: readonly Json[]): readonly Json[] {
  if (lookup === 'isnull') return [true, false];
  if (lookup === 'in') return [values.slice(0, 2), values, values.slice(-2), [], [null]];
  if (lookup === 'range') return values.map((value) => [value, values.at(-1) ?? null]);
  return [...values, null];
}

const comparisons: readonly Condition[] = TYPES.flatMap(([type, values]) => {
  const operand = { joinPath: [], column: columnOf(type) };
  return LOOKUPS.flatMap((lookup) =>
    valuesFor(lookup, values).map((value): Condition => ({ kind: 'compare', operand, lookup, value })),
  );
});

describe.each(DIALECTS)('a cache of statements for %s', (_, dialect) => {
  const compile = (condition: Condition): Statement => {
    const scope = Scope.begin(dialect, TABLES, THING);
    const rows = compileWhere(condition, scope);
    const counted = compileWhere(condition, scope);
    return {
      sql: `SELECT * FROM ${scope.from()} WHERE ${rows} AND (SELECT ${counted})`,
      parameters: scope.parameters,
    };
  };

  /** Statements are the same from a cache that already has others of the same structure. */
  const compareAll = (conditions: readonly Condition[], cache = new StatementCache(dialect)): void => {
    for (const condition of [...conditions, ...[...conditions].reverse()]) {
      const { sql, parameters } = cache.of('list', [condition, condition], () => compile(condition));
      expect({ condition, sql, parameters }).toEqual({ condition, ...compile(condition) });
    }
  };

  test('returns what it would compile, for each lookup and type', () => {
    // A cache for each, because a cache does not grow without limit.
    for (const condition of comparisons)
      if (condition.kind === 'compare')
        compareAll(
          comparisons.filter(
            (each) =>
              each.kind === 'compare' &&
              each.lookup === condition.lookup &&
              each.operand === condition.operand,
          ),
        );
  });

  test('also for all of them in one cache, and combined', () => {
    compareAll(comparisons);
    compareAll(
      comparisons.flatMap((each, index) => {
        const next = comparisons[(index + 1) % comparisons.length] ?? each;
        return [conjunction([each, next]), disjunction([next, each]), negation(each)];
      }),
    );
  });

  test('compiles patterns once, and does not let them be prepared', () => {
    const operand = { joinPath: [], column: columnOf({ kind: 'string', trim: true }) };
    const cache = new StatementCache(dialect);
    let compiled = 0;
    const find = (condition: Condition): Statement =>
      cache.of('list', [condition, condition], () => {
        compiled++;
        return compile(condition);
      });
    const compiledOnce: number[] = [];
    for (const text of ['a', 'b%', 'c_']) {
      for (const lookup of ['icontains', 'startswith', 'endswith', 'iexact'] as const)
        expect(find({ kind: 'compare', operand, lookup, value: text }).reusable).toBe(false);
      expect(find({ kind: 'term', operand, match: 'contains', term: text }).reusable).toBe(false);
      compiledOnce.push(compiled);
    }
    // Lookups whose SQL is the same share a statement.
    expect(compiledOnce[0]).toBeLessThanOrEqual(5);
    expect(new Set(compiledOnce).size).toBe(1);
  });

  test('prepares comparisons without a value', () => {
    const operand = { joinPath: [], column: columnOf({ kind: 'integer', min: 0, max: 9 }) };
    const cache = new StatementCache(dialect);
    for (const value of [true, false])
      for (let times = 0; times < 2; times++) {
        const condition: Condition = { kind: 'compare', operand, lookup: 'isnull', value };
        const statement = cache.of('list', [condition, condition], () => compile(condition));
        expect(statement).toMatchObject({ ...compile(condition), reusable: true });
      }
  });

  test('keeps patterns from using up the places of other statements', () => {
    const cache = new StatementCache(dialect);
    const text = { joinPath: [], column: columnOf({ kind: 'string', trim: true }) };
    const number = { joinPath: [], column: columnOf({ kind: 'integer', min: 0, max: 9 }) };
    const compileEqual = (): Statement => ({ sql: 'SELECT ?', parameters: ['%a%'] });
    for (let kind = 0; kind < 1000; kind++)
      cache.of(
        String(kind),
        [{ kind: 'compare', operand: text, lookup: 'icontains', value: 'a' }],
        compileEqual,
      );
    let compiled = 0;
    for (const value of [1, 2, 3])
      cache.of('list', [{ kind: 'compare', operand: number, lookup: 'gt', value }], () => {
        compiled++;
        return { sql: 'SELECT ?', parameters: [value] };
      });
    expect(compiled).toBe(1);
  });
});
