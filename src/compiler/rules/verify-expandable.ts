import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { Field } from '../../core/schema/field.js';
import { MAX_EXPANDED_DEPTH } from '../../core/schema/limits.js';
import { runsGuardsOf } from '../../core/schema/reachable-models.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Expandable } from '../../core/contracts/field-selection.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { optionLocations } from './option-locations.js';
import { deduplicateProblems } from './deduplicate-problems.js';

interface Way {
  /** The model whose option it is. */
  readonly from: Resource;
  /** Names that lead to here. */
  readonly path: readonly string[];
}

/** Verifies that expandable paths are exposed relations to readable models, within the depth limit. */
export function verifyExpandable(
  input: CompilerInput,
  { all }: CompiledModel,
): readonly DeclarationProblem[] {
  const given = optionLocations(input).flatMap(({ where, options: { expandable } }) =>
    textProblems(`${where}.expandable`, expandable),
  );
  if (given.length > 0) return given;
  const served = new Set(input.drafts.map(({ entity }) => entity.id));
  return deduplicateProblems(
    all.flatMap((resource) =>
      resource.shape
        ? pathProblems(resource, resource.shape.expandable, {
            way: { from: resource, path: [] },
            unserved: unservedIn(input, served),
          })
        : [],
    ),
  );
}

function textProblems(where: string, expandable: unknown): readonly DeclarationProblem[] {
  if (
    expandable === undefined ||
    (Array.isArray(expandable) && expandable.every((path) => typeof path === 'string'))
  )
    return [];
  return [
    {
      where,
      what: 'this is not a list of relations',
      repair: "Write expandable: ['question', 'question.author'].",
    },
  ];
}

/** Relations of an entity to entities that are not registered, with the names of these. */
type Unserved = (resource: Resource) => ReadonlyMap<string, string>;

function unservedIn({ description }: CompilerInput, served: ReadonlySet<string>): Unserved {
  const names = new Map(description.entities.map(({ id, name }) => [id, name]));
  const relations = new Map(
    description.entities.map((entity) => [
      entity.id,
      new Map(
        entity.relations
          .filter(({ target }) => !served.has(target))
          .map(({ path, target }) => [path, names.get(target) ?? target]),
      ),
    ]),
  );
  return ({ entity }) => relations.get(entity) ?? new Map<string, string>();
}

function pathProblems(
  resource: Resource,
  expandable: Expandable,
  { way, unserved }: { way: Way; unserved: Unserved },
): readonly DeclarationProblem[] {
  return [...expandable].flatMap(([name, inner]): readonly DeclarationProblem[] => {
    const here = { from: way.from, path: [...way.path, name] };
    const where = `${way.from.label}.expandable "${here.path.join('.')}"`;
    if (here.path.length > MAX_EXPANDED_DEPTH)
      return [
        {
          where,
          what: `it is deeper than ${MAX_EXPANDED_DEPTH} relations`,
          repair: 'Take the last one out: a client asks for what stands there by a request of its own.',
        },
      ];
    const field = resource.fields.find((each) => each.name === name && each.readable);
    const target = field && targetOf(field);
    if (!target) return [unknownRelation(name, resource, { where, unserved })];
    const problem = targetProblem(field, target, way.from);
    return problem ? [{ where, ...problem }] : pathProblems(target, inner, { way: here, unserved });
  });
}

function targetOf(field: Field): Resource | undefined {
  if (!('relation' in field)) return undefined;
  const { relation } = field;
  return resourceOf(relation.kind === 'many-to-many' ? relation.through.resource : relation.target);
}

function unknownRelation(
  name: string,
  resource: Resource,
  { where, unserved }: { where: string; unserved: Unserved },
): DeclarationProblem {
  const target = unserved(resource).get(name);
  if (target !== undefined)
    return {
      where,
      what: `it leads to ${target}, which is not served`,
      repair: `Put @Restify on ${target}, or take it out.`,
    };
  const known = resource.fields
    .filter((field) => field.readable && targetOf(field))
    .map((field) => field.name);
  return {
    where,
    what: `"${name}" is not a relation that ${resource.label} shows`,
    repair: didYouMean(name, known),
  };
}

/** Rejects the expansion of a model without its own read operation. */
function targetProblem(
  field: Field,
  target: Resource,
  from: Resource,
): Pick<DeclarationProblem, 'what' | 'repair'> | undefined {
  const { operations, label } = target;
  const readable = operations.has('list') || (field.kind !== 'link' && operations.has('retrieve'));
  if (!readable)
    return {
      what: `${label} has no ${field.kind === 'link' ? 'list' : 'list and no retrieve'} among its operations`,
      repair: `Add it to the operations of ${label}, or take this out.`,
    };
  if (!runsGuardsOf(target, from))
    return {
      what: `${label} has guards that do not run for ${from.label}, and an expansion runs none`,
      repair: `Say it by permissions of ${label}, which hold here too, or give ${from.label} the same guards.`,
    };
  return undefined;
}
