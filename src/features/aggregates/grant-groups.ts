import type { Access, AccessControl } from '../../core/contracts/access-control.js';
import type { Aggregates, GroupField } from '../../core/query/aggregate.js';
import { ALWAYS } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import { has, isReadable, topOf } from '../../core/query/readable-paths.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import { conditionAlongPath } from '../permissions/restrict-queries.js';

/** The models over which rows are grouped by fields of theirs. */
function groupTargets({ groups }: Aggregates): readonly ResourceSchema[] {
  return [...new Set([...groups.values()].flatMap(({ row }) => row.map(({ target }) => target)))];
}

/** The aggregates that the caller may read, and the related rows that show a key. */
export interface GrantedGroups {
  readonly aggregates: Aggregates;
  readonly within: (name: string) => Condition;
}

/** Leaves out the groups by fields of related models that the caller may not read. */
export async function grantAggregates(aggregates: Aggregates, access: AccessControl): Promise<GrantedGroups> {
  const accesses = new Map<ResourceSchema, Access | undefined>();
  for (const target of groupTargets(aggregates))
    accesses.set(target, await access.tryAuthorize(target, 'GET'));
  const granted = new Map(
    [...aggregates.groups].flatMap(([name, field]) => {
      const within = visibleRows(field, accesses);
      return within ? [[name, { field, within }] as const] : [];
    }),
  );
  return {
    aggregates: { ...aggregates, groups: new Map([...granted].map(([name, { field }]) => [name, field])) },
    within: (name) => granted.get(name)?.within ?? ALWAYS,
  };
}

function visibleRows(
  { row, operands: [operand], relation }: GroupField,
  accesses: ReadonlyMap<ResourceSchema, Access | undefined>,
): Condition | undefined {
  const isLastReadable = ({ readable }: Access, target: ResourceSchema): boolean =>
    relation
      ? has(readable, topOf(relation))
      : operand !== undefined && isReadable(operand.column.id, target, readable);
  return conditionAlongPath(row, isLastReadable, accesses);
}
