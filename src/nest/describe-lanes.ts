import type { TypeOrmAdapter } from '../adapters/typeorm/typeorm-adapter.js';
import { emptyFieldErrors } from '../core/errors/rest-exception.js';
import type { ReplaceableOperation } from '../core/schema/operation.js';
import type { Resource } from '../core/schema/resource.js';
import { chooseOutput, explainRead } from '../execution/choose-read.js';
import type { LiveWrite } from '../execution/choose-write.js';
import { classNameOf } from '../execution/lane-table.js';
import type { LaneRow } from '../execution/lane-table.js';
import { mayFail } from '../request/represent-row.js';

type Choosers = Pick<TypeOrmAdapter, 'chooseRead' | 'chooseWrite' | 'chooseDeletion' | 'chooseDeletions'>;
type Lane = Pick<LaneRow, 'lane' | 'reason'>;

const OPERATIONS: readonly ReplaceableOperation[] = [
  'list',
  'retrieve',
  'create',
  'update',
  'partialUpdate',
  'destroy',
];

/** The lanes in which the operations of models run now, without parameters of a request. */
export function describeLanes(resources: readonly Resource[], adapter: Choosers): readonly LaneRow[] {
  return resources.flatMap((resource) => {
    const rows = OPERATIONS.filter((operation) => resource.operations.has(operation)).map((operation) => ({
      model: resource.className,
      operation,
      ...laneOf(operation, resource, adapter),
    }));
    if (resource.bulk?.operations.has('destroy') !== true) return rows;
    // A list of two keys.
    const deletions = [resource, resource];
    return [
      ...rows,
      {
        model: resource.className,
        operation: 'bulk destroy',
        ...adapter.chooseDeletions(resource, deletions),
      },
    ];
  });
}

function laneOf(operation: ReplaceableOperation, resource: Resource, adapter: Choosers): Lane {
  switch (operation) {
    case 'list':
    case 'retrieve':
      return laneOfRead(resource, adapter);
    case 'create':
      return laneOfWrite('create', resource, adapter);
    case 'update':
    case 'partialUpdate':
      return laneOfWrite('update', resource, adapter);
    case 'destroy':
      return adapter.chooseDeletion(resource, resource);
    default:
      return operation satisfies never;
  }
}

function laneOfRead(resource: Resource, adapter: Choosers): Lane {
  const { interceptors, serializer } = resource;
  const output = chooseOutput({
    resource,
    needsValue: interceptors.length > 0,
    renderer: undefined,
    fieldSelection: undefined,
  });
  return explainRead(output, {
    read: (isStored) => adapter.chooseRead(resource, isStored),
    name: output.use === 'value' ? `The interceptor ${classOf(interceptors[0])}` : classOf(serializer),
  });
}

function laneOfWrite(kind: LiveWrite['kind'], resource: Resource, adapter: Choosers): Lane {
  return adapter.chooseWrite(resource, {
    kind,
    hooks: resource.hooks,
    completed: mayFail({ resource, fieldSelection: undefined }),
    errors: emptyFieldErrors(),
  });
}

function classOf(instance: object | undefined): string {
  return instance ? classNameOf(instance) : '';
}
