import { COUNTS_MEMBER } from '../../core/contracts/field-selection.js';
import type { Expandable } from '../../core/contracts/field-selection.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { Field } from '../../core/schema/field.js';
import { MAX_EXPANDED_DEPTH } from '../../core/schema/limits.js';
import { runsGuardsOf } from '../../core/schema/reachable-models.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { expandable } from './option-values.js';
import { problem } from './problems.js';
import type { Problems } from './problems.js';
import { optionLocations } from './verify-options.js';

/** The way from the model whose option it is, and relations of an entity to entities that are not registered. */
interface Way {
  readonly from: Resource;
  /** Names that lead to here. */
  readonly path: readonly string[];
  readonly unserved: (resource: Resource) => ReadonlyMap<string, string>;
}

/** Verifies that expandable paths are exposed relations to readable models, within the depth limit. */
export function* verifyExpandable(input: CompilerInput, { all }: CompiledModel): Problems {
  const isFlawed = ({ expandable: given }: { readonly expandable?: unknown }): boolean =>
    given !== undefined && [...expandable(given)].length > 0;
  if (optionLocations(input).some(({ options }) => isFlawed(options))) return;
  const unserved = unservedRelations(input);
  for (const resource of all) {
    if (resource.fieldSelection)
      yield* pathProblems(resource, resource.fieldSelection.expandable, {
        from: resource,
        path: [],
        unserved,
      });
    if (resource.counts) yield* countProblems(resource, { from: resource, path: [], unserved });
  }
}

/** Verifies that the lists in `counts` can be read, and that its member is no field. */
function* countProblems(resource: Resource, way: Way): Problems {
  const { className, counts, fields, fieldsByName } = resource;
  if (fieldsByName.has(COUNTS_MEMBER))
    yield problem(
      `${className}.counts`,
      `"${COUNTS_MEMBER}" is the member with the numbers, and a field of ${className}`,
      'Give the property another name, or exclude the field.',
    );
  for (const name of counts?.names ?? []) {
    const where = `${className}.counts "${name}"`;
    const field = fields.find((each) => each.name === name && each.readable);
    const target = field && targetOf(field);
    if (!target) yield unknownRelation(name, resource, { where, way });
    else if (field.kind !== 'link' && field.kind !== 'keys')
      yield problem(where, `"${name}" is one object, and no list`, 'Take it out.');
    else {
      const unfit = unreadableTarget(field, target, resource);
      if (unfit) yield problem(where, ...unfit);
    }
  }
}

/** The names of the entities that are not registered, by the relations that lead to them. */
function unservedRelations({ description, declarations }: CompilerInput): Way['unserved'] {
  const served = new Set(declarations.map(({ entity }) => entity.id));
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

function* pathProblems(resource: Resource, paths: Expandable, way: Way): Problems {
  for (const [name, inner] of paths) {
    const here = { ...way, path: [...way.path, name] };
    const where = `${way.from.className}.expandable "${here.path.join('.')}"`;
    const field = resource.fields.find((each) => each.name === name && each.readable);
    const target = field && targetOf(field);
    if (here.path.length > MAX_EXPANDED_DEPTH)
      yield problem(
        where,
        `it is deeper than ${MAX_EXPANDED_DEPTH} relations`,
        'Remove the last one: a client reads it by another request.',
      );
    else if (!target) yield unknownRelation(name, resource, { where, way });
    else {
      const unfit = unreadableTarget(field, target, way.from);
      if (unfit) yield problem(where, ...unfit);
      else yield* pathProblems(target, inner, here);
    }
  }
}

function targetOf(field: Field): Resource | undefined {
  if (!('relation' in field)) return undefined;
  const { relation } = field;
  return resourceOf(relation.kind === 'many-to-many' ? relation.through.resource : relation.target);
}

function unknownRelation(
  name: string,
  resource: Resource,
  { where, way }: { readonly where: string; readonly way: Way },
): DeclarationProblem {
  const target = way.unserved(resource).get(name);
  if (target !== undefined)
    return problem(
      where,
      `it leads to ${target}, which is not served`,
      `Put @Restify on ${target}, or take it out.`,
    );
  const known = resource.fields.filter((field) => field.readable && targetOf(field));
  return problem(
    where,
    `"${name}" is not a relation that ${resource.className} shows`,
    didYouMean(
      name,
      known.map((field) => field.name),
    ),
  );
}

/** Rejects the expansion of a model without its own read operation: the problem and its repair. */
function unreadableTarget(
  field: Field,
  target: Resource,
  from: Resource,
): readonly [what: string, repair: string] | undefined {
  const { operations, className } = target;
  const isMany = field.kind === 'link' || field.kind === 'keys';
  if (!operations.has('list') && (isMany || !operations.has('retrieve')))
    return [
      `${className} has no ${isMany ? 'list' : 'list and no retrieve'} among its operations`,
      `Add it to the operations of ${className}, or take this out.`,
    ];
  return runsGuardsOf(target, from)
    ? undefined
    : [
        `${className} has guards that do not run for ${from.className}, and an expansion runs none`,
        `Say it by permissions of ${className}, which hold here too, or give ${from.className} the same guards.`,
      ];
}
