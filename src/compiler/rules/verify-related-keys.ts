import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DataKind } from '../../core/schema/data-type.js';
import { writtenColumns } from '../../core/schema/field.js';
import type { Field } from '../../core/schema/field.js';
import { runsGuardsOf } from '../../core/schema/reachable-models.js';
import type { ManyToManyRelation } from '../../core/schema/relation.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import type { CompiledModel } from '../compile-resources.js';
import { otherSideOf } from '../compile-related-keys.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { problem } from './problems.js';
import type { Flaw, Problems } from './problems.js';

/** Verifies that `relatedKeys` names relations whose pairs are read and written by their keys alone, as at their own URLs. */
export function* verifyRelatedKeys(input: CompilerInput, { resources }: CompiledModel): Problems {
  for (const draft of input.declarations) {
    const { relatedKeys } = draft.declaration.options;
    const resource = resources.find(({ entity }) => entity === draft.entity.id);
    if (resource && Array.isArray(relatedKeys)) yield* problemsOf(draft, relatedKeys, { resource, input });
  }
}

function* problemsOf(
  { declaration: { name } }: EntityDeclaration,
  paths: readonly string[],
  place: Place,
): Problems {
  const { resource } = place;
  for (const path of paths) {
    const where = `${name}.relatedKeys.${path}`;
    const known = resource.nested.filter((each) => each.kind === 'many-to-many' && !each.name.includes('.'));
    const relation = known.find((each) => each.name === path);
    if (relation?.kind === 'many-to-many')
      for (const flaw of flawsOf(relation, place)) yield { where, ...flaw };
    else
      yield problem(
        where,
        `"${path}" is not a many-to-many relation that ${name} shows`,
        didYouMean(
          path,
          known.map((each) => each.name),
        ),
      );
  }
}

interface Place {
  readonly resource: Resource;
  readonly input: CompilerInput;
}

/** Kinds of keys whose texts in a list are not exact. */
const UNFIT_KINDS: ReadonlySet<DataKind> = new Set(['binary', 'float', 'interval', 'json', 'list', 'set']);

function* flawsOf(relation: ManyToManyRelation, { resource, input }: Place): Iterable<Flaw> {
  const { through, target } = relation;
  const pairs = resourceOf(through.resource);
  const unfit = target.key.columns.find(({ type }) => UNFIT_KINDS.has(type.kind));
  if (unfit)
    yield {
      what: `keys of ${target.className} are of the kind ${unfit.type.kind}, and cannot be listed`,
      repair: 'Leave the relation a link.',
    };
  if (!otherSideOf(through) || !pairs.operations.has('list')) {
    yield {
      what: `its pairs are not read: ${pairs.className} has no list, or does not show the key of ${target.className}`,
      repair: `Serve the list of ${pairs.className} with that key: the field has the keys that the list shows.`,
    };
    return;
  }
  const columns = [
    ...through.parent.map(({ referencedColumn }) => referencedColumn.id),
    ...through.other.map(({ localColumn }) => localColumn.id),
  ];
  const entity = input.description.entities.find(({ id }) => id === pairs.entity);
  if (!entity?.unique.some((set) => set.every((id) => columns.includes(id))))
    yield {
      what: `the table of ${pairs.className} may hold a pair twice`,
      repair: `Give it a unique index over its two sides: @Unique([…]) on ${pairs.className}.`,
    };
  for (const field of requiredBeside(columns, pairs.fields))
    yield {
      what: `a pair cannot be created by its two keys: "${field.name}" of ${pairs.className} is required`,
      repair: 'Give its column a default, let it be null, or leave the relation a link.',
    };
  yield* unlike(pairs, { resource, input, relation });
}

function requiredBeside(columns: readonly string[], fields: readonly Field[]): readonly Field[] {
  return fields.filter(
    (field) => field.required && !writtenColumns(field).every((id) => columns.includes(id)),
  );
}

const SAME = 'Give both the same, say it by permissions, or leave the relation a link.';

/** What runs at the URLs of the pairs, and would not run in a request to the model. */
function* unlike(pairs: Resource, place: Place & { readonly relation: ManyToManyRelation }): Iterable<Flaw> {
  const { resource } = place;
  const found = [...differences(pairs, resource)].map((what) => ({ what, repair: SAME }));
  for (const { what, repair } of [...found, ...replacements(pairs, place)])
    yield {
      what: `${pairs.className} has ${what}, which requests to ${resource.className} would bypass`,
      repair,
    };
}

function* differences(pairs: Resource, resource: Resource): Iterable<string> {
  yield* differentGuards(pairs, resource);
  if (pairs.piping?.pipes.every((each) => resource.piping?.pipes.includes(each)) === false)
    yield 'pipes of its own';
  if (pairs.throttle && pairs.throttle !== resource.throttle) yield 'a rate limit of its own';
  if (requires(pairs.idempotency, resource.idempotency)) yield 'a required Idempotency-Key';
  if (requires(pairs.conditional, resource.conditional)) yield 'a required If-Match';
}

/** What decides about requests to the URLs of a model, and does not run at those of another one. */
export function* differentGuards(own: Resource, resource: Resource): Iterable<string> {
  if (!authenticatesAlike(own, resource)) yield 'an authentication of its own';
  else if (!runsGuardsOf(own, resource)) yield 'guards of its own';
  if (!own.interceptors.every((each) => resource.interceptors.includes(each)))
    yield 'interceptors of its own';
}

type Requirement = { readonly require: boolean } | undefined;

function requires(own: Requirement, other: Requirement): boolean {
  return own?.require === true && other?.require !== true;
}

/** A method of the application in the place of what reads or writes the pairs. */
function* replacements(
  pairs: Resource,
  { resource, input, relation }: Place & { readonly relation: ManyToManyRelation },
): Iterable<Flaw> {
  const names = ['list', 'create', 'destroy'];
  for (const { declaration, wraps } of controllersOf(pairs, input))
    if (wraps || declaration.replaced.some((each) => names.includes(each)))
      yield {
        what: `operations that ${declaration.name} replaces`,
        repair:
          'Use beforeWrite and afterWrite there, which run for each pair, or leave the relation a link.',
      };
  for (const { declaration } of controllersOf(resource, input))
    for (const action of declaration.actions)
      if (action.kind === 'nested' && action.relation === relation.name)
        yield {
          what: `URLs that ${declaration.name}.${action.method} replaces`,
          repair: 'Leave the relation a link.',
        };
}

/** The controller classes of a model. */
export function controllersOf(
  { entity: id }: Resource,
  { declarations, controllers }: CompilerInput,
): CompilerInput['controllers'] {
  const target = declarations.find(({ entity }) => entity.id === id)?.declaration.target;
  return controllers.filter(({ declaration }) => declaration.entity === target);
}

function authenticatesAlike(pairs: Resource, resource: Resource): boolean {
  const [own, others] = [pairs, resource].map(({ schemes }) =>
    schemes.filter(({ guards }) => guards === undefined),
  );
  return (
    own === undefined ||
    own.length === 0 ||
    (own.length === others?.length && own.every((scheme) => others.includes(scheme)))
  );
}
