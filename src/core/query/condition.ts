import type { SearchedDocument } from '../contracts/full-text.js';
import type { Json } from '../errors/rest-exception.js';
import type { Column } from '../schema/column.js';
import type { Relation } from '../schema/relation.js';
import type { Key } from '../schema/resource-schema.js';
import type { Lookup } from './lookups.js';

/** A column of a resource, or of another one over to-one relations. */
export interface Operand {
  readonly joinPath: readonly Relation[];
  readonly column: Column;
  /** Columns of the same row: the operand is null where one of them is. */
  readonly present?: readonly Column[];
  /** Set if it stands for the text that a full-text search reads, of which `column` is one; in an order, for the rank of the row. */
  readonly document?: SearchedDocument;
  /** The terms by which an order ranks. */
  readonly ranked?: string;
}

/** The position of NULL values in an order. */
export type NullsPlace = 'first' | 'last';

/** How a search compares a term with a column (contract 4.9). */
export type TermMatch = 'contains' | 'startswith' | 'exact' | 'regex' | 'fulltext';

/**
 * A predicate on rows, resolved against the compiled model: columns are those that the adapter described, values are
 * canonical. The only source from which the adapter builds a WHERE clause.
 */
export type Condition =
  | { readonly kind: 'always' }
  | { readonly kind: 'never' }
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | {
      readonly kind: 'compare';
      readonly operand: Operand;
      readonly lookup: Lookup;
      readonly value: Json;
      /** Set if `exact`, `ne` and `in` compare texts by the database's own equality, as a foreign key does. */
      readonly asKey?: true;
    }
  /** Of a document, `term` is all terms, each in double quotes, and free of other quotes and of control characters. */
  | { readonly kind: 'term'; readonly operand: Operand; readonly match: TermMatch; readonly term: string }
  /** At least one related row matches; for a many-to-many relation, over a row of the junction that matches `through`. */
  | {
      readonly kind: 'related';
      readonly joinPath: readonly Relation[];
      readonly relation: Relation;
      readonly condition: Condition;
      readonly through?: Condition;
    };

export const ALWAYS: Condition = { kind: 'always' };
export const NEVER: Condition = { kind: 'never' };

/** The conjunction, flattened and without the conditions that are always true. */
export function conjunction(conditions: readonly Condition[]): Condition {
  const left: Condition[] = [];
  for (const each of conditions) {
    if (each.kind === 'never') return NEVER;
    if (each.kind === 'and') left.push(...each.conditions);
    else if (each.kind !== 'always') left.push(each);
  }
  if (left.length === 0) return ALWAYS;
  return left.length === 1 && left[0] ? left[0] : { kind: 'and', conditions: left };
}

/** The disjunction. */
export function disjunction(conditions: readonly Condition[]): Condition {
  if (conditions.some((each) => each.kind === 'always')) return ALWAYS;
  const left = conditions.filter((each) => each.kind !== 'never');
  if (left.length === 0) return NEVER;
  return left.length === 1 && left[0] ? left[0] : { kind: 'or', conditions: left };
}

export function negation(condition: Condition): Condition {
  if (condition.kind === 'always') return NEVER;
  return condition.kind === 'never' ? ALWAYS : { kind: 'not', condition };
}

/** A condition on one column or one relation, which is no combination of others. */
export type Comparison = Extract<Condition, { kind: 'compare' | 'term' | 'related' }>;

/** The condition with each comparison replaced. */
export function mapComparisons(
  condition: Condition,
  replace: (comparison: Comparison) => Condition,
): Condition {
  switch (condition.kind) {
    case 'always':
    case 'never':
      return condition;
    case 'and':
    case 'or':
      return {
        kind: condition.kind,
        conditions: condition.conditions.map((each) => mapComparisons(each, replace)),
      };
    case 'not':
      return { kind: 'not', condition: mapComparisons(condition.condition, replace) };
    case 'compare':
    case 'term':
    case 'related':
      return replace(condition);
    default:
      return condition satisfies never;
  }
}

/** Whether the condition refers to one of these columns of the row, or to another row. */
export function touches(condition: Condition, isAbout: (columnId: string) => boolean): boolean {
  switch (condition.kind) {
    case 'always':
    case 'never':
      return false;
    case 'and':
    case 'or':
      return condition.conditions.some((each) => touches(each, isAbout));
    case 'not':
      return touches(condition.condition, isAbout);
    case 'compare':
    case 'term':
      return condition.operand.joinPath.length > 0 || isAbout(condition.operand.column.id);
    case 'related':
      return true;
    default:
      return condition satisfies never;
  }
}

/** A comparison of a column of the row with a value, by `exact`. */
export function equals(column: Column, value: Json): Condition {
  return { kind: 'compare', operand: { joinPath: [], column }, lookup: 'exact', value };
}

/** As `equals`, by the equality with which the database compares the column as a foreign key or in a unique index. */
export function equalsAsKey(column: Column, value: Json): Condition {
  return { kind: 'compare', operand: { joinPath: [], column }, lookup: 'exact', value, asKey: true };
}

/** The operands of a row's own key. */
export function ownKey({ columns, via }: Key): readonly Operand[] {
  return columns.map((column) => ({ joinPath: via ? [via] : [], column }));
}
