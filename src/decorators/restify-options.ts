import type { Authentication } from '../core/contracts/authentication.js';
import type { BulkOptions } from '../core/contracts/bulk.js';
import type { ConditionalOptions } from '../core/contracts/conditional.js';
import type { IdempotencyOptions } from '../core/contracts/idempotency.js';
import type { FieldType } from '../core/schema/field-type.js';
import type { GuardLike } from '../core/contracts/guard.js';
import type { InterceptorLike } from '../core/contracts/interceptor.js';
import type { PipeLike } from '../core/contracts/pipe.js';
import type { Throttle } from '../core/contracts/throttle.js';
import type { FilterBackend } from '../core/contracts/filter-backend.js';
import type { QueryLimits } from '../core/schema/limits.js';
import type { Operation } from '../core/schema/operation.js';
import type { CustomFilter } from '../core/contracts/custom-filter.js';
import type { ParameterNames } from '../core/schema/parameter-names.js';
import type { Pagination } from '../core/contracts/pagination.js';
import type { Renderer } from '../core/contracts/renderer.js';
import type { PermissionExpression } from '../core/contracts/permission-expression.js';
import type { Lookup } from '../core/query/row-filter.js';
import type { Serializer } from '../core/contracts/serializer.js';
import type { FieldSelectionOptions } from '../core/contracts/field-selection.js';

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
  [Name in keyof Entity & string]: NonNullable<Entity[Name]> extends (...args: never[]) => unknown
    ? never
    : Name;
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
  [Name in keyof Entity & string]: NonNullable<Entity[Name]> extends (...args: never[]) => unknown
    ? Name
    : never;
}[keyof Entity & string];

/** What stands at the end of a path; what many lead to counts as one of them. */
export type ValueAt<Entity, Path extends string> = Path extends `${infer Name}.${infer Rest}`
  ? Name extends keyof Entity
    ? ValueAt<Unwrapped<Entity[Name]>, Rest>
    : never
  : Path extends keyof Entity
    ? Unwrapped<Entity[Path]>
    : never;

type TextLookup =
  'iexact' | 'contains' | 'icontains' | 'startswith' | 'istartswith' | 'endswith' | 'iendswith';
type OrderLookup = 'gt' | 'gte' | 'lt' | 'lte' | 'range';

/**
 * Lookups that a value of this type can have, as far as the type tells: a text may be a date or a bigint, and an object the
 * application's own kind of value. Boot knows the column.
 */
export type LookupOf<Value> = [Value] extends [boolean]
  ? Exclude<Lookup, TextLookup | OrderLookup>
  : [Value] extends [string]
    ? Lookup
    : Exclude<Lookup, TextLookup>;

/** `never`, `any` and `unknown` say nothing of a value. */
type LookupAt<Entity, Path extends string> = [ValueAt<Entity, Path>] extends [never]
  ? Lookup
  : object extends ValueAt<Entity, Path>
    ? Lookup
    : LookupOf<ValueAt<Entity, Path>>;

/** Relations with dots between them. What stands behind a many-to-many are fields of its through objects, which no type knows: boot looks. */
export type ExpandPathOf<Entity> = PropertyOf<Entity> | `${PropertyOf<Entity>}.${string}`;

