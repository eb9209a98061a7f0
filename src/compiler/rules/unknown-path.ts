import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { EntityDeclaration } from '../compiler-input.js';
import { plainPaths } from '../resolve-path.js';

/** The purpose of a declared path. */
export interface QueryPlace {
  readonly where: string;
  readonly draft: EntityDeclaration;
  readonly resource: ResourceSchema;
}

/** The problem of a path that leads to no readable field. `reach`: whether it may lead over to-many relations. */
export function unknownPath(
  path: string,
  { where, draft, resource }: QueryPlace,
  reach: 'one' | 'many' = 'one',
): DeclarationProblem {
  const [first = path] = path.split('.');
  const field = resource.fieldsByName.get(first);
  if (field?.kind === 'link' && reach === 'one')
    return {
      where,
      what: `"${first}" leads to many objects`,
      repair: 'Name a field of this model or of one that it refers to.',
    };
  if (field && !field.readable)
    return {
      where,
      what: `"${first}" is write-only, and would leak through a query`,
      repair: 'Take it out.',
    };
  if (field && 'relation' in field) {
    const target = field.relation.target;
    return {
      where,
      what: `"${path}" leads to no readable field of ${target.label}`,
      repair: didYouMean(
        path,
        plainPaths(target).map((each) => `${first}.${each}`),
      ),
    };
  }
  return {
    where,
    what: `"${path}" is not a readable field of ${draft.declaration.name}`,
    repair: didYouMean(path, plainPaths(resource)),
  };
}
