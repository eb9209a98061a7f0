import type { Json } from '../core/errors/rest-exception.js';
import type { Condition, Operand } from '../core/query/condition.js';
import type { Lookup } from '../core/query/lookups.js';
import type { Dialect } from './dialects/dialect.js';
import type { Statement } from './statement.js';

/** SQL whose last parameters are the values of its conditions. */
interface CachedStatement {
  readonly sql: string;
  readonly constants: readonly unknown[];
}

/** Stands for a value of a position while a statement is compiled, to find out which of its parameters have that value. */
class PositionMarker {
  constructor(readonly index: number) {}
}

/** SQL with the values of a position among its parameters; the others are those of a `CachedStatement`, in order. */
interface PositionedStatement extends CachedStatement {
  /** For each parameter the index of its value in the position; undefined for the others. */
  readonly slots: readonly (number | undefined)[];
}

/** The maximum number of statements per cache: filters can be combined in an unbounded number of ways. */
const MAX_STATEMENTS = 200;

/** The same for a resource with fields selected by a client, of which there may be many. */
const MAX_CLIENT_SELECTED_STATEMENTS = 20;

/** The parameters of a write: the written values, and the conditions. */
export interface WriteParameters {
  readonly written: readonly unknown[];
  readonly conditions: readonly Condition[];
}

const NO_VALUES: readonly unknown[] = [];

/**
 * A cache of compiled statements by the structure of their conditions: statements that differ in compared values alone are
 * compiled once. The first statement of each structure determines whether it can be cached.
 */
export class StatementCache {
  private readonly statements = new Map<string, CachedStatement | undefined>();
  private readonly positioned = new Map<string, PositionedStatement | undefined>();

  constructor(
    private readonly dialect: Dialect,
    private readonly isClientSelected = false,
  ) {}

  /**
   * Returns the cached statement with new values, or compiles it. `kind` distinguishes statements with the same conditions.
   * `compile` must bind the values of the conditions last.
   */
  of(kind: string, conditions: readonly Condition[], compile: () => Statement): Statement {
    const values: unknown[] = [];
    const key = this.statementKey(kind, conditions, values);
    if (key === undefined) return compile();
    const cached = this.statements.get(key);
    if (!cached) return this.add(key, compile(), { written: NO_VALUES, values });
    return this.reuse(cached.sql, cached.constants.length === 0 ? values : [...cached.constants, ...values]);
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
    const values: unknown[] = [];
    const nulls = position.map((value) => (value === null ? '0' : '1')).join('');
    const key = this.statementKey(`${kind} ${nulls}`, conditions, values);
    if (key === undefined) return compile(position);
    if (!this.positioned.has(key) && this.positioned.size < this.capacity)
      this.positioned.set(key, templateOf(compile(markersOf(position)), values));
    const cached = this.positioned.get(key);
    if (!cached) return compile(position);
    const others = cached.constants.length === 0 ? values : [...cached.constants, ...values];
    let next = 0;
    return this.reuse(
      cached.sql,
      cached.slots.map((slot) => (slot === undefined ? others[next++] : position[slot])),
    );
  }

  /** The same for an INSERT or UPDATE. `compile` must bind the written values first. */
  ofWrite(kind: string, { written, conditions }: WriteParameters, compile: () => Statement): Statement {
    const values: unknown[] = [];
    const key = this.statementKey(kind, conditions, values);
    if (key === undefined) return compile();
    const cached = this.statements.get(key);
    if (!cached) return this.add(key, compile(), { written, values });
    return this.reuse(cached.sql, [...written, ...cached.constants, ...values]);
  }

  private get capacity(): number {
    return this.isClientSelected ? MAX_CLIENT_SELECTED_STATEMENTS : MAX_STATEMENTS;
  }

  private reuse(sql: string, parameters: readonly unknown[]): Statement {
    return { sql, parameters, reusable: true, isClientSelected: this.isClientSelected };
  }

