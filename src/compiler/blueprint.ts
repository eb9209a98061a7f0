import type { ControllerDeclaration } from '../decorators/action.decorator.js';
import type { ResourceDeclaration } from '../decorators/restify-options.js';
import type { EntityDescription, ModelDescription } from '../core/schema/entity-metadata.js';
import type { PermissionClass } from '../core/contracts/permission-expression.js';
import type { RestifyDefaults } from '../restify.options.js';

/** A declared entity and what the data source says of it: what verifying judges and compiling builds from. */
export interface EntityDeclaration {
  readonly declaration: ResourceDeclaration;
  readonly entity: EntityDescription;
  /** The label that the declaration or `forFeature` gives; undefined where none does. */
  readonly app: string | undefined;
  readonly model: string;
}

/** Everything that one prefix is made from. */
export interface CompilerInput {
  readonly prefix: string;
  /** Prefixes that other `forRoot` calls of the same application have claimed. */
  readonly takenPrefixes: readonly string[];
  readonly description: ModelDescription;
  readonly drafts: readonly EntityDeclaration[];
  readonly defaults: RestifyDefaults;
  /** As `forRoot` has them, unchecked. */
  readonly errorFormat: unknown;
  readonly refusalsHide: unknown;
  /** The permission that lets everybody in: all others may ask who is calling. */
  readonly allowAny: PermissionClass;
  readonly acquireTimeout: number;
  readonly authenticationTimeout: number;
  /** As `forRoot` has it, unchecked. */
  readonly authenticationThrottle: unknown;
  readonly statementTimeout: number | undefined;
  readonly shutdownGrace: unknown;
  /** Declared classes that an application lists, as entity or for a label, and what is wrong with them is not yet known. */
  readonly listed: readonly ListedClass[];
  /** Controller classes of the process that join an entity which this prefix serves, and how many modules of the application list them; `wraps`: interceptors of the class stand around generated answers. */
  readonly controllers: readonly {
    readonly declaration: ControllerDeclaration;
    readonly listedIn: number;
    readonly wraps: boolean;
  }[];
  /** Declarations that were there when Nest read the controllers. */
  readonly laidOut: ReadonlySet<object>;
}

/** A class that this application names itself. */
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
