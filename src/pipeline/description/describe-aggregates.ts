import { aggregateNames } from '../../core/contracts/aggregates.js';
import type { QueryDescription } from '../../core/contracts/route-description.js';
import { COUNT } from '../../core/query/aggregate.js';
import type { Resource } from '../../core/schema/resource.js';
import { grantAggregates } from '../../features/aggregates/grant-groups.js';
import { choicesOf, groupOrders } from '../../features/aggregates/parse-aggregates.js';
import { restrictFields } from '../../features/permissions/restrict-fields.js';
import type { RestContext } from '../../request/rest-context.js';

/** What the caller may compute of the rows of a list, by the permission of that operation. */
export async function describeAggregates(
  resource: Resource,
  { access }: RestContext,
): Promise<Pick<QueryDescription, 'aggregates'>> {
  if (!resource.aggregates) return {};
  const granted = await access.tryAuthorize(resource, { method: 'GET', operation: 'aggregate' });
  const own = granted && restrictFields(resource, granted).aggregates;
  if (!own) return {};
  const { aggregates } = await grantAggregates(own, access);
  const { groups, measures, minGroup } = aggregates;
  const { aggregate: parameter, group, having, tz } = aggregateNames(resource);
  return {
    aggregates: {
      parameter,
      group,
      having,
      tz,
      groups: [...groups].map(([name, field]) => ({ name, choices: choicesOf(name, field, resource) })),
      measures: [COUNT, ...measures.keys()],
      ordering: groupOrders({ aggregates }),
      ...(minGroup !== undefined && { min_group: minGroup }),
    },
  };
}
