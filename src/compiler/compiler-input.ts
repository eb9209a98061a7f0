import type { ControllerDeclaration } from '../decorators/action.decorator.js';
import type { ResourceDeclaration } from '../decorators/model-options.js';
import type { EntityDescription, ModelDescription } from '../core/schema/entity-metadata.js';
import type { PermissionClass } from '../core/contracts/permission-expression.js';
import type { RestifyDefaults } from '../restify.options.js';

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
  readonly drafts: readonly EntityDeclaration[];
  readonly defaults: RestifyDefaults;
  /** The options of `forRoot`, not yet validated. */
  readonly errorFormat: unknown;
  readonly refusalsHide: unknown;
  /** The permission that allows every caller: all others may depend on the actor. */
  readonly allowAny: PermissionClass;
  readonly acquireTimeout: number;
  readonly authenticationTimeout: number;
  /** The option of `forRoot`, not yet validated. */
  readonly authenticationThrottle: unknown;
  readonly statementTimeout: number | undefined;
  readonly shutdownGrace: unknown;
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
  drafts: readonly EntityDeclaration[],
): ReadonlyMap<string, EntityDeclaration> {
  return new Map(drafts.map((draft) => [draft.entity.id, draft]));
}
