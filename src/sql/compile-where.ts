import type { Json } from '../core/errors/rest-exception.js';
import { ALWAYS, mapComparisons, touches } from '../core/query/condition.js';
import type { Condition, Operand, TermMatch } from '../core/query/condition.js';
import type { Lookup, TextLookup } from '../core/query/lookups.js';
import type { DataType } from '../core/schema/data-type.js';
import type { Column, JsonValue } from '../core/schema/column.js';
import type { ColumnPair } from '../core/schema/relation.js';
import type { OrderTerm, ResourceSchema } from '../core/schema/resource-schema.js';
import { keyOrder } from './compile-order.js';
import type { TextPart } from './dialects/text-syntax.js';
import type { AliasedTable, Scope } from './query-scope.js';

/** A condition that every row meets. */
export const TRUE = '1 = 1';
const FALSE = '1 = 0';

const UNTRIMMED_TEXT: DataType = { kind: 'string', trim: false };

type Comparison = Extract<Condition, { kind: 'compare' }>;
type SearchTerm = Extract<Condition, { kind: 'term' }>;

/** What a comparison of one column needs of a scope. */
export type ComparisonScope = Pick<Scope, 'dialect' | 'operand' | 'bind' | 'bindText'>;

type RelatedRows = Extract<Condition, { kind: 'related' }>;

/**
 * Compiles a condition to SQL. Values become parameters; everything else is an identifier of the compiled model. `isNegated`:
 * within a negation, where no row has to match.
 */
