import { decideAll } from './access.js';
import { invalidNames, Refusal } from './expected.js';
import { targetOf } from './expansion.js';
import type { ReadContext } from './filters.js';
import { parseFilters, refuseErrors, refuseUnknownFilters, unknownParameters } from './lists.js';
import type { ListContext } from './lists.js';
import type { Resource } from './resources.js';
import type { Shape } from './shape.js';

interface Level {
  readonly resource: Resource;
  readonly shape: Shape;
  /** The prefix of paths: `question.`. */
  readonly prefix: string;
}

/**
 * The parameters of expanded lists that a response reads, or ignores because it does not show the list. Throws the errors of
 * the others, under the names that they have in the request (contract 12.8, contract 12.9).
 */
export function expansionParameters(
  sight: ReadContext,
  { resource, shape, prefix }: Level,
  { names, isStrict }: { readonly names: readonly string[]; readonly isStrict: boolean },
): string[] {
  return shape.expandedNames().flatMap((name): string[] => {
    const inner = shape.expansionOf(name);
    const relation = resource.entity.relations.find((each) => each.name === name);
    if (!inner || !relation) return [];
    const path = `${prefix}${name}.`;
    const below = names.filter((each) => each.startsWith(path));
    const row = { key: '', values: {} };
    const target = targetOf(sight.state, { resource, row }, relation);
    const { entity, options } = target;
    const access = decideAll(options.permissions, { entity, actor: sight.actor, method: 'GET' });
    if (!shape.shows(name) || access.kind === 'refusal') return below;
    const isList = relation.kind === 'to-many' || relation.kind === 'many-to-many';
    if (isList) verifyList({ ...sight, resource: target, access, parameters: inner.own }, path, isStrict);
    const own = isList ? below.filter((each) => !each.slice(path.length).includes('.')) : [];
    return [
      ...own,
      ...expansionParameters(
        sight,
        { resource: target, shape: inner, prefix: path },
        { names: below, isStrict },
      ),
    ];
  });
}

function verifyList(context: ListContext, prefix: string, isStrict: boolean): void {
  const { resource, parameters } = context;
  const limit = parameters.last('limit');
  if (limit !== undefined && limit !== '' && !/^0*[1-9]\d*$/.test(limit))
    throw invalidNames([`${prefix}limit`]);
  const options = { ...resource.options, strict: isStrict || Boolean(resource.options.strict) };
  const known = ['limit', 'search', 'ordering', ...(options.filterGroups ? ['filter'] : [])];
  try {
    refuseErrors(unknownParameters({ ...context, resource: { ...resource, options } }, known));
    refuseUnknownFilters(context);
    parseFilters(context);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const bodies = error.expected.bodies.map((body) =>
      Object.fromEntries(Object.entries(body ?? {}).map(([name, each]) => [`${prefix}${name}`, each])),
    );
    throw new Refusal({ ...error.expected, bodies });
  }
}
