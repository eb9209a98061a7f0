import type {
  CompiledPermission,
  PermissionClass,
  PermissionExpression,
  Permission,
} from '../core/contracts/permission.js';
import type { FilterBackend } from '../core/contracts/filters.js';
import type { ResourceHooks } from '../core/contracts/hooks.js';
import type { Recording } from '../core/query/plan.js';
import type { InterceptorLike, Piping } from '../core/contracts/enhancers.js';
import type { RequestCounter } from '../core/contracts/throttle.js';
import type { EntityDescription, ModelDescription } from '../core/schema/entity-metadata.js';
import type { Resource, ResourceSerializer } from '../core/schema/resource.js';
import type { ControllerDeclaration } from '../decorators/action.decorator.js';
import type { ResourceDeclaration } from '../decorators/model-options.js';
import type { RestifyDefaults } from '../restify.options.js';
import type { EffectiveOptions } from './effective-options.js';

/** A declared entity with its metadata in the data source: the input of verification and compilation. */
export interface EntityDeclaration {
  readonly declaration: ResourceDeclaration;
  readonly entity: EntityDescription;
  /** The app label of the declaration or of `forFeature`; undefined without either. */
  readonly app: string | undefined;
  readonly model: string;
}

/** The input of the compilation of one prefix. */
export interface CompilerInput {
  readonly prefix: string;
  /** Prefixes that other `forRoot` calls of the same application have claimed. */
  readonly takenPrefixes: readonly string[];
  readonly description: ModelDescription;
  readonly declarations: readonly EntityDeclaration[];
  readonly defaults: RestifyDefaults;
  /** The arguments of `forRoot`, not yet validated. */
  readonly given: { readonly prefix: unknown; readonly options: object };
  /** The permission that allows every caller: all others may depend on the actor. */
  readonly allowAny: PermissionClass;
  /** Declared classes that the application lists as entities or for a label, not yet validated. */
  readonly listed: readonly ListedClass[];
  /** Controller classes of the process that join an entity which this prefix serves, and how many modules of the application list them; `wraps`: the class has interceptors, which run around generated operations. */
  readonly controllers: readonly {
    readonly declaration: ControllerDeclaration;
    readonly listedIn: number;
    readonly wraps: boolean;
  }[];
  /** Declarations that existed when Nest read the controllers. */
  readonly laidOut: ReadonlySet<object>;
}

/** A class that the application lists itself. */
export interface ListedClass {
  readonly target: object;
  readonly name: string;
  /** `TypeOrmModule`'s `entities`, or `RestifyModule.forFeature("polls")`. */
  readonly listedIn: string;
  readonly declared: boolean;
}

/** Drafts by the adapter's name of their entity. */
export function declarationsByEntity(
  declarations: readonly EntityDeclaration[],
): ReadonlyMap<string, EntityDeclaration> {
  return new Map(declarations.map((draft) => [draft.entity.id, draft]));
}

/** The instances of a declaration's classes, as resolved by Nest's injector. */
export interface ResourceParts {
  backends(options: EffectiveOptions): readonly FilterBackend[];
  serializer(options: EffectiveOptions): ResourceSerializer;
  permission(options: EffectiveOptions): CompiledPermission;
  permissions(permissions: readonly PermissionExpression[]): CompiledPermission;
  /** Authentication schemes and guards; a guard is one of the schemes or runs after the permission. */
  authentication(options: EffectiveOptions): Pick<Resource, 'schemes' | 'guards' | 'lateGuards'>;
  /** Whether failed authentications are rate-limited. */
  readonly refusalsThrottled: boolean;
  interceptors(options: EffectiveOptions): readonly InterceptorLike[];
  /** `target` is the entity's class, if it has one. */
  piping(options: EffectiveOptions, target: object | undefined): Piping | undefined;
  /** The hooks of the prefix and of an application's controller class in an entity's operations. */
  hooks(target: object | undefined): {
    readonly hooks: ResourceHooks;
    readonly scope: Permission | undefined;
  };
  /** The same for all views of one entity; undefined if no `afterCommit` is called for its writes. */
  recording(resource: Resource, target: object | undefined): Recording | undefined;
  /** Set if the model has a throttle. */
  readonly counter?: RequestCounter;
}