export function compileCondition(condition: Condition, scope: Scope, isNegated = false): string {
  switch (condition.kind) {
    case 'always':
      return TRUE;
    case 'never':
      return FALSE;
    case 'and':
    case 'or': {
      const { conditions, kind } = condition;
      if (conditions.length === 0) return kind === 'and' ? TRUE : FALSE;
      const compiled = conditions.map((each) => compileCondition(each, scope, isNegated));
      return `(${compiled.join(kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'not': {
      // Two-valued logic: a comparison with NULL does not match, so its negation does. EXISTS is never NULL.
      const compiled = compileCondition(condition.condition, scope, true);
      return condition.condition.kind === 'related' ? `NOT ${compiled}` : `(${compiled}) IS NOT TRUE`;
    }
    case 'compare':
      return [...scope.holders(condition.operand), compileComparison(condition, scope)].join(' AND ');
    case 'term':
      return condition.operand.document
        ? scope.matchDocument(condition.operand.document, condition.term)
        : compileSearchTerm(condition, scope);
    case 'related':
      return compileRelated(condition, scope, isNegated);
    default:
      return condition satisfies never;
  }
}

/**
 * The WHERE clause: the condition, and the conditions that exclude soft-deleted rows and those of other entities in the same
 * table. `order` is the ORDER BY of the statement, empty if there is none, undefined if it is not known.
 */
export function compileWhere(condition: Condition, scope: Scope, order?: readonly OrderTerm[]): string {
  for (const { operand } of order ?? []) if (operand.document) scope.joinDocument(operand.document);
  const compiled = compileCondition(condition, scope);
  for (const { joinPath } of necessaryComparisons(condition)) scope.requireJoins(joinPath);
  const selected =
    order && isForeignKeyAlone(condition, order, scope.resource)
      ? scope.dialect.selective(compiled)
      : compiled;
  return [selected, ...scope.rows()].join(' AND ');
}

/**
 * Whether the rows are the children of one parent, unordered or ordered by the primary key: the index of the foreign key is
 * then right for every value, whatever the statistics (docs/decisions/0028).
 */
function isForeignKeyAlone(
  condition: Condition,
  order: readonly OrderTerm[],
  resource: ResourceSchema,
): boolean {
  if (condition.kind !== 'compare' || condition.lookup !== 'exact' || condition.operand.joinPath.length > 0)
    return false;
  const { column } = condition.operand;
  return (
    condition.value !== null &&
    (order.length === 0 || keyOrder(order, resource.key)?.operand.column.type.kind === 'integer') &&
    isForeignKey(column, resource)
  );
}

/** The conditions that each matching row fulfils, and that no NULL value and no missing row fulfils. */
function necessaryComparisons(condition: Condition): readonly NecessaryComparison[] {
  switch (condition.kind) {
    case 'and':
      return condition.conditions.flatMap(necessaryComparisons);
    case 'related':
      return [{ joinPath: condition.joinPath }];
    case 'compare':
      return matchesNull(condition) ? [] : [{ joinPath: condition.operand.joinPath, compared: condition }];
    default:
      return [];
  }
}

interface NecessaryComparison {
  readonly joinPath: Operand['joinPath'];
  readonly compared?: Comparison;
}

/** Whether a column without a value matches. */
function matchesNull({ lookup, value }: Comparison): boolean {
  switch (lookup) {
    case 'exact':
      return value === null;
    case 'ne':
      return value !== null;
    case 'isnull':
      return value !== false;
    default:
      return false;
  }
}

/** Compiles a comparison. Its SQL may depend on the value. */
export function compileComparison(comparison: Comparison, scope: ComparisonScope): string {
  const { operand, lookup, value, asKey = false } = comparison;
  const { type, json } = operand.column;
  const inDocument = json && compileInDocument(comparison, json, scope);
  if (inDocument !== undefined) return inDocument;
  const column = scope.operand(operand);
  // No row is greater or less than NULL, or contains it.
  if (value === null)
    return lookup === 'exact' || lookup === 'ne'
      ? scope.dialect.testNull(column, type, lookup === 'exact')
      : FALSE;
  if (lookup === 'in' && (value as readonly Json[]).length === 0) return FALSE;
  const deviating = scope.dialect.compare({ column, lookup, value, type, asKey }, (each, as) =>
    scope.bind(each, as),
  );
  if (deviating !== undefined) return deviating;
  if (hasOperator(lookup)) return `${column} ${OPERATORS[lookup]} ${scope.bind(value, type)}`;
  switch (lookup) {
    case 'ne':
      return `(${column} <> ${scope.bind(value, type)} OR ${column} IS NULL)`;
    case 'in':
      return compileIn(comparison, value as readonly Json[], scope);
    case 'range': {
      const [low, high] = value as readonly [Json, Json];
      const least = compileComparison({ kind: 'compare', operand, lookup: 'gte', value: low }, scope);
      const most = compileComparison({ kind: 'compare', operand, lookup: 'lte', value: high }, scope);
      return `(${least} AND ${most})`;
    }
    case 'isnull':
      return scope.dialect.testNull(column, type, value === true);
    default:
      return scope.dialect.matchText(
        { column, type },
        { text: String(value), ...TEXT_MATCHES[lookup] },
        (each) => scope.bindText(each),
      );
  }
}

/**
 * The comparisons of a value in a document that are not those of its expression, which is NULL for values of other types: these are
 * not null, and differ from nothing.
 */
function compileInDocument(
  { operand, lookup, value }: Comparison,
  { source, keys, as }: JsonValue,
  scope: ComparisonScope,
): string | undefined {
  const { joinPath } = operand;
  const testNull = (isNull: boolean): string => {
    const column: Column = { ...operand.column, json: { source, keys, as: 'any' } };
    return `${scope.operand({ joinPath, column })} IS${isNull ? '' : ' NOT'} NULL`;
  };
  if (lookup === 'isnull') return testNull(value === true);
  if (value === null) return lookup === 'exact' || lookup === 'ne' ? testNull(lookup === 'exact') : FALSE;
  if (lookup === 'ne') {
    const isEqual = compileComparison({ kind: 'compare', operand, lookup: 'exact', value }, scope);
    return `(${isEqual} IS FALSE OR ${testNull(true)})`;
  }
  if (as !== 'string[]') return undefined;
  const bind = (text: string): string => scope.bindText(text);
  return scope.dialect.jsonPaths.contains(
    scope.operand({ joinPath, column: source }),
    { source, keys, as },
    { text: String(value), bind },
  );
}

const OPERATORS = { exact: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function hasOperator(lookup: Lookup): lookup is keyof typeof OPERATORS {
  return Object.hasOwn(OPERATORS, lookup);
}

/** Each value follows the rules of `exact`, which some dialects compile in their own way. */
function compileIn(comparison: Comparison, values: readonly Json[], scope: ComparisonScope): string {
  const { operand, asKey = false } = comparison;
  const { type } = operand.column;
  const column = scope.operand(operand);
  const isStandard = values.every(
    (value) => scope.dialect.compare({ column, lookup: 'exact', value, type, asKey }, () => '') === undefined,
  );
  if (isStandard) return `${column} IN (${values.map((value) => scope.bind(value, type)).join(', ')})`;
  const found = values.map((value) => compileComparison({ ...comparison, lookup: 'exact', value }, scope));
  return `(${found.join(' OR ')})`;
}

const TEXT_MATCHES: Readonly<Record<TextLookup, Pick<TextPart, 'where' | 'insensitive'>>> = {
  iexact: { where: 'whole', insensitive: true },
  contains: { where: 'anywhere', insensitive: false },
  icontains: { where: 'anywhere', insensitive: true },
  startswith: { where: 'start', insensitive: false },
  istartswith: { where: 'start', insensitive: true },
  endswith: { where: 'end', insensitive: false },
  iendswith: { where: 'end', insensitive: true },
};

const TERM_PARTS: Readonly<Record<Exclude<TermMatch, 'regex' | 'fulltext'>, TextPart['where']>> = {
  contains: 'anywhere',
  startswith: 'start',
  exact: 'whole',
};

/** Compiles the match of one search term in one column. */
export function compileSearchTerm({ operand, match, term }: SearchTerm, scope: ComparisonScope): string {
  const searched = { column: scope.operand(operand), type: operand.column.type };
  if (match === 'regex' || match === 'fulltext')
    return scope.dialect.matchSpecial(searched, match, scope.bind(term, UNTRIMMED_TEXT));
  return scope.dialect.matchText(
    searched,
    { text: term, where: TERM_PARTS[match], insensitive: true },
    (each) => scope.bindText(each),
  );
}

/** The rows of a subquery: the last table of a relation, with the junction in front of it. */
interface Subquery {
  readonly from: string;
  readonly conditions: readonly string[];
  /** How the row that contains the subquery is joined with its first table. */
  readonly on: readonly ColumnPair[];
  readonly first: Scope;
}

/**
 * A subquery instead of a join, so that a row is listed once, however many related rows match: EXISTS, or the keys of the rows
 * with related ones, where these are few and the planner would not start at them.
 */
function compileRelated(related: RelatedRows, scope: Scope, isNegated: boolean): string {
  const source = scope.join(related.joinPath);
  const resource = related.joinPath.at(-1)?.target ?? scope.resource;
  const isListed =
    !isNegated && !scope.dialect.startsAtExists && scope.readsTable && selectsFewRelated(related, resource);
  const subquery = relatedRows(related, scope, isListed ? ' JOIN ' : ' CROSS JOIN ');
  if (isListed) return compileKeyList(subquery, { ...source, resource }, scope);
  const { from, on, first, conditions } = subquery;
  return `EXISTS (SELECT 1 FROM ${from} WHERE ${[scope.pairs(on, source, first), ...conditions].join(' AND ')})`;
}

/** A many-to-many relation needs two steps: from the parent to the junction table, and from there to the target. */
function relatedRows(
  { relation, condition, through = ALWAYS }: RelatedRows,
  scope: Scope,
  joinedBy: string,
): Subquery {
  const target = scope.within(relation.target);
  if (relation.kind !== 'many-to-many') {
    const conditions = [compileWhere(condition, target)];
    return { from: target.from(), conditions, on: relation.on, first: target };
  }
  const { resource, parent, other } = relation.through;
  const junction = scope.within(resource);
  const referring = scope.isGuaranteed(junction, other, target) ? onReferring(condition, other) : undefined;
  if (referring)
    return {
      from: junction.from(),
      conditions: [compileWhere(through, junction), compileCondition(referring, junction)],
      on: parent,
      first: junction,
    };
  const conditions = [
    scope.pairs(other, junction, target),
    compileWhere(through, junction),
    compileWhere(condition, target),
  ];
  return { from: `${junction.from()}${joinedBy}${target.from()}`, conditions, on: parent, first: junction };
}

/** A condition on referenced columns as one on the columns that refer to them; undefined if it is about others. */
function onReferring(condition: Condition, on: readonly ColumnPair[]): Condition | undefined {
  const referring = new Map(
    on
      .filter(({ localColumn, referencedColumn }) => isInteger(localColumn) && isInteger(referencedColumn))
      // With the type of the referenced one, values are bound as before.
      .map(
        ({ localColumn, referencedColumn }) =>
          [referencedColumn.id, { ...localColumn, type: referencedColumn.type }] as const,
      ),
  );
  if (touches(condition, (id) => !referring.has(id))) return undefined;
  return mapComparisons(condition, (each) => {
    const column = each.kind === 'related' ? undefined : referring.get(each.operand.column.id);
    return each.kind === 'related' || !column ? each : { ...each, operand: { joinPath: [], column } };
  });
}

/**
 * Compares the row's own key with those of the rows that have related ones. These keys are read from the row's own table, because
 * the columns of a relation may have different collations, and IN compares by another one than `=`; integers have none.
 */
function compileKeyList(
  { from, conditions, on, first }: Subquery,
  source: AliasedTable & { readonly resource: ResourceSchema },
  scope: Scope,
): string {
  const [pair, ...others] = on;
  if (pair && others.length === 0 && isInteger(pair.localColumn) && isInteger(pair.referencedColumn))
    return `${source.table.column(source.alias, pair.localColumn)} IN (SELECT ${first.own(pair.referencedColumn)} FROM ${from} WHERE ${[...first.holders({ joinPath: [], column: pair.referencedColumn }), ...conditions].join(' AND ')})`;
  const own = scope.within(source.resource);
  const keyOf = ({ table, alias }: AliasedTable): string =>
    source.resource.identity.map((column) => table.column(alias, column)).join(', ');
  return `(${keyOf(source)}) IN (SELECT ${keyOf(own)} FROM ${from} JOIN ${own.from()} WHERE ${[scope.pairs(on, own, first), ...conditions].join(' AND ')})`;
}

function isInteger({ type }: Column): boolean {
  return type.kind === 'integer' || type.kind === 'bigint';
}

/** Whether the keys of the rows that have such related rows are a short list. */
function selectsFewRelated(
  { relation, condition, through = ALWAYS }: RelatedRows,
  { identity }: ResourceSchema,
): boolean {
  const isSelective =
    selectsFew(condition, relation.target) ||
    (relation.kind === 'many-to-many' && selectsFew(through, relation.through.resource));
  const on = relation.kind === 'many-to-many' ? relation.through.parent : relation.on;
  return isSelective && on.every(({ localColumn }) => identity.some(({ id }) => id === localColumn.id));
}

/** Whether each matching row has one of the given values in a key, a foreign key, or a column with an index. */
function selectsFew(condition: Condition, resource: ResourceSchema): boolean {
  return necessaryComparisons(condition).some(
    ({ joinPath, compared }) =>
      joinPath.length === 0 &&
      compared !== undefined &&
      (compared.lookup === 'exact' || compared.lookup === 'in') &&
      (compared.operand.column.indexed === true || isForeignKey(compared.operand.column, resource)),
  );
}

export function isForeignKey(column: Column, { relations }: ResourceSchema): boolean {
  return [...relations.values()].some(
    (relation) =>
      relation.kind === 'to-one' && relation.on.some(({ localColumn }) => localColumn.id === column.id),
  );
}