  /** Adds a statement that was compiled for the first time, if its parameters are in the required order. */
  private add(
    key: string,
    statement: Statement,
    { written, values }: { readonly written: readonly unknown[]; readonly values: readonly unknown[] },
  ): Statement {
    const { isClientSelected } = this;
    if (this.statements.size >= this.capacity || this.statements.has(key)) return statement;
    const constants = constantsOf(statement.parameters, { written, values });
    this.statements.set(key, constants && { sql: statement.sql, constants });
    return { ...statement, reusable: constants !== undefined, isClientSelected };
  }

  /** The cache key of a statement; undefined if the SQL may depend on a value. Appends the compared values to `values`. */
  private statementKey(
    kind: string,
    conditions: readonly Condition[],
    values: unknown[],
  ): string | undefined {
    let key = kind;
    for (const condition of conditions) {
      const text = this.conditionKey(condition, values);
      if (text === undefined) return undefined;
      key += ` ${text}`;
    }
    return key;
  }

  /** The cache key of a condition; undefined if the SQL may depend on a value. */
  private conditionKey(condition: Condition, values: unknown[]): string | undefined {
    switch (condition.kind) {
      case 'always':
        return '1';
      case 'never':
        return '0';
      case 'and':
      case 'or': {
        const text = this.statementKey(condition.kind, condition.conditions, values);
        return text === undefined ? undefined : `(${text})`;
      }
      case 'not': {
        const inner = this.conditionKey(condition.condition, values);
        return inner === undefined ? undefined : `(not ${inner})`;
      }
      case 'related':
        return this.relatedKey(condition, values);
      case 'compare':
        return this.comparisonKey(condition, values);
      case 'term':
        return undefined;
      default:
        return condition satisfies never;
    }
  }

  private relatedKey(
    { hops, relation, condition, through }: Extract<Condition, { kind: 'related' }>,
    values: unknown[],
  ): string | undefined {
    const junction = through ? this.conditionKey(through, values) : '';
    const target = this.conditionKey(condition, values);
    if (junction === undefined || target === undefined) return undefined;
    return `(${pathKey(hops)}${relation.name} has ${target} through ${junction})`;
  }

  private comparisonKey(
    { operand, lookup, value }: Extract<Condition, { kind: 'compare' }>,
    values: unknown[],
  ): string | undefined {
    const { type } = operand.column;
    if (value === null || !REUSABLE_LOOKUPS.has(lookup) || !this.dialect.isReusable(type)) return undefined;
    const compared = lookup === 'in' ? (value as readonly Json[]) : [value];
    if (compared.includes(null)) return undefined;
    for (const each of compared) values.push(this.dialect.encode(each, type));
    return `${operandKey(operand)} ${lookup}${compared.length}`;
  }
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

function markersOf(position: readonly unknown[]): readonly unknown[] {
  return position.map((value, index) => (value === null ? null : new PositionMarker(index)));
}

function templateOf(
  { sql, parameters }: Statement,
  values: readonly unknown[],
): PositionedStatement | undefined {
  const others = parameters.filter((value) => !(value instanceof PositionMarker));
  const constants = constantsOf(others, { written: NO_VALUES, values });
  const slots = parameters.map((value) => (value instanceof PositionMarker ? value.index : undefined));
  return constants && { sql, constants, slots };
}

/** Lookups that bind each value once and unchanged. */
const REUSABLE_LOOKUPS: ReadonlySet<Lookup> = new Set(['exact', 'ne', 'gt', 'gte', 'lt', 'lte', 'in']);

function operandKey({ hops, column }: Operand): string {
  return hops.length === 0 ? JSON.stringify(column.id) : `${pathKey(hops)}${JSON.stringify(column.id)}`;
}

function pathKey(hops: Operand['hops']): string {
  return hops.map(({ name }) => `${name}/`).join('');
}
