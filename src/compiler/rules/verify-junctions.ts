import type { PermissionClass, PermissionExpression } from '../../core/contracts/permission.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type {
  EntityDescription,
  JunctionDescription,
  ManyToManyDescription,
  ModelDescription,
} from '../../core/schema/entity-metadata.js';
import type { RestifyOptions, ThroughOptions } from '../../decorators/model-options.js';
import type { CompiledModel } from '../compile-resources.js';
import { declarationsByEntity } from '../compiler-input.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { junctionEntities, missingColumns } from '../junction-entities.js';
import { problem } from './problems.js';
import type { Problems } from './problems.js';
import { isPassportGuard } from './unfit-scheme.js';

/** An entity on a junction's table whose options would have no effect, because it lacks the junction's columns. */
interface UnusableJunction {
  readonly junction: JunctionDescription;
  readonly entity: EntityDescription;
  readonly declared: boolean;
}

/** Verifies that a declared entity on the table of a served junction has the junction's columns: else its permissions would not apply there. */
export function* verifyJunctions(input: CompilerInput, model: CompiledModel): Problems {
  for (const { junction, entity, declared } of unfitEntities(input, model))
    if (declared)
      yield problem(
        junction.declaredAt,
        `its join table is the table of the entity ${entity.name}, ${missingOf(junction, entity)}`,
        `Name the entity's columns in joinColumn and inverseJoinColumn; known there: ${entity.columns.map((column) => `"${column.id}"`).join(', ')}. Or leave the relation out: exclude: ['${junction.ownerProperty}'].`,
      );
}

/** Warnings about served junctions, which do not prevent the start. */
export function* junctionWarnings(input: CompilerInput, model: CompiledModel): Iterable<string> {
  for (const { junction, entity, declared } of unfitEntities(input, model))
    if (!declared)
      yield `${junction.declaredAt}: its join table is the table of the entity ${entity.name}, ${missingOf(junction, entity)}. It is served as a pair of keys.`;
  for (const { declaredAt, conflict } of servedJunctions(input, model))
    if (conflict) {
      const lost = `column${conflict.lost.length > 1 ? 's' : ''} ${conflict.lost.map((name) => `"${name}"`).join(', ')}`;
      yield `${declaredAt}: its join table is also the table of the entity ${conflict.entity}. At each start \`synchronize\` of the data source drops the ${lost} and adds them again, and what they hold is lost. Add synchronize: false to its @JoinTable, or turn \`synchronize\` of the data source off.`;
    }
}

/** Junctions with which TypeORM's `synchronize` fails. */
export function* failingJunctions({ entities }: ModelDescription): Problems {
  const junctions = new Map(
    entities
      .flatMap(({ relations }) => relations.filter(isManyToMany))
      .map(({ junction }) => [junction.declaredAt, junction]),
  );
  for (const { declaredAt, conflict } of junctions.values())
    if (conflict?.fails === true)
      yield problem(
        declaredAt,
        `its join table is also the table of the entity ${conflict.entity}, which has another key, and \`synchronize\` of the data source fails with both`,
        'Add synchronize: false to its @JoinTable. Where the entities are not yours, turn `synchronize` of the data source off and write migrations.',
      );
}

function missingOf(junction: JunctionDescription, entity: EntityDescription): string {
  const missing = missingColumns(junction, entity).map((name) => `"${name}"`);
  return `which has no column ${missing.join(' and no ')}`;
}

function isManyToMany(relation: EntityDescription['relations'][number]): relation is ManyToManyDescription {
  return relation.kind === 'many-to-many';
}

/** The junctions of exposed relations, each once. */
function servedJunctions(
  { declarations }: CompilerInput,
  { resources }: CompiledModel,
): readonly JunctionDescription[] {
  const shown = new Map(
    resources.map(({ entity, nested }) => [entity, new Set(nested.map(({ name }) => name))]),
  );
  const junctions = new Map<string, JunctionDescription>();
  for (const { entity } of declarations)
    for (const relation of entity.relations.filter(isManyToMany))
      if (shown.get(entity.id)?.has(relation.path) === true)
        junctions.set(relation.junction.declaredAt, relation.junction);
  return [...junctions.values()];
}

