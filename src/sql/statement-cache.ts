import type { Json } from '../core/errors/rest-exception.js';
import type { Condition, Operand } from '../core/query/condition.js';
import { comparesSeveral, LOOKUP_RULES } from '../core/query/lookups.js';
import { columnKey } from '../core/schema/column.js';
import type { DataType } from '../core/schema/data-type.js';
import { compileComparison, compileSearchTerm } from './compile-where.js';
import type { ComparisonScope } from './compile-where.js';
import type { Dialect } from './dialects/dialect.js';
import type { Statement, StatementLabel } from './statement.js';

/** SQL whose last parameters are the values of its conditions. */
interface CachedStatement {
  readonly sql: string;
  readonly constants: readonly unknown[];
  readonly repeats: Statement['repeats'];
  readonly label: StatementLabel | undefined;
}

/** Stands for a value of a position while a statement is compiled, to find out which of its parameters have that value. */
class PositionMarker {
  constructor(readonly index: number) {}
}

/** SQL with the values of a position among its parameters; the others are those of a `CachedStatement`, in order. */
interface PositionedStatement extends CachedStatement {
  /** For each parameter that repeats none the index of its value in the position; undefined for the others. */
  readonly slots: readonly (number | undefined)[];
}

/**
 * The maximum number of statements per cache, for those that are worth preparing and for the others separately: filters can be
 * combined in an unbounded number of ways.
 */
const MAX_STATEMENTS = 200;

/** The same for a resource with fields selected by a client, of which there may be many. */
const MAX_CLIENT_SELECTED_STATEMENTS = 20;

/** The parameters of a write: the written values, and the conditions. */
export interface WriteParameters {
  readonly written: readonly unknown[];
  readonly conditions: readonly Condition[];
}

const NO_VALUES: readonly unknown[] = [];

/** The values of the conditions of a statement, in the order in which they are bound. */
class ComparedValues implements ComparisonScope {
  readonly values: unknown[] = [];
  /** False if one plan for all values could be much slower than a plan for each. */
  isPreparable = true;

  constructor(readonly dialect: Dialect) {}

  add(value: Json, type: DataType): void {
    this.values.push(this.dialect.encode(value, type));
  }

  // The following compile a comparison to SQL that has `?` for each value, and names the column as cache keys do.
  operand(operand: Operand): string {
    return operandKey(operand);
  }

  bind(value: Json, type: DataType): string {
    this.values.push(value === null ? null : this.dialect.encode(value, type));
    return this.dialect.parameter('?', type);
  }

  bindText(text: string): string {
    this.values.push(text);
    return '?';
  }
}

/** Statements that are prepared, and others. */
interface ByPreparation<Cached> {
  readonly prepared: Map<string, Cached | undefined>;
  readonly others: Map<string, Cached | undefined>;
}

/**
 * A cache of compiled statements by the structure of their conditions: statements that differ in compared values alone are
 * compiled once. The first statement of each structure determines whether it can be cached.
 */
export class StatementCache {
  private readonly statements: ByPreparation<CachedStatement> = { prepared: new Map(), others: new Map() };
  private readonly positioned: ByPreparation<PositionedStatement> = {
    prepared: new Map(),
    others: new Map(),
  };

  constructor(
    private readonly dialect: Dialect,
    private readonly isClientSelected = false,
  ) {}

  /**
   * Returns the cached statement with new values, or compiles it. `kind` distinguishes statements with the same conditions.
   * `compile` must bind the values of the conditions last.
   */
  of(kind: string, conditions: readonly Condition[], compile: () => Statement): Statement {
    const compared = new ComparedValues(this.dialect);
    const key = this.statementKey(kind, conditions, compared);
    const { values } = compared;
    const cached = statementsFor(compared, this.statements).get(key);
    if (!cached) return this.add(key, compile(), { written: NO_VALUES, compared });
    const parameters = cached.constants.length === 0 ? values : [...cached.constants, ...values];
    return this.reuse(cached, parameters, compared);
  }

  /**
   * As `of`, for rows after or before a position, whose values may be bound anywhere. `compile` is given the position or
   * markers, and must bind each non-null value unchanged.
   */
  ofPosition(
    kind: string,
    {
      conditions,
      position,
    }: { readonly conditions: readonly Condition[]; readonly position: readonly unknown[] },
    compile: (position: readonly unknown[]) => Statement,
  ): Statement {
    const compared = new ComparedValues(this.dialect);
    const nulls = position.map((value) => (value === null ? '0' : '1')).join('');
    const key = this.statementKey(`${kind} ${nulls}`, conditions, compared);
    const { values } = compared;
    const known = statementsFor(compared, this.positioned);
    if (!known.has(key) && known.size < this.capacity) {
      const markers = position.map((value, index) => (value === null ? null : new PositionMarker(index)));
      known.set(key, templateOf(compile(markers), values));
    }
    const cached = known.get(key);
    if (!cached) return compile(position);
    const others = cached.constants.length === 0 ? values : [...cached.constants, ...values];
    let next = 0;
    const parameters = cached.slots.map((slot) => (slot === undefined ? others[next++] : position[slot]));
    return this.reuse(cached, parameters, compared);
  }

  /** The same for an INSERT or UPDATE. `compile` must bind the written values first. */
  ofWrite(kind: string, { written, conditions }: WriteParameters, compile: () => Statement): Statement {
    const compared = new ComparedValues(this.dialect);
    const key = this.statementKey(kind, conditions, compared);
    const cached = statementsFor(compared, this.statements).get(key);
    if (!cached) return this.add(key, compile(), { written, compared });
    return this.reuse(cached, [...written, ...cached.constants, ...compared.values], compared);
  }