type Descending<Name extends string> = Name | `-${Name}`;
/** Where nulls stand, in place of where the database puts them. */
type WithNulls<Name extends string> = Name | `${Name} nulls first` | `${Name} nulls last`;
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
 * | `type` | `{ tags: 'string[]' }`: what the values of a field are, where a transformer of its column makes them |
 * | `listenerRelations` | relations that listeners and subscribers read: their objects are loaded for each write; with dots, what lies behind them |
 * | `computed` | read-only fields from a function of the entity or one of its methods |
 * | `operations` | which of the six exist; default: all |
 * | `filterBackends` | classes, in order; default: `FieldFilter`, `SearchFilter`, `OrderingFilter` |
 * | `filterFields` | names, or lookups by name; default: all plain readable columns and forward relations, `exact` |
 * | `filterGroups` | `filter=or(…)`, `and(…)`, `not(…)` over the same filters |
 * | `filters` | lookups and filters of one's own, by parameter: a type, the fields that they tell of, and a function |
 * | `searchFields` | names, each with `^`, `=`, `$` or `@` before it where wanted; default: all readable texts |
 * | `orderingFields` | names a client may order by, each with ` nulls first` or ` nulls last` where wanted; default: as for filters |
 * | `orderingNulls` | clients may say where nulls stand: `ordering=-votes.nullslast` |
 * | `ordering` | the order where the client asks for none, with ` nulls first` or ` nulls last` where wanted |
 * | `queryLimits` | what one query may ask for, by name; docs/limits.md has the defaults |
 * | `parameters` | other names for query parameters: `{ search: 'q' }`; those that it does not name are as the prefix says |
 * | `pagination` | how lists are cut into pages, in place of the prefix's; `false`: they are whole |
 * | `renderers` | forms of rows beside JSON, such as `new CsvRenderer()`, in place of the prefix's |
 * | `shape` | clients choose fields, by `fields` and `omit`; an object names the parameters and bounds |
 * | `expandable` | relations that clients may ask for as objects, by `expand`; with dots, three deep |
 * | `conditional` | objects have an `ETag`, and requests for them may be conditional; `false`: not, whatever the prefix says |
 * | `cacheControl` | the `Cache-Control` of what is read; `false`: none |
 * | `bulk` | one request may write many objects: a POST of a list, a PATCH or DELETE of the list's URL; an object says which, and how many |
 * | `idempotency` | a POST with an `Idempotency-Key` is done once, however often it comes; `false`: not, whatever the prefix says |
 * | `returnDeleted` | DELETE of an object answers 200 with the object that is gone, and not 204 |
 * | `strict` | unknown body fields and query parameters are errors |
 * | `serializer` | replaces the one that is compiled from the model |
 * | `permissions` | who may do what; all of them must say yes |
 * | `authentication` | how callers say who they are, in place of the prefix's own: schemes, and guards of Nest by class |
 * | `guards` | guards of Nest, by class, run when the permissions have said yes; before them where no `authentication` is named |
 * | `interceptors` | interceptors of Nest, by class, around whatever answers; lists are whole arrays, or pages, to them |
 * | `pipes` | pipes of Nest, by class, over bodies, with the entity as their metatype, and over the parameters of lists |
 * | `throttle` | `{ limit, ttl }`: requests of one caller in so many milliseconds, counted by @nestjs/throttler's storage |
 * | `through` | the same options for a junction without a declaration of its own, by relation |
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the default stands for an entity that is not known yet
export interface RestifyOptions<Entity extends object = any> {
  readonly app?: string;
  readonly name?: string;
  readonly fields?: readonly PropertyOf<Entity>[];
  readonly exclude?: readonly PropertyOf<Entity>[];
  readonly readOnly?: readonly PropertyOf<Entity>[];
  readonly writeOnly?: readonly PropertyOf<Entity>[];
  readonly optional?: readonly PropertyOf<Entity>[];
  readonly trim?: { readonly [Name in PropertyOf<Entity>]?: boolean };
  readonly type?: { readonly [Path in PathOf<Entity>]?: FieldType };
  readonly listenerRelations?: readonly ExpandPathOf<Entity>[];
  readonly computed?: { readonly [name: string]: MethodOf<Entity> | ((entity: Entity) => unknown) };
  readonly operations?: readonly Operation[];
  readonly filterBackends?: readonly InjectableClass<FilterBackend>[];
  readonly filterFields?:
    readonly PathOf<Entity>[] | { readonly [Path in PathOf<Entity>]?: readonly LookupAt<Entity, Path>[] };
  readonly filterGroups?: boolean;
  readonly filters?: { readonly [parameter: string]: CustomFilter<PathOf<Entity>> };
  readonly searchFields?: readonly Searched<PathOf<Entity>>[];
  readonly orderingFields?: readonly WithNulls<PathOf<Entity>>[];
  readonly orderingNulls?: boolean;
  readonly ordering?: readonly WithNulls<Descending<PathOf<Entity>>>[];
  readonly queryLimits?: Partial<QueryLimits>;
  readonly parameters?: ParameterNames;
  readonly pagination?: Pagination | false;
  readonly renderers?: readonly Renderer[];
  readonly shape?: boolean | FieldSelectionOptions;
  readonly expandable?: readonly ExpandPathOf<Entity>[];
  readonly conditional?: boolean | ConditionalOptions;
  readonly cacheControl?: string | false;
  readonly bulk?: boolean | (BulkOptions & { readonly upsert?: readonly PropertyOf<Entity>[] });
  readonly idempotency?: boolean | IdempotencyOptions;
  readonly returnDeleted?: boolean;
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
export type ThroughOptions = Omit<
  RestifyOptions,
  | 'app'
  | 'name'
  | 'fields'
  | 'exclude'
  | 'readOnly'
  | 'writeOnly'
  | 'optional'
  | 'trim'
  | 'type'
  | 'listenerRelations'
  | 'computed'
  | 'through'
>;

/** What was declared of one entity, unchecked. `target` is its class, or its `EntitySchema`. */
export interface ResourceDeclaration {
  readonly target: object;
  /** The name in messages: the class's. */
  readonly name: string;
  readonly options: RestifyOptions;
}
