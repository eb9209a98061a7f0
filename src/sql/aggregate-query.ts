import type { Json } from '../core/errors/rest-exception.js';
import type { AggregatedGroup, AggregatePlan, HavingLookup, HavingTerm } from '../core/query/aggregate.js';
import { InexactResult } from '../core/query/aggregate.js';
import type { DataType } from '../core/schema/data-type.js';
import { keyPart, measurePart } from './aggregate-parts.js';
import type { Part } from './aggregate-parts.js';
import { compileComparison, compileWhere, TRUE } from './compile-where.js';
import { INEXACT } from './dialects/aggregate-syntax.js';
import type { Dialect } from './dialects/dialect.js';
import { Scope } from './query-scope.js';
import type { Statement } from './statement.js';
import type { TableRegistry } from './table-names.js';

/** A statement, and how its records are read. */
export interface AggregateStatement extends Statement {
  /** @throws InexactResult */
  readonly read: (record: readonly unknown[]) => AggregatedGroup;
  /** Where a record has the number of all groups, and that of the rows of the smallest one. */
  readonly totals: { readonly count: number | undefined; readonly least: number | undefined };
}

/** The number of rows of each group, where small ones are left out. */
const SIZE = 'n';
const GROUPS = 'restify_groups';

/**
 * Groups the rows of a list in a derived table, so that keys and sums are compared and ordered as they are, and read once for each
 * group. The rows are those of the list: its condition is compiled as for the list.
 */
export function aggregateStatement(
  plan: AggregatePlan,
  dialect: Dialect,
  tables: TableRegistry,
): AggregateStatement {
  const scope = Scope.begin(dialect, tables, plan.list.resource);
  const keys = plan.groups.map((group, index) => keyPart(group, index, scope));
  const measures = plan.measures.map((measure, index) => measurePart(measure, index, scope));
  const grouped = groupedRows(plan, [...keys, ...measures], scope);
  const found = foundGroups(plan, { measures, table: groupsTable(grouped, plan) }, scope);
  const parts = [...keys, ...measures];
  const outer = [
    ...parts.flatMap((part) => part.outer),
    ...(plan.counts ? ['count(*) OVER ()'] : []),
    ...(plan.minGroup === undefined ? [] : ['smallest']),
  ];
  const order = orderOf(plan, { keys, measures }, dialect);
  const selected = outer.map((sql, index) => `${sql} AS c${index}`).join(', ');
  const offset = plan.offset === 0 ? '' : ` OFFSET ${plan.offset}`;
  const sql = `SELECT ${selected} FROM ${found}${order} LIMIT ${plan.limit + 1}${offset}`;
  const width = parts.reduce((sum, part) => sum + part.outer.length, 0);
  return {
    ...scope.complete(sql),
    read: reader(keys, measures),
    totals: {
      count: plan.counts ? width : undefined,
      least: plan.minGroup === undefined ? undefined : width + (plan.counts ? 1 : 0),
    },
  };
}

/** Counts the groups, as `c0`, with the number of rows of the smallest one, as `c1`: for a page without groups. */
export function groupTotals(plan: AggregatePlan, dialect: Dialect, tables: TableRegistry): Statement {
  const scope = Scope.begin(dialect, tables, plan.list.resource);
  const keys = plan.groups.map((group, index) => keyPart(group, index, scope));
  const measures = plan.measures.map((measure, index) => measurePart(measure, index, scope));
  const grouped = groupedRows(plan, [...keys, ...measures], scope);
  const found = foundGroups(plan, { measures, table: GROUPS }, scope);
  return scope.complete(
    `WITH ${GROUPS} AS (${grouped}) SELECT (SELECT count(*) FROM ${found}) AS c0, ${plan.minGroup === undefined ? 'NULL' : `(SELECT MIN(${SIZE}) FROM ${GROUPS})`} AS c1`,
  );
}

interface Parts {
  readonly keys: readonly Part[];
  readonly measures: readonly Part[];
}

function groupedRows(
  { list, groups, minGroup }: AggregatePlan,
  parts: readonly Part[],
  scope: Scope,
): string {
  const selected = [
    ...parts.flatMap(({ inner, names }) => inner.map((sql, index) => `${sql} AS ${names[index] ?? ''}`)),
    ...(minGroup === undefined ? [] : [`count(*) AS ${SIZE}`]),
  ];
  const condition = compileWhere(list.where, scope, []);
  const where = condition === TRUE ? '' : ` WHERE ${condition}`;
  const width = parts.slice(0, groups.length).reduce((sum, part) => sum + part.inner.length, 0);
  const places = Array.from({ length: width }, (_, index) => index + 1);
  return `SELECT ${selected.join(', ')} FROM ${scope.from()}${where}${width === 0 ? '' : ` GROUP BY ${places.join(', ')}`}`;
}

