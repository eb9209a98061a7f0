import { moreMember } from '../../core/contracts/field-selection.js';
import type { Expandable } from '../../core/contracts/field-selection.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { problem } from './problems.js';
import type { Problems } from './problems.js';

/** A list that can be expanded. */
interface ExpandableList {
  /** `question.choices` */
  readonly path: string;
  readonly name: string;
  /** The model that has the list, and the one of its objects. */
  readonly owner: Resource;
  readonly target: Resource;
}

/** Verifies that the parameters and members of expanded lists have no other meaning. */
export function* verifyExpansionQueries(
  { declarations }: CompilerInput,
  { all, resources }: CompiledModel,
): Problems {
  for (const { declaration, entity } of declarations) {
    const resource = resources.find((each) => each.entity === entity.id);
    if (declaration.options.expansionQueries === true && resource && expandableLists(resource).length === 0)
      yield problem(
        `${resource.className}.expansionQueries`,
        'no list can be expanded, so that the option has no effect',
        'Name a list in expandable, or remove the option.',
      );
  }
  for (const resource of all)
    if (resource.fieldSelection?.limitParameter !== undefined)
      for (const list of expandableLists(resource))
        yield* problemsOf(list, resource, resource.fieldSelection.limitParameter);
}

function* problemsOf({ path, name, owner, target }: ExpandableList, from: Resource, limit: string): Problems {
  const where = `${from.className}.expansionQueries "${path}"`;
  if (parametersOf(target).includes(limit))
    yield problem(
      where,
      `"${path}.${limit}" limits the list, and is a filter of ${target.className}, too`,
      `Give the limit another name: parameters: { limit: '…' }.`,
    );
  const more = moreMember(name);
  if (owner.fieldsByName.get(more)?.readable === true)
    yield problem(
      where,
      `"${more}" says that the list is cut, and is a field of ${owner.className}, too`,
      'Give the property another name, or exclude the field.',
    );
  const taken = [...parametersOf(from), ...(from.pagination?.parameters() ?? [])].find((each) =>
    each.startsWith(`${path}.`),
  );
  if (taken !== undefined)
    yield problem(
      where,
      `"${taken}" is a parameter of the list, and of a filter or the pagination of ${from.className}, too`,
      'Give the filter or the pagination another parameter.',
    );
}

function parametersOf(resource: Resource): readonly string[] {
  return resource.backends.flatMap((backend) => [...(backend.parameters?.(resource) ?? [])]);
}

function expandableLists(resource: Resource): readonly ExpandableList[] {
  return resource.fieldSelection ? listsBelow(resource, resource.fieldSelection.expandable, '') : [];
}

/** Paths that name no relation are reported elsewhere. */
function listsBelow(owner: Resource, paths: Expandable, within: string): readonly ExpandableList[] {
  return [...paths].flatMap(([name, inner]) => {
    const field = owner.fieldsByName.get(name);
    if (!field || !('relation' in field)) return [];
    const { relation } = field;
    const target = resourceOf(relation.kind === 'many-to-many' ? relation.through.resource : relation.target);
    const path = within + name;
    const isList = relation.kind === 'one-to-many' || relation.kind === 'many-to-many';
    return [...(isList ? [{ path, name, owner, target }] : []), ...listsBelow(target, inner, `${path}.`)];
  });
}
