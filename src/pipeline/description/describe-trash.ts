import type { Access } from '../../core/contracts/access-control.js';
import type { QueryDescription, TrashDescription } from '../../core/contracts/route-description.js';
import type { TrashOperation } from '../../core/schema/operation.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Route } from '../../core/schema/route.js';
import { trashParameters } from '../../core/schema/trash.js';
import { restrictFields } from '../../features/permissions/restrict-fields.js';
import type { RestContext } from '../../request/rest-context.js';
import { describeDeletion } from './describe-deletion.js';

/** What the caller may do with deleted objects. */
export async function describeTrash(
  { resource, operations }: Route,
  context: RestContext,
): Promise<Pick<QueryDescription, 'trash'>> {
  const { trash } = resource;
  const { access } = context;
  if (!trash || !(operations.has('GET') || operations.has('DELETE'))) return {};
  const may = async (operation: TrashOperation, method: string): Promise<Access | undefined> =>
    resource.operations.has(operation) ? access.tryAuthorize(trash.with, method) : undefined;
  const [reads, restores, purges] = [
    operations.has('GET') ? await may('listDeleted', 'GET') : undefined,
    await may('restore', 'PATCH'),
    await may('purge', 'DELETE'),
  ];
  if (!reads && !restores && !purges) return {};
  return {
    trash: {
      ...(reads && describeDeletedReads(trash.only, reads)),
      restore: restores !== undefined,
      purge: purges !== undefined,
      ...(purges && { deletion: await describeDeletion(resource.rowReferrers, context) }),
    },
  };
}

function describeDeletedReads(view: Resource, granted: Access): Pick<TrashDescription, 'parameter' | 'date'> {
  const [parameter] = trashParameters(view);
  const date = restrictFields(view, granted).fields.find(
    (field) => field.readable && field.kind === 'column' && field.column.id === view.deleted?.date.id,
  );
  return { ...(parameter !== undefined && { parameter }), ...(date && { date: date.name }) };
}