/** Junctions without a matching entity, and declared entities that do not match. */
function unfitEntities(input: CompilerInput, model: CompiledModel): readonly UnusableJunction[] {
  const through = junctionEntities(input);
  const entities = new Map(input.description.entities.map((entity) => [entity.id, entity]));
  const declared = new Set(input.declarations.map(({ entity }) => entity.id));
  return servedJunctions(input, model).flatMap((junction) =>
    junction.mappedBy.flatMap((id): readonly UnusableJunction[] => {
      const entity = entities.get(id);
      if (!entity || missingColumns(junction, entity).length === 0) return [];
      const matters = declared.has(id) || !through.has(junction.entity);
      return matters ? [{ junction, entity, declared: declared.has(id) }] : [];
    }),
  );
}

/** Verifies that `through` refers to many-to-many relations without a declaration of the junction's entity. */
export function* verifyThrough(input: CompilerInput): Problems {
  const entities = junctionEntities(input);
  for (const draft of input.declarations) {
    const { declaration, entity } = draft;
    const known = entity.relations.filter(isManyToMany);
    for (const name of Object.keys(declaration.options.through ?? {})) {
      const where = `${declaration.name}.through.${name}`;
      const relation = known.find((each) => each.path === name);
      const own = input.declarations.find(
        (each) => each.entity.id === entities.get(relation?.junction.entity ?? ''),
      );
      const other = input.declarations.find((each) => each.entity.id === relation?.target);
      if (!relation)
        yield problem(
          where,
          `"${name}" is not a many-to-many relation of ${declaration.name}`,
          didYouMean(
            name,
            known.map((each) => each.path),
          ),
        );
      else if (own)
        yield problem(
          where,
          `its junction has a declaration of its own, on ${own.declaration.name}`,
          `Give these options to @Restify on ${own.declaration.name}.`,
        );
      else if (other && relation.junction.inverse !== undefined)
        yield* duplicateThrough({ draft, name }, { draft: other, name: relation.junction.inverse });
    }
  }
}

interface ThroughSide {
  readonly draft: EntityDeclaration;
  readonly name: string;
}

/** Rejects an option that is given on both sides of a junction. */
function* duplicateThrough(here: ThroughSide, there: ThroughSide): Problems {
  const optionsOf = ({ draft, name }: ThroughSide): object =>
    (draft.declaration.options.through as Readonly<Record<string, object>> | undefined)?.[name] ?? {};
  if (here.draft === there.draft && here.name === there.name) return;
  for (const option of Object.keys(optionsOf(here)))
    if (Object.hasOwn(optionsOf(there), option))
      yield problem(
        `${here.draft.declaration.name}.through.${here.name}.${option}`,
        `${there.draft.declaration.name}.through.${there.name} configures it too, and both use the same junction`,
        'Give it on one side: it holds for both.',
      );
}

/** One side of a junction without its own declaration: the relation by which it is served. */
interface JunctionSide {
  readonly draft: EntityDeclaration;
  readonly path: string;
}

type ManyToMany = Extract<EntityDeclaration['entity']['relations'][number], { kind: 'many-to-many' }>;

/**
 * Requires explicit permissions for junctions without a declaration: the permissions of a model do not apply to the pairs of
 * its many-to-many relations, so that every caller could list and delete the pairs of protected models.
 */
export function verifyOpenJunctions(
  input: CompilerInput,
  { resources }: CompiledModel,
): readonly DeclarationProblem[] {
  const { declarations, defaults, allowAny } = input;
  const judged: Judged = {
    byEntity: declarationsByEntity(declarations),
    entities: junctionEntities(input),
    defaults,
    allowAny,
  };
  const served = new Map(
    resources.map(({ entity, nested }) => [entity, new Set(nested.map(({ name }) => name))]),
  );
  const found = new Map<string, DeclarationProblem>();
  for (const draft of declarations) {
    for (const relation of draft.entity.relations) {
      if (relation.kind !== 'many-to-many' || served.get(draft.entity.id)?.has(relation.path) !== true)
        continue;
      const { declaredAt } = relation.junction;
      const problem = found.has(declaredAt)
        ? undefined
        : openJunctionProblem({ draft, path: relation.path }, relation, judged);
      if (problem) found.set(declaredAt, problem);
    }
  }
  return [...found.values()];
}

interface Judged extends Pick<CompilerInput, 'defaults' | 'allowAny'> {
  readonly byEntity: ReadonlyMap<string, EntityDeclaration>;
  /** The entities of junctions. */
  readonly entities: ReadonlyMap<string, string>;
}

