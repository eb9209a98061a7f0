import type { Json } from '../core/errors/rest-exception.js';
import type { Condition, Operand } from '../core/query/condition.js';
import type { Lookup } from '../core/query/row-filter.js';
import type { Dialect } from './dialects/dialect.js';
import type { Statement } from './statement.js';

/** A statement whose condition's values stand at the end of its parameters. */
interface Shape {
  readonly sql: string;
  readonly constants: readonly unknown[];
}

/** A resource has a bounded number of filters, and they can be put together in any number of ways. */
const MAX_SHAPES = 200;

/** Of each of the many resources that clients may make by choosing fields. */
const MAX_CHOSEN_SHAPES = 20;

/**
 * Statements by the shape of their condition: what differs by a compared value alone is written once. Whether a shape can
 * be kept is tried on the first of its kind.
 */
export class StatementShapes {
  private readonly shapes = new Map<string, Shape | undefined>();

  constructor(
    private readonly dialect: Dialect,
    private readonly chosen = false,
  ) {}

  /**
   * `kind` tells apart what is asked of the same conditions. `write` must write the leading values before all others, and
   * those of the conditions behind them.
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
      const text = this.shapeOf(condition, values);
      if (text === undefined) return write();
      key += ` ${text}`;
    }
    const shape = this.shapes.get(key);
    if (shape)
      return {
        sql: shape.sql,
        parameters:
          leading.length + shape.constants.length === 0
            ? values
            : [...leading, ...shape.constants, ...values],
        steady: true,
        chosen: this.chosen,
      };
    const statement = write();
    if (this.shapes.size >= (this.chosen ? MAX_CHOSEN_SHAPES : MAX_SHAPES) || this.shapes.has(key))
      return statement;
    const constants = statement.parameters.slice(leading.length, statement.parameters.length - values.length);
    const fits = [...leading, ...constants, ...values].every(
      (value, index) => statement.parameters[index] === value,
    );
    this.shapes.set(key, fits ? { sql: statement.sql, constants } : undefined);
    return { ...statement, steady: fits, chosen: this.chosen };
  }

  /** Undefined where the SQL may depend on a value. */
  private shapeOf(condition: Condition, values: unknown[]): string | undefined {
    switch (condition.kind) {
      case 'always':
        return '1';
      case 'never':
        return '0';
      case 'and':
      case 'or': {
        let text: string = condition.kind;
        for (const each of condition.conditions) {
          const inner = this.shapeOf(each, values);
          if (inner === undefined) return undefined;
          text += ` ${inner}`;
        }
        return `(${text})`;
      }
      case 'not': {
        const inner = this.shapeOf(condition.condition, values);
        return inner === undefined ? undefined : `(not ${inner})`;
      }
      case 'related': {
        const through = condition.through ? this.shapeOf(condition.through, values) : '';
        const inner = this.shapeOf(condition.condition, values);
        return through === undefined || inner === undefined
          ? undefined
          : `(${pathOf(condition.hops)}${condition.relation.name} has ${inner} through ${through})`;
      }
      case 'compare':
        return this.comparisonOf(condition, values);
      case 'term':
        return undefined;
      default:
        return condition satisfies never;
    }
  }

  private comparisonOf(
    { operand, lookup, value }: Extract<Condition, { kind: 'compare' }>,
    values: unknown[],
  ): string | undefined {
    const { type } = operand.column;
    if (value === null || !STEADY_LOOKUPS.has(lookup) || !this.dialect.isSteady(type)) return undefined;
    const compared = lookup === 'in' ? (value as readonly Json[]) : [value];
    if (compared.includes(null)) return undefined;
    for (const each of compared) values.push(this.dialect.encode(each, type));
    return `${nameOf(operand)} ${lookup}${compared.length}`;
  }
}

/** Those that bind each value once, as it is. */
const STEADY_LOOKUPS: ReadonlySet<Lookup> = new Set(['exact', 'ne', 'gt', 'gte', 'lt', 'lte', 'in']);

function nameOf({ hops, column }: Operand): string {
  return hops.length === 0 ? JSON.stringify(column.id) : `${pathOf(hops)}${JSON.stringify(column.id)}`;
}

function pathOf(hops: Operand['hops']): string {
  return hops.map(({ name }) => `${name}/`).join('');
}