/** The groups that the plan selects, from a table of all. What is not exact is found by every condition on measures. */
function foundGroups(
  { having, minGroup }: AggregatePlan,
  { measures, table }: Pick<Parts, 'measures'> & { readonly table: string },
  scope: Scope,
): string {
  const conditions = minGroup === undefined ? [] : [`${SIZE} >= ${minGroup}`];
  if (having.length > 0) {
    const compared = having.map((term) => compileHaving(term, measures, scope));
    conditions.push(`(${[compared.join(' AND '), ...inexactParts(measures, scope)].join(' OR ')})`);
  }
  return conditions.length === 0 ? table : `${table} WHERE ${conditions.join(' AND ')}`;
}

/** The groups with the number of rows of the smallest one, if it is needed. */
function groupsTable(grouped: string, { minGroup }: AggregatePlan): string {
  const groups = `(${grouped}) ${GROUPS}`;
  return minGroup === undefined
    ? groups
    : `(SELECT *, MIN(${SIZE}) OVER () AS smallest FROM ${groups}) all_groups`;
}

function inexactParts(measures: readonly Part[], { dialect }: Scope): readonly string[] {
  return measures.flatMap(
    ({ names: [name = ''], type, isSum }) =>
      (isSum && type && dialect.aggregates.isInexact(name, type)) || [],
  );
}

const OPERATORS: Readonly<Record<HavingLookup, string>> = {
  exact: '=',
  ne: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
};

function compileHaving(
  { measure, per, lookup, value }: HavingTerm,
  measures: readonly Part[],
  scope: Scope,
): string {
  const { aggregates } = scope.dialect;
  const part = measures[measure];
  const name = part?.names[0] ?? '';
  const operator = OPERATORS[lookup];
  const type = part?.type;
  const bind = (each: string, as: DataType): string =>
    as.kind === 'float'
      ? scope.bind(Number(each), as)
      : scope.bind(each, as.kind === 'decimal' ? DECIMAL : as);
  if (!type) return `${name} ${operator} ${bind(String(value), BIGINT)}`;
  if (part.isSum) {
    const compared = { sum: name, type: summedType(type), operator };
    const count = per === undefined ? undefined : measures[per]?.names[0];
    const holds =
      count === undefined
        ? aggregates.compareSum(compared, String(value), bind)
        : aggregates.compareAverage({ ...compared, count }, String(value), bind);
    // As in a list, null is different from every value.
    return lookup === 'ne' ? `(${holds} OR ${name} IS NULL)` : holds;
  }
  const column = { id: name, path: name, type, nullable: true };
  return compileComparison(
    { kind: 'compare', operand: { joinPath: [], column }, lookup, value },
    {
      dialect: scope.dialect,
      operand: () => name,
      bind: (each, as) => scope.bind(each, as),
      bindText: (text) => scope.bindText(text),
    },
  );
}

const BIGINT: DataType = { kind: 'bigint', min: 0n, max: 2n ** 63n - 1n };

const DECIMAL: DataType = { kind: 'decimal' };

/** The type by which a sum is compared: integers are decimals without places. */
function summedType(type: DataType): DataType {
  if (type.kind === 'float') return { kind: 'float' };
  return type.kind === 'decimal' ? type : { kind: 'decimal', scale: 0 };
}

/** Null is greater than every value. The keys make the order total. */
function orderOf({ order }: AggregatePlan, { keys, measures }: Parts, { nullsFirst }: Dialect): string {
  const rest = keys.map((_, index) => ({ by: 'group' as const, index, descending: false }));
  const named = new Set(order.filter(({ by }) => by === 'group').map(({ index }) => index));
  const terms = [...order, ...rest.filter(({ index }) => !named.has(index))].flatMap(
    ({ by, index, descending }) =>
      ((by === 'group' ? keys : measures)[index]?.order ?? []).flatMap(({ sql, isInverse }) => {
        const direction = descending !== isInverse ? ' DESC' : '';
        // Where it is the order of the database, it is that of its groups too.
        return [...(nullsFirst ? [`(${sql} IS NULL)${direction}`] : []), `${sql}${direction}`];
      }),
  );
  return terms.length === 0 ? '' : ` ORDER BY ${terms.join(', ')}`;
}

function reader(keys: readonly Part[], measures: readonly Part[]): AggregateStatement['read'] {
  let width = 0;
  const placed = (parts: readonly Part[]): readonly PlacedPart[] =>
    parts.map((part) => ({ part, at: (width += part.outer.length) - part.outer.length }));
  const [keyParts, measureParts] = [placed(keys), placed(measures)];
  return (record) => ({
    keys: keyParts.map(({ part, at }, index) => readPart(part, record, { at, group: index })),
    values: measureParts.map(({ part, at }) => readPart(part, record, { at })),
  });
}

/** A part with the place of its first column in a record. */
interface PlacedPart {
  readonly part: Part;
  readonly at: number;
}

function readPart(
  part: Part,
  record: readonly unknown[],
  { at, group }: { readonly at: number; readonly group?: number },
): Json {
  if (part.mayBeInexact && record[at] === INEXACT) throw new InexactResult(group);
  return part.read(record, at);
}
