import { conjunction, ALWAYS, mapComparisons } from '../../core/query/condition.js';
import type { Condition, Operand } from '../../core/query/condition.js';
import type { Relation } from '../../core/schema/relation.js';
import type {
  FilterTerm,
  QueriedPath,
  SearchField,
  ExistsStep,
  ResourceSchema,
} from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Access } from '../../core/contracts/access-control.js';
import { has, isReadable, disclosedPaths, topOf } from '../../core/query/readable-paths.js';

const TARGETS = new WeakMap<ResourceSchema, readonly ResourceSchema[]>();

/** The models that filters, searches and orders of a resource reach over relations, junctions included. */
export function queriedTargets(resource: ResourceSchema): readonly ResourceSchema[] {
  const known = TARGETS.get(resource) ?? findTargets(resource);
  TARGETS.set(resource, known);
  return known;
}

function findTargets(resource: ResourceSchema): readonly ResourceSchema[] {
  const paths = [...resource.filterTerms.values()].flatMap(disclosedPaths);
  const operands = [
    ...paths.flatMap((path) => path.operands),
    ...resource.searchFields.map(({ operand }) => operand),
    ...[...resource.orderingFields.values()].flatMap((field) => field.operands),
    ...resource.ordering.map(({ operand }) => operand),
  ];
  const steps = [...paths, ...resource.searchFields].flatMap(({ some }) => some);
  return [
    ...new Set([
      ...operands.flatMap(({ joinPath }) => joinPath.map((hop) => hop.target)),
      ...steps.flatMap(targetsOfStep),
    ]),
  ];
}

function targetsOfStep({ joinPath, relation }: ExistsStep): readonly ResourceSchema[] {
  return [
    ...joinPath.map((hop) => hop.target),
    relation.target,
    ...(relation.kind === 'many-to-many' ? [relation.through.resource] : []),
  ];
}

/** The caller's access to each reached model; undefined if denied. */
type QueryAccess = ReadonlyMap<ResourceSchema, Access | undefined>;

/**
 * The resource with queries over relations restricted by the grants on the related models: a filter on a field that the
 * caller may not read there is removed, and only rows that the caller may see match. An order by rows that may be hidden
 * would disclose them, and is removed.
 */
export function restrictQueries(resource: Resource, accesses: QueryAccess): Resource {
  if (
    [...accesses.values()].every(
      (access) => access?.grantCondition.kind === 'always' && access.readable === 'all',
    )
  )
    return resource;
  const within = (operand: Operand): Condition | undefined => conditionOver(operand, accesses);
  return Object.freeze({
    ...resource,
    filterTerms: new Map(
      [...resource.filterTerms].flatMap(([name, term]) => restrictedTerm(name, term, accesses)),
    ),
    searchFields: resource.searchFields.flatMap((field): readonly SearchField[] => {
      const path = restrictedPath({ some: field.some, operands: [field.operand] }, accesses);
      return path ? [{ ...field, ...path }] : [];
    }),
    orderingFields: new Map(
      [...resource.orderingFields].filter(([, { operands }]) =>
        operands.every((operand) => within(operand)?.kind === 'always'),
      ),
    ),
    ordering: resource.ordering.filter(
      ({ operand }) => operand.joinPath.length === 0 || within(operand)?.kind === 'always',
    ),
  });
}

function restrictedTerm(
  name: string,
  term: FilterTerm,
  accesses: QueryAccess,
): readonly (readonly [string, FilterTerm])[] {
  const paths = disclosedPaths(term).map((path) => restrictedPath(path, accesses));
  if (!paths.every((path) => path !== undefined)) return [];
  const within = conjunction(paths.map((path) => path.within));
  if (term.kind === 'field') return paths.map((path) => [name, { ...term, some: path.some, within }]);
  if (within.kind === 'always' && paths.every(({ some }) => some.length === 0)) return [[name, term]];
  // The condition of a custom filter on related rows cannot be restricted: the filter is removed if some of them are hidden.
  // Relations after a to-many relation cannot be either: `within` is a condition of the row itself.
  return paths.every(
    ({ some, within }) => some.length === 0 || (some.every(isUnrestricted) && within.kind === 'always'),
  )
    ? [[name, { ...term, visible: (joinPath) => visibleOver(joinPath, accesses) }]]
    : [];
}

