import { parameterName } from './resource-schema.js';
import type { ResourceSchema } from './resource-schema.js';

/** The query parameter of reads that shows deleted objects. */
const DELETED_PARAMETER = 'deleted';

interface ModelWithTrash extends Pick<ResourceSchema, 'renamed' | 'operations'> {
  readonly trash: object | undefined;
}

/** The query parameter of a model's reads that shows its deleted objects, if it has one. */
export function trashParameters(resource: ModelWithTrash): readonly string[] {
  return resource.trash && resource.operations.has('listDeleted')
    ? [parameterName(DELETED_PARAMETER, resource)]
    : [];
}
