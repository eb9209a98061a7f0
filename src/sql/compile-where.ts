import type { Json } from '../core/errors/rest-exception.js';
import { ALWAYS } from '../core/query/condition.js';
import type { Condition, Operand, TermMatch } from '../core/query/condition.js';
import type { Lookup, TextLookup } from '../core/query/lookups.js';
import type { DataType } from '../core/schema/data-type.js';
import type { OrderTerm, ResourceSchema } from '../core/schema/resource-schema.js';
import { keyOrder } from './compile-order.js';
import type { TextPart } from './dialects/text-syntax.js';
import type { Scope } from './query-scope.js';

const TRUE = '1 = 1';
const FALSE = '1 = 0';

const UNTRIMMED_TEXT: DataType = { kind: 'string', trim: false };

type Comparison = Extract<Condition, { kind: 'compare' }>;
type SearchTerm = Extract<Condition, { kind: 'term' }>;

/** What a comparison of one column needs of a scope. */
export type ComparisonScope = Pick<Scope, 'dialect' | 'operand' | 'bind' | 'bindText'>;

/** Compiles a condition to SQL. Values become parameters; everything else is an identifier of the compiled model. */
export function compileCondition(condition: Condition, scope: Scope): string {
  switch (condition.kind) {
    case 'always':
      return TRUE;
    case 'never':
      return FALSE;
    case 'and':
    case 'or':
      return compileSeveral(condition.conditions, condition.kind, scope);
    case 'not':
      // Two-valued logic: a comparison with NULL does not match, so its negation does.
      return `(${compileCondition(condition.condition, scope)}) IS NOT TRUE`;
    case 'compare':
      return compileComparison(condition, scope);
    case 'term':
      return compileSearchTerm(condition, scope);
    case 'related':
      return compileRelated(condition, scope);
    default:
      return condition satisfies never;
  }
}

/**
 * The WHERE clause: the condition, and the conditions that exclude soft-deleted rows and those of other entities in the same
 * table. `order` is the ORDER BY of the statement, empty if there is none, undefined if it is not known.
 */
export function compileWhere(condition: Condition, scope: Scope, order?: readonly OrderTerm[]): string {
  const compiled = compileCondition(condition, scope);
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
  { relations, key }: ResourceSchema,
): boolean {
  if (condition.kind !== 'compare' || condition.lookup !== 'exact' || condition.operand.hops.length > 0)
    return false;
  const { column } = condition.operand;
  return (
    condition.value !== null &&
    (order.length === 0 || keyOrder(order, key)?.operand.column.type.kind === 'integer') &&
    [...relations.values()].some(
      (relation) => relation.kind === 'to-one' && relation.on.some(({ near }) => near.id === column.id),
    )
  );
}

function compileSeveral(conditions: readonly Condition[], kind: 'and' | 'or', scope: Scope): string {
  if (conditions.length === 0) return kind === 'and' ? TRUE : FALSE;
  return `(${conditions.map((each) => compileCondition(each, scope)).join(kind === 'and' ? ' AND ' : ' OR ')})`;
}

/** Compiles a comparison. Its SQL may depend on the value. */
export function compileComparison(comparison: Comparison, scope: ComparisonScope): string {
  const { operand, lookup, value, asKey = false } = comparison;
  const { type } = operand.column;
  const column = scope.operand(operand);
  if (value === null) return compileNull(comparison, scope);
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
    case 'range':
      return compileRange(operand, value as readonly [Json, Json], scope);
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

const OPERATORS = { exact: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function hasOperator(lookup: Lookup): lookup is keyof typeof OPERATORS {
  return Object.hasOwn(OPERATORS, lookup);
}

/** A comparison with NULL: no row is greater or less than NULL, or contains it. */
function compileNull({ operand, lookup }: Comparison, scope: ComparisonScope): string {
  return lookup === 'exact' || lookup === 'ne'
    ? scope.dialect.testNull(scope.operand(operand), operand.column.type, lookup === 'exact')
    : FALSE;
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

function compileRange(operand: Operand, [low, high]: readonly [Json, Json], scope: ComparisonScope): string {
  const least = compileComparison({ kind: 'compare', operand, lookup: 'gte', value: low }, scope);
  const most = compileComparison({ kind: 'compare', operand, lookup: 'lte', value: high }, scope);
  return `(${least} AND ${most})`;
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

/** An EXISTS subquery instead of a join, so that a row is listed once, however many related rows match. */
function compileRelated(
  { hops, relation, condition, through = ALWAYS }: Extract<Condition, { kind: 'related' }>,
  scope: Scope,
): string {
  const near = scope.join(hops);
  const far = scope.within(relation.target);
  if (relation.kind !== 'many-to-many') {
    const inner = compileWhere(condition, far);
    return `EXISTS (SELECT 1 FROM ${far.from()} WHERE ${far.pairs(relation.on, near, far)} AND ${inner})`;
  }
  // A many-to-many relation needs two steps: from the parent to the junction table, and from there to the target.
  const { resource, parent, other } = relation.through;
  const junction = scope.within(resource);
  const conditions = [
    scope.pairs(parent, near, junction),
    scope.pairs(other, junction, far),
    compileWhere(through, junction),
    compileWhere(condition, far),
  ];
  return `EXISTS (SELECT 1 FROM ${junction.from()} CROSS JOIN ${far.from()} WHERE ${conditions.join(' AND ')})`;
}
