import type { RestifyOptions, ThroughOptions } from '../../decorators/model-options.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { PermissionClass, PermissionExpression } from '../../core/contracts/permission-expression.js';
import type { CompiledModel } from '../compile-resources.js';
import { declarationsByEntity } from '../compiler-input.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { junctionEntities } from '../junction-entities.js';
import { isPassportGuard } from './late-auth-guards.js';

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
  const { drafts, defaults, allowAny } = input;
  const judged: Judged = {
    byEntity: declarationsByEntity(drafts),
    entities: junctionEntities(input),
    defaults,
    allowAny,
  };
  const served = new Map(
    resources.map(({ entity, nested }) => [entity, new Set(nested.map(({ name }) => name))]),
  );
  const found = new Map<string, DeclarationProblem>();
  for (const draft of drafts) {
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
    repair: `${repairs(side, 'permissions', '[…]')}; [AllowAny] says that it is meant.`,
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
