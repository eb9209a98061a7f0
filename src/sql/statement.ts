import type { Condition } from '../core/query/condition.js';
import type { Relation } from '../core/schema/relation.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';

/** The maximum number of parameters of a statement: each database has more. */
export const MAX_PARAMETERS = 30_000;

/** Result records: each an array of the driver's values, in the order of the select list. */
export type Records = readonly (readonly unknown[])[];

/** What a statement does, for its name in the database. */
export interface StatementLabel {
  readonly operation: string;
  readonly model: string;
}

/** SQL text and the values of its placeholders, in the driver's form. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** The positions of parameters that repeat an earlier one, with the position of that one. */
  readonly repeats?: ReadonlyMap<number, number>;
  /** Whether the same SQL is executed again with other values, so that it is worth preparing. */
  readonly reusable?: boolean;
  /** Set if one plan fits all values, so that the database may keep the statement prepared (`labelStatement`). */
  readonly label?: StatementLabel | undefined;
  /** Whether a client has selected the fields: such statements must not evict others from the caches. */
  readonly isClientSelected?: boolean;
}

/** The rows of one SELECT or UPDATE of a statement. */
export interface SelectedRows {
  readonly resource: ResourceSchema;
  readonly where: Condition;
}

/**
 * The statement with a label, by which the database may keep it prepared: if it has no values, or writes them only, or each
 * SELECT of it finds its row by the whole key. A plan that the database has made for other values then fits all values.
 * Values of any other condition, position or limit decide which plan is fast, and a plan that was kept for other values could
 * read the whole table.
 */
export function labelStatement(
  statement: Statement,
  label: { readonly operation: string; readonly resource: ResourceSchema },
  selected: readonly SelectedRows[],
): Statement {
  const fitsAllValues = statement.parameters.length === 0 || selected.every(isByKey);
  return fitsAllValues
    ? { ...statement, label: { operation: label.operation, model: label.resource.model } }
    : statement;
}

/** Whether the whole primary key is compared, and other rows are reached from that row by their keys only. */
function isByKey({ resource: { identity }, where }: SelectedRows): boolean {
  const all = where.kind === 'and' ? where.conditions : [where];
  const given = new Set(all.map(columnOfEquality));
  return identity.every(({ id, nullable }) => !nullable && given.has(id)) && all.every(followsKeys);
}

function columnOfEquality(condition: Condition): string | undefined {
  if (condition.kind !== 'compare' || condition.lookup !== 'exact' || condition.value === null)
    return undefined;
  const { joinPath, column } = condition.operand;
  return joinPath.length === 0 ? column.id : undefined;
}

function followsKeys(condition: Condition): boolean {
  switch (condition.kind) {
    case 'always':
    case 'never':
      return true;
    case 'and':
    case 'or':
      return condition.conditions.every(followsKeys);
    case 'not':
      return followsKeys(condition.condition);
    case 'compare':
    case 'term':
      return condition.operand.joinPath.every(leadsToKey);
    case 'related':
      return (
        [...condition.joinPath, condition.relation].every(leadsToKey) && followsKeys(condition.condition)
      );
    default:
      return condition satisfies never;
  }
}

function leadsToKey(relation: Relation): boolean {
  return relation.kind === 'to-one' && relation.byKey;
}