/** The rows over these relations that the caller may see; all rows of models that the filter does not declare. */
function visibleOver(joinPath: readonly Relation[], accesses: QueryAccess): Condition {
  return conjunction(
    joinPath.map(({ target }, index) =>
      prefixPath(joinPath.slice(0, index + 1), accesses.get(target)?.grantCondition ?? ALWAYS),
    ),
  );
}

function isUnrestricted({ pathGrants, grantCondition, through }: ExistsStep): boolean {
  return [pathGrants, grantCondition, through].every(
    (condition) => condition === undefined || condition.kind === 'always',
  );
}

interface RestrictedPath {
  readonly some: readonly ExistsStep[];
  /** A condition on the rows of the operands. */
  readonly within: Condition;
}

function restrictedPath({ some, operands }: QueriedPath, accesses: QueryAccess): RestrictedPath | undefined {
  const steps = some.map((step) => restrictedStep(step, accesses));
  const conditions = operands.map((operand) => conditionOver(operand, accesses));
  if (!steps.every((step) => step !== undefined) || !conditions.every((condition) => condition !== undefined))
    return undefined;
  const isOpen = some.every(({ relation }, index) =>
    isNextReadable(relation.target, some[index + 1] ?? operands, accesses),
  );
  return isOpen ? { some: steps, within: conjunction(conditions) } : undefined;
}

/** True if the caller may read the columns of the target that the next step or operand uses. */
function isNextReadable(
  target: ResourceSchema,
  next: ExistsStep | readonly Operand[],
  accesses: QueryAccess,
): boolean {
  const access = accesses.get(target);
  if (!access) return false;
  if ('relation' in next) return has(access.readable, topOf(next.joinPath[0] ?? next.relation));
  return next.every(({ joinPath: [first], column }) =>
    first ? has(access.readable, topOf(first)) : isReadable(column.id, target, access.readable),
  );
}

function restrictedStep({ joinPath, relation }: ExistsStep, accesses: QueryAccess): ExistsStep | undefined {
  const pathGrants = conditionAlongPath(
    joinPath,
    (access) => has(access.readable, topOf(relation)),
    accesses,
  );
  const access = accesses.get(relation.target);
  if (!pathGrants || !access) return undefined;
  if (relation.kind !== 'many-to-many')
    return { joinPath, relation, pathGrants, grantCondition: access.grantCondition };
  const { resource, other } = relation.through;
  const through = accesses.get(resource);
  if (
    !through ||
    !other.every(({ localColumn: column }) => isReadable(column.id, resource, through.readable))
  )
    return undefined;
  return {
    joinPath,
    relation,
    pathGrants,
    grantCondition: access.grantCondition,
    through: through.grantCondition,
  };
}

/** The related rows that may match; undefined if the operand may not be read. */
function conditionOver({ joinPath, column }: Operand, accesses: QueryAccess): Condition | undefined {
  return conditionAlongPath(
    joinPath,
    (access, target) => isReadable(column.id, target, access.readable),
    accesses,
  );
}

/** The rows at the end of these relations that the caller may see, as a condition on the row they begin at; undefined if a step may not be read. */
export function conditionAlongPath(
  joinPath: readonly Relation[],
  isLastReadable: (access: Access, target: ResourceSchema) => boolean,
  accesses: QueryAccess,
): Condition | undefined {
  const conditions: Condition[] = [];
  for (const [index, hop] of joinPath.entries()) {
    const access = accesses.get(hop.target);
    if (!access) return undefined;
    const next = joinPath[index + 1];
    const readable = next ? has(access.readable, topOf(next)) : isLastReadable(access, hop.target);
    if (!readable) return undefined;
    conditions.push(prefixPath(joinPath.slice(0, index + 1), access.grantCondition));
  }
  return conjunction(conditions);
}

/** A condition of a related model, expressed on the model from which the path starts. */
function prefixPath(joinPath: readonly Relation[], condition: Condition): Condition {
  return mapComparisons(condition, (each) =>
    each.kind === 'related'
      ? { ...each, joinPath: [...joinPath, ...each.joinPath] }
      : {
          ...each,
          operand: { joinPath: [...joinPath, ...each.operand.joinPath], column: each.operand.column },
        },
  );
}
