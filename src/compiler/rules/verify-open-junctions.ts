import type { RestifyOptions, ThroughOptions } from '../../decorators/restify-options.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { PermissionClass, PermissionExpression } from '../../core/contracts/permission-expression.js';
import type { CompiledModel } from '../compile-resources.js';
import { declarationsByEntity } from '../blueprint.js';
import type { CompilerInput, EntityDeclaration } from '../blueprint.js';
import { junctionEntities } from '../junction-entities.js';
import { isPassportGuard } from './late-auth-guards.js';

/** One side of a junction without its own declaration: the relation by which it is served. */
interface Side {
  readonly draft: EntityDeclaration;
  readonly path: string;
}

type ManyToMany = Extract<EntityDeclaration['entity']['relations'][number], { kind: 'many-to-many' }>;

/**
 * Requires explicit permissions for junctions without a declaration: the permissions of a model do not apply to the pairs of
 * its many-to-many relations, so that every caller could list and delete the pairs of protected models.
 */
export function verifyOpenJunctions(
  blueprint: CompilerInput,
  { resources }: CompiledModel,
): readonly DeclarationProblem[] {
  const { drafts, defaults, allowAny } = blueprint;
  const judged: Judged = {
    byEntity: declarationsByEntity(drafts),
    entities: junctionEntities(blueprint),
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
        : problemOf({ draft, path: relation.path }, relation, judged);
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

function problemOf(
  side: Side,
  { target, junction }: ManyToMany,
  { byEntity, entities, defaults, allowAny }: Judged,
): DeclarationProblem | undefined {
  const other = byEntity.get(target);
  if (!other || byEntity.has(entities.get(junction.entity) ?? '')) return undefined;
  const sides = [side, ...(junction.inverse === undefined ? [] : [{ draft: other, path: junction.inverse }])];
  const said = sides.map(throughOf);
  const permissions =
    said.find((options) => options.permissions !== undefined)?.permissions ?? defaults.permissions;
  const where = `${side.draft.declaration.name}.${side.path}`;
  const models = [side.draft, other].map(({ declaration }) => declaration);
  const guarded = models.find(({ options }) => isGuarded(options));
  if (guarded && permissions === undefined) {
    return {
      where,
      what: `everybody may list, add and remove its pairs, though ${guarded.name} has ${protectionOf(guarded.options)}`,
      repair: `${repairs(side, 'permissions', '[…]')}; [AllowAny] says that it is meant.`,
    };
  }
  const authenticated = models.find(
    ({ options }) => isGiven(options.authentication) || hasAuthGuard(options),
  );
  const reached = [...said, defaults].some(
    (options) => options.authentication !== undefined || hasAuthGuard(options),
  );
  if (!authenticated || reached || !permissions?.some((each) => needsActor(each, allowAny))) return undefined;
  const option = isGiven(authenticated.options.authentication) ? 'authentication' : 'guards';
  return {
    where,
    what: `its permissions ask who is calling, and the ${option === 'guards' ? 'AuthGuard' : 'authentication'} of ${authenticated.name} does not reach its pairs`,
    repair: `${repairs(side, option, '[…]')}.`,
  };
}

/** Applies to entities of other packages too, whose options the application declares itself or through the prefix. */
function repairs({ draft, path }: Side, option: string, value: string): string {
  const { name } = draft.declaration;
  const given = `${option}: ${value}`;
  return `Write through: { ${path}: { ${given} } } where ${name} is declared, by @Restify or restify(${name}, …), or RestifyModule.forRoot(prefix, { ${given} })`;
}

function throughOf({ draft, path }: Side): ThroughOptions {
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