function openJunctionProblem(
  side: JunctionSide,
  { target, junction }: ManyToMany,
  { byEntity, entities, defaults, allowAny }: Judged,
): DeclarationProblem | undefined {
  const other = byEntity.get(target);
  if (!other || byEntity.has(entities.get(junction.entity) ?? '')) return undefined;
  const sides = [side, ...(junction.inverse === undefined ? [] : [{ draft: other, path: junction.inverse }])];
  const declared = sides.map(throughOf);
  const permissions =
    declared.find((options) => options.permissions !== undefined)?.permissions ?? defaults.permissions;
  const models = [side.draft, other].map(({ declaration }) => declaration);
  return (
    unprotectedProblem(side, models, permissions) ??
    anonymousProblem(side, models, {
      isAuthenticated: [...declared, defaults].some(authenticates),
      needsActor: permissions?.some((each) => needsActor(each, allowAny)) === true,
    })
  );
}

type Declaration = EntityDeclaration['declaration'];

/** One of the models is protected, and the pairs are not. */
function unprotectedProblem(
  side: JunctionSide,
  models: readonly Declaration[],
  permissions: readonly PermissionExpression[] | undefined,
): DeclarationProblem | undefined {
  const guarded = models.find(({ options }) => isGuarded(options));
  if (!guarded || permissions !== undefined) return undefined;
  return {
    where: nameOf(side),
    what: `anyone may list, add and remove its rows, although ${guarded.name} has ${protectionOf(guarded.options)}`,
    repair: `${repairs(side, 'permissions', '[…]')}; name [AllowAny] if this is intended.`,
  };
}

/** One of the models authenticates callers, and the pairs do not, although their permissions need the actor. */
function anonymousProblem(
  side: JunctionSide,
  models: readonly Declaration[],
  pairs: { readonly isAuthenticated: boolean; readonly needsActor: boolean },
): DeclarationProblem | undefined {
  const authenticated = models.find(
    ({ options }) => isGiven(options.authentication) || hasAuthGuard(options),
  );
  if (!authenticated || pairs.isAuthenticated || !pairs.needsActor) return undefined;
  const option = isGiven(authenticated.options.authentication) ? 'authentication' : 'guards';
  return {
    where: nameOf(side),
    what: `its permissions depend on the caller, but the ${option === 'guards' ? 'AuthGuard' : 'authentication'} of ${authenticated.name} does not protect its rows`,
    repair: `${repairs(side, option, '[…]')}.`,
  };
}

function nameOf({ draft, path }: JunctionSide): string {
  return `${draft.declaration.name}.${path}`;
}

function authenticates(options: Pick<RestifyOptions, 'authentication' | 'guards'>): boolean {
  return options.authentication !== undefined || hasAuthGuard(options);
}

/** Applies to entities of other packages too, whose options the application declares itself or through the prefix. */
function repairs({ draft, path }: JunctionSide, option: string, value: string): string {
  const { name } = draft.declaration;
  const given = `${option}: ${value}`;
  return `Write through: { ${path}: { ${given} } } where ${name} is declared, by @Restify or restify(${name}, …), or RestifyModule.forRoot(prefix, { ${given} })`;
}

function throughOf({ draft, path }: JunctionSide): ThroughOptions {
  const through = draft.declaration.options.through as Readonly<Record<string, ThroughOptions>> | undefined;
  return through?.[path] ?? {};
}

function isGuarded({ permissions, authentication, guards }: RestifyOptions): boolean {
  return [permissions, authentication, guards].some(isGiven);
}

function protectionOf(options: RestifyOptions): string {
  return (
    (['permissions', 'authentication', 'guards'] as const).find((name) => isGiven(options[name])) ??
    'permissions'
  );
}

/** It is unknown whether other guards authenticate. */
function hasAuthGuard({ guards }: Pick<RestifyOptions, 'guards'>): boolean {
  return guards?.some(isPassportGuard) === true;
}

function isGiven(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}

/** Custom permission classes are assumed to check the actor. */
function needsActor(permission: PermissionExpression, allowAny: PermissionClass): boolean {
  if (typeof permission === 'function') return permission !== allowAny;
  switch (permission.kind) {
    case 'all-of':
      return permission.permissions.some((each) => needsActor(each, allowAny));
    case 'any-of':
      return permission.permissions.every((each) => needsActor(each, allowAny));
    case 'not-permission':
      return true;
    default:
      return permission satisfies never;
  }
}
