import type { Authentication } from '../model/authentication.js';
import type { GuardLike } from '../model/guard.js';
import type { InterceptorLike } from '../model/interceptor.js';
import type { PipeLike } from '../model/pipe.js';
import type { Throttle } from '../model/throttle.js';
import type { FilterBackend } from '../model/filter-backend.js';
import type { Operation } from '../model/operation.js';
import type { PermissionExpression } from '../model/permission-expression.js';
import type { Lookup } from '../model/row-filter.js';
import type { Serializer } from '../model/serializer.js';

/** A class that Nest's injector can make. */
export type InjectableClass<Instance> = new (...dependencies: never[]) => Instance;

/** What a relation leads to, without the wrappers that TypeORM gives it. */
type Unwrapped<Value> =
  NonNullable<Value> extends Promise<infer Inner>
    ? Unwrapped<Inner>
    : NonNullable<Value> extends readonly (infer Item)[]
      ? NonNullable<Item>
      : NonNullable<Value>;

type Leaf = string | number | boolean | bigint | symbol | Date | Uint8Array | ((...args: never[]) => unknown);

/** Properties that are no methods. */
export type PropertyOf<Entity> = {
  [Name in keyof Entity & string]: NonNullable<Entity[Name]> extends (...args: never[]) => unknown ? never : Name;
}[keyof Entity & string];

/** A property, or one over relations and embedded objects with dots, three steps deep: `question.pub_date`. */
export type PathOf<Entity, Depth extends readonly unknown[] = [1, 1]> = {
  [Name in PropertyOf<Entity>]:
    | Name
    | (Unwrapped<Entity[Name]> extends Leaf
        ? never
        : Depth extends readonly [unknown, ...infer Rest]
          ? `${Name}.${PathOf<Unwrapped<Entity[Name]>, Rest>}`
          : never);
}[PropertyOf<Entity>];

type MethodOf<Entity> = {
  [Name in keyof Entity & string]: NonNullable<Entity[Name]> extends (...args: never[]) => unknown ? Name : never;
}[keyof Entity & string];

type Descending<Name extends string> = Name | `-${Name}`;
type Searched<Name extends string> = Name | `${'^' | '=' | '$' | '@'}${Name}`;

/**
 * What an author says of one entity. Every option is optional; wrong names refuse to start.
 *
 * | option | says |
 * |---|---|
 * | `app`, `name` | the two words of the path, lower case; `name` defaults to the class name in lower case |
 * | `fields`, `exclude` | which properties are exposed at all; default: all but `select: false` columns |
 * | `readOnly`, `writeOnly` | never taken from bodies; never shown, filtered, searched or ordered by |
 * | `optional` | may be left out of a POST or PUT, because a listener or a trigger fills them |
 * | `trim` | `{ body: false }` keeps the blanks around a text |
 * | `computed` | read-only fields from a function of the entity or one of its methods |
 * | `operations` | which of the six exist; default: all |
 * | `filterBackends` | classes, in order; default: `FieldFilter`, `SearchFilter`, `OrderingFilter` |
 * | `filterFields` | names, or lookups by name; default: all plain readable columns and forward relations, `exact` |
 * | `searchFields` | names, each with `^`, `=`, `$` or `@` before it where wanted; default: all readable texts |
 * | `orderingFields` | names a client may order by; default: as for filters |
 * | `ordering` | the order where the client asks for none |
 * | `strict` | unknown body fields and query parameters are errors |
 * | `serializer` | replaces the one that is compiled from the model |
 * | `permissions` | who may do what; all of them must say yes |
 * | `authentication` | how callers say who they are, in place of the prefix's own |
 * | `guards` | guards of Nest, by class, run when the permissions have said yes |
 * | `interceptors` | interceptors of Nest, by class, around whatever answers; lists are whole arrays to them |
 * | `pipes` | pipes of Nest, by class, over bodies, with the entity as their metatype, and over the parameters of lists |
 * | `throttle` | `{ limit, ttl }`: requests of one caller in so many milliseconds, counted by @nestjs/throttler's storage |
 * | `through` | the same options for a junction without a declaration of its own, by relation |
 */
export interface RestifyOptions<Entity extends object = any> { // eslint-disable-line @typescript-eslint/no-explicit-any -- the default stands for an entity that is not known yet
  readonly app?: string;
  readonly name?: string;
  readonly fields?: readonly PropertyOf<Entity>[];
  readonly exclude?: readonly PropertyOf<Entity>[];
  readonly readOnly?: readonly PropertyOf<Entity>[];
  readonly writeOnly?: readonly PropertyOf<Entity>[];
  readonly optional?: readonly PropertyOf<Entity>[];
  readonly trim?: { readonly [Name in PropertyOf<Entity>]?: boolean };
  readonly computed?: { readonly [name: string]: MethodOf<Entity> | ((entity: Entity) => unknown) };
  readonly operations?: readonly Operation[];
  readonly filterBackends?: readonly InjectableClass<FilterBackend>[];
  readonly filterFields?: readonly PathOf<Entity>[] | { readonly [Path in PathOf<Entity>]?: readonly Lookup[] };
  readonly searchFields?: readonly Searched<PathOf<Entity>>[];
  readonly orderingFields?: readonly PathOf<Entity>[];
  readonly ordering?: readonly Descending<PathOf<Entity>>[];
  readonly strict?: boolean;
  readonly serializer?: InjectableClass<Serializer>;
  readonly permissions?: readonly PermissionExpression[];
  readonly authentication?: readonly Authentication[];
  readonly guards?: readonly InjectableClass<GuardLike>[];
  readonly interceptors?: readonly InjectableClass<InterceptorLike>[];
  readonly pipes?: readonly InjectableClass<PipeLike>[];
  readonly throttle?: Throttle;
  readonly through?: { readonly [Name in PropertyOf<Entity>]?: ThroughOptions };
}

/** What rules the rows of a junction that has no declaration of its own, from both of its sides. */
export type ThroughOptions = Pick<RestifyOptions, 'permissions' | 'authentication' | 'guards' | 'interceptors' | 'pipes' | 'throttle' | 'operations' | 'filterBackends' | 'filterFields' | 'searchFields' | 'orderingFields' | 'ordering' | 'strict' | 'serializer'>;

/** What was declared of one entity, unchecked. `target` is its class, or its `EntitySchema`. */
export interface ResourceDeclaration {
  readonly target: object;
  /** The name in messages: the class's. */
  readonly name: string;
  readonly options: RestifyOptions;
}

/** The names of all options, for whoever was not stopped by TypeScript. */
export const OPTION_NAMES = [
  'app',
  'name',
  'fields',
  'exclude',
  'readOnly',
  'writeOnly',
  'optional',
  'trim',
  'computed',
  'operations',
  'filterBackends',
  'filterFields',
  'searchFields',
  'orderingFields',
  'ordering',
  'strict',
  'serializer',
  'permissions',
  'authentication',
  'guards',
  'interceptors',
  'pipes',
  'throttle',
  'through',
] as const satisfies readonly (keyof RestifyOptions)[];