  private get capacity(): number {
    return this.isClientSelected ? MAX_CLIENT_SELECTED_STATEMENTS : MAX_STATEMENTS;
  }

  private reuse(
    { sql, label, repeats }: CachedStatement,
    values: readonly unknown[],
    { isPreparable }: Pick<ComparedValues, 'isPreparable'>,
  ): Statement {
    const parameters = repeats ? addRepeats(values, repeats) : values;
    return { sql, parameters, label, reusable: isPreparable, isClientSelected: this.isClientSelected };
  }

  /** Adds a statement that was compiled for the first time, if its parameters are in the required order. */
  private add(
    key: string,
    statement: Statement,
    { written, compared }: { readonly written: readonly unknown[]; readonly compared: ComparedValues },
  ): Statement {
    const { isClientSelected } = this;
    const known = statementsFor(compared, this.statements);
    if (known.size >= this.capacity || known.has(key)) return statement;
    const { sql, label, repeats } = statement;
    const constants = constantsOf(firstParameters(statement), { written, values: compared.values });
    known.set(key, constants && { sql, constants, label, repeats });
    return { ...statement, reusable: constants !== undefined && compared.isPreparable, isClientSelected };
  }

  /** The cache key of a statement. Adds the compared values to `compared`. */
  private statementKey(kind: string, conditions: readonly Condition[], compared: ComparedValues): string {
    let key = kind;
    for (const condition of conditions) key += ` ${this.conditionKey(condition, compared)}`;
    return key;
  }

  private conditionKey(condition: Condition, compared: ComparedValues): string {
    switch (condition.kind) {
      case 'always':
        return '1';
      case 'never':
        return '0';
      case 'and':
      case 'or':
        return `(${this.statementKey(condition.kind, condition.conditions, compared)})`;
      case 'not':
        return `(not ${this.conditionKey(condition.condition, compared)})`;
      case 'related':
        return this.relatedKey(condition, compared);
      case 'compare':
        return this.comparisonKey(condition, compared);
      case 'term':
        compared.isPreparable = false;
        if (!condition.operand.document) return compileSearchTerm(condition, compared);
        if (condition.term === '') return '(no document)';
        compared.values.push(condition.term);
        return '(document)';
      default:
        return condition satisfies never;
    }
  }

  private relatedKey(
    { joinPath, relation, condition, through }: Extract<Condition, { kind: 'related' }>,
    compared: ComparedValues,
  ): string {
    const junction = through ? this.conditionKey(through, compared) : '';
    const target = this.conditionKey(condition, compared);
    return `(${pathKey(joinPath)}${relation.name} has ${target} through ${junction})`;
  }

  private comparisonKey(
    comparison: Extract<Condition, { kind: 'compare' }>,
    compared: ComparedValues,
  ): string {
    const { operand, lookup, value, asKey } = comparison;
    const { type } = operand.column;
    // Both compile to IS NULL or the like, without a value.
    if (value === null || lookup === 'isnull') return compileComparison(comparison, compared);
    const values = comparesSeveral(lookup) ? (value as readonly Json[]) : [value];
    if (!LOOKUP_RULES[lookup].bindsValues || !this.dialect.isReusable(type) || values.includes(null)) {
      compared.isPreparable = false;
      return compileComparison(comparison, compared);
    }
    for (const each of values) compared.add(each, type);
    return `${operandKey(operand)} ${lookup}${values.length}${asKey ? ' as key' : ''}`;
  }
}

function statementsFor<Cached>(
  { isPreparable }: Pick<ComparedValues, 'isPreparable'>,
  { prepared, others }: ByPreparation<Cached>,
): Map<string, Cached | undefined> {
  return isPreparable ? prepared : others;
}

/** The parameters between the written values and those of the conditions; undefined if the parameters have another order. */
function constantsOf(
  parameters: readonly unknown[],
  { written, values }: { readonly written: readonly unknown[]; readonly values: readonly unknown[] },
): readonly unknown[] | undefined {
  const constants = parameters.slice(written.length, parameters.length - values.length);
  const expected = [...written, ...constants, ...values];
  return expected.every((value, index) => parameters[index] === value) ? constants : undefined;
}

function templateOf(statement: Statement, values: readonly unknown[]): PositionedStatement | undefined {
  const { sql, label, repeats } = statement;
  const parameters = firstParameters(statement);
  const others = parameters.filter((value) => !(value instanceof PositionMarker));
  const constants = constantsOf(others, { written: NO_VALUES, values });
  const slots = parameters.map((value) => (value instanceof PositionMarker ? value.index : undefined));
  return constants && { sql, constants, label, repeats, slots };
}

/** The parameters that repeat none. */
function firstParameters({ parameters, repeats }: Statement): readonly unknown[] {
  return repeats ? parameters.filter((_, position) => !repeats.has(position)) : parameters;
}

function addRepeats(values: readonly unknown[], repeats: ReadonlyMap<number, number>): readonly unknown[] {
  const parameters: unknown[] = [];
  let next = 0;
  while (parameters.length < values.length + repeats.size) {
    const repeated = repeats.get(parameters.length);
    parameters.push(repeated === undefined ? values[next++] : parameters[repeated]);
  }
  return parameters;
}

function operandKey({ joinPath, column }: Operand): string {
  const key = JSON.stringify(columnKey(column));
  return joinPath.length === 0 ? key : `${pathKey(joinPath)}${key}`;
}

function pathKey(joinPath: Operand['joinPath']): string {
  return joinPath.map(({ name }) => `${name}/`).join('');
}
