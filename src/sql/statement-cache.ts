import type { Json } from '../core/errors/rest-exception.js';
import type { Condition, Operand } from '../core/query/condition.js';
import type { Lookup } from '../core/query/row-filter.js';
import type { Dialect } from './dialects/dialect.js';
import type { Statement } from './statement.js';

/** SQL whose last parameters are the values of its conditions. */
interface CachedStatement {
  readonly sql: string;
  readonly constants: readonly unknown[];
}

/** The maximum number of statements per cache: filters can be combined in an unbounded number of ways. */
const MAX_STATEMENTS = 200;

/** The same for a resource with fields selected by a client, of which there may be many. */
const MAX_CHOSEN_STATEMENTS = 20;

/**
 * A cache of compiled statements by the structure of their conditions: statements that differ in compared values alone are
 * compiled once. The first statement of each structure determines whether it can be cached.
 */
export class StatementCache {
  private readonly statements = new Map<string, CachedStatement | undefined>();

  constructor(
    private readonly dialect: Dialect,
    private readonly chosen = false,
  ) {}

  /**
   * Returns the cached statement with new values, or compiles it. `kind` distinguishes statements with the same conditions.
   * `write` must bind the `leading` values first, and the values of the conditions last.
   */
  of(
    kind: string,
    conditions: readonly Condition[],
    write: () => Statement,
    leading: readonly unknown[] = [],
  ): Statement {
    const values: unknown[] = [];
    let key = kind;
    for (const condition of conditions) {
      const text = this.conditionKey(condition, values);
      if (text === undefined) return write();
      key += ` ${text}`;
    }
    const shape = this.statements.get(key);
    if (shape)
      return {
        sql: shape.sql,
        parameters:
          leading.length + shape.constants.length === 0
            ? values
            : [...leading, ...shape.constants, ...values],
        reusable: true,
        chosen: this.chosen,
      };
    const statement = write();
    if (
      this.statements.size >= (this.chosen ? MAX_CHOSEN_STATEMENTS : MAX_STATEMENTS) ||
      this.statements.has(key)
    )
      return statement;
    const constants = statement.parameters.slice(leading.length, statement.parameters.length - values.length);
    const fits = [...leading, ...constants, ...values].every(
      (value, index) => statement.parameters[index] === value,
    );
    this.statements.set(key, fits ? { sql: statement.sql, constants } : undefined);
    return { ...statement, reusable: fits, chosen: this.chosen };
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
        let text: string = condition.kind;
        for (const each of condition.conditions) {
          const inner = this.conditionKey(each, values);
          if (inner === undefined) return undefined;
          text += ` ${inner}`;
        }
        return `(${text})`;
      }
      case 'not': {
        const inner = this.conditionKey(condition.condition, values);
        return inner === undefined ? undefined : `(not ${inner})`;
      }
      case 'related': {
        const through = condition.through ? this.conditionKey(condition.through, values) : '';
        const inner = this.conditionKey(condition.condition, values);
        return through === undefined || inner === undefined
          ? undefined
          : `(${pathOf(condition.hops)}${condition.relation.name} has ${inner} through ${through})`;
      }
      case 'compare':
        return this.comparisonKey(condition, values);
      case 'term':
        return undefined;
      default:
        return condition satisfies never;
    }
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
    return `${nameOf(operand)} ${lookup}${compared.length}`;
  }
}

/** Lookups that bind each value once and unchanged. */
const REUSABLE_LOOKUPS: ReadonlySet<Lookup> = new Set(['exact', 'ne', 'gt', 'gte', 'lt', 'lte', 'in']);

function nameOf({ hops, column }: Operand): string {
  return hops.length === 0 ? JSON.stringify(column.id) : `${pathOf(hops)}${JSON.stringify(column.id)}`;
}

function pathOf(hops: Operand['hops']): string {
  return hops.map(({ name }) => `${name}/`).join('');
}
