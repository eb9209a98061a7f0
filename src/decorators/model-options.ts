import type { AggregateOptions } from '../core/contracts/aggregates.js';
import type { Authentication } from '../core/contracts/authentication.js';
import type { BulkOptions } from '../core/contracts/bulk.js';
import type { ConditionalOptions } from '../core/contracts/conditional.js';
import type { IdempotencyOptions } from '../core/contracts/idempotency.js';
import type { FieldType } from '../core/schema/field-type.js';
import type { GuardLike, InterceptorLike, PipeLike } from '../core/contracts/enhancers.js';
import type { Throttle } from '../core/contracts/throttle.js';
import type { FilterBackend, CustomFilter } from '../core/contracts/filters.js';
import type { NestedVerb } from '../core/schema/field.js';
import type { QueryLimits } from '../core/schema/limits.js';
import type { OperationName } from '../core/schema/operation.js';
import type { PathOf, PropertyOf, Unwrapped } from '../core/schema/entity-paths.js';
import type { ParameterNames } from '../core/schema/resource-schema.js';
import type { Pagination } from '../core/contracts/pagination.js';
import type { ModelLabels } from '../core/schema/object-label.js';
import type { Renderer } from '../core/contracts/renderer.js';
import type { PermissionExpression } from '../core/contracts/permission.js';
import type { Lookup, OrderLookup, TextLookup } from '../core/query/lookups.js';
import type { Serializer } from '../core/contracts/serializer.js';
import type { FieldSelectionOptions } from '../core/contracts/field-selection.js';

/** A class that Nest's injector can instantiate. */
export type InjectableClass<Instance> = new (...dependencies: never[]) => Instance;

type MethodOf<Entity> = {
  [Name in keyof Entity & string]: NonNullable<Entity[Name]> extends (...args: never[]) => unknown
    ? Name
    : never;
}[keyof Entity & string];

/** The type at the end of a path; for a to-many relation, of one related object. */
export type ValueAt<Entity, Path extends string> = Path extends `${infer Name}.${infer Rest}`
  ? Name extends keyof Entity
    ? ValueAt<Unwrapped<Entity[Name]>, Rest>
    : never
  : Path extends keyof Entity
    ? Unwrapped<Entity[Path]>
    : never;

/**
 * The lookups of a value of this type, as far as the type determines them: a text may be a date or a bigint, and an object a
 * custom value. The verification at start knows the column.
 */
export type LookupOf<Value> = [Value] extends [boolean]
  ? Exclude<Lookup, TextLookup | OrderLookup>
  : [Value] extends [string]
    ? Lookup
    : Exclude<Lookup, TextLookup>;

/** `never`, `any` and `unknown` do not determine the type of a value. */
type LookupAt<Entity, Path extends string> = [ValueAt<Entity, Path>] extends [never]
  ? Lookup
  : object extends ValueAt<Entity, Path>
    ? Lookup
    : LookupOf<ValueAt<Entity, Path>>;

/** Dotted paths of relations. Fields of through objects after a many-to-many have no static type: the verification at start checks them. */
export type ExpandPathOf<Entity> = PropertyOf<Entity> | `${PropertyOf<Entity>}.${string}`;

type Descending<Name extends string> = Name | `-${Name}`;
/** The position of nulls in an order, instead of the database's default. */
type WithNulls<Name extends string> = Name | `${Name} nulls first` | `${Name} nulls last`;
type Searched<Name extends string> = Name | `${'^' | '=' | '$' | '@'}${Name}`;

/**
 * The options of one entity. All are optional; unknown names prevent the start.
 *
 * | option | meaning |
 * |---|---|
 * | `app`, `name` | the two words of the path, lower case; `name` defaults to the class name in lower case |
 * | `description` | what its objects are, for clients: in OPTIONS, the OpenAPI document and on the browsable page |
 * | `label` | how its objects are named to people: a field, or fields in braces such as `{first_name} {last_name}` |
 * | `labels` | the names of one and of many objects to people: `{ one: 'Category', many: 'Categories' }`; default: the name of the class |
 * | `fields`, `exclude` | which properties are exposed at all; default: all but `select: false` columns |
 * | `readOnly`, `writeOnly` | never read from bodies; never shown, filtered, searched or ordered by |
 * | `optional` | may be omitted in a POST or PUT, because a listener or a trigger sets them |
 * | `trim` | `{ body: false }` keeps whitespace around a text |
 * | `type` | `{ tags: 'string[]' }`: the type of a field whose column has a transformer |
 * | `listenerRelations` | relations, or dotted paths, that listeners and subscribers read: their objects are loaded for each write |
 * | `computed` | read-only fields from a function of the entity or one of its methods |
 * | `operations` | the available ones of the six operations; default: all |
 * | `filterBackends` | classes, in order; default: `FieldFilter`, `SearchFilter`, `OrderingFilter` |
 * | `filterFields` | names, or lookups by name; default: all plain readable columns and forward relations, `exact` |
 * | `filterGroups` | `filter=or(…)`, `and(…)`, `not(…)` over the same filters |
 * | `filters` | custom lookups and filters by parameter: a type, the fields that they reveal, and a function |
 * | `searchFields` | names, optionally prefixed by `^`, `=`, `$` or `@`; default: all readable texts |
 * | `orderingFields` | names by which clients may order, optionally with ` nulls first` or ` nulls last`; default: as for filters |
 * | `orderingNulls` | clients may choose the position of nulls: `ordering=-votes.nullslast` |
 * | `ordering` | the default order, optionally with ` nulls first` or ` nulls last` |
 * | `queryLimits` | limits of one query by name; docs/reference/limits.md has the defaults |
 * | `query` | lists are also read by QUERY (RFC 10008), with the parameters as the body |
 * | `parameters` | other names for query parameters, in addition to those of the prefix: `{ search: 'q' }` |
 * | `aggregate` | what clients may compute of the rows of lists: `{ group: ['status'], sum: ['total'] }` |
 * | `pagination` | the pagination of lists, instead of the prefix's; `false`: complete lists |
 * | `renderers` | response formats beside JSON, such as `new CsvRenderer()`, instead of the prefix's |
 * | `shape` | clients may select fields by `fields` and `omit`; an object sets the parameter names and limits |
 * | `expandable` | relations that clients may expand to objects by `expand`; dotted paths of at most three steps |
 * | `expansionQueries` | expanded lists take filters, orders, searches and a limit: `comments.limit=5` |
 * | `counts` | lists of related objects whose number clients may ask for by `with=counts` |
 * | `relatedKeys` | many-to-many relations that are the keys of the related objects, read and written, instead of a link |
 * | `nested` | one-to-many and reverse one-to-one relations whose objects bodies create, change and delete, with the verbs of each |
 * | `conditional` | objects have an `ETag`, and requests may be conditional; `false` overrides the prefix |
 * | `cacheControl` | the `Cache-Control` of read responses; `false`: none |
 * | `bulk` | bulk writes: a POST of a list, a PATCH or DELETE of the collection's URL; an object sets the operations and the maximum |
 * | `idempotency` | a repeated POST with the same `Idempotency-Key` is executed once; `false` overrides the prefix |
 * | `returnDeleted` | DELETE responds 200 with the deleted object instead of 204 |
 * | `responses` | with `'afterCommit'`, code of the application makes the responses to writes after their COMMIT, not before it |
 * | `trash` | of an entity with `@DeleteDateColumn`: clients list deleted objects by `deleted=only`, restore and purge them |
 * | `mergePatch` | PATCH of one object also takes `application/merge-patch+json`, which merges into JSON columns |
 * | `strict` | unknown body fields and query parameters are errors; with `writes`, so are fields that a grant does not let the caller write |
 * | `serializer` | replaces the generated serializer |
 * | `permissions` | permission classes and expressions; all of them must grant access |
 * | `authentication` | authentication schemes and Nest guards by class, instead of the prefix's |
 * | `guards` | Nest guards by class; they run after the permissions, or before them without `authentication` |
 * | `interceptors` | Nest interceptors by class, around every operation; they receive lists as complete arrays or pages |
 * | `pipes` | Nest pipes by class, for bodies, with the entity as their metatype, and for the parameters of lists |
 * | `throttle` | `{ limit, ttl }`: the maximum number of requests of one caller in `ttl` milliseconds, counted by @nestjs/throttler's storage |
 * | `through` | the same options for a junction without a declaration of its own, by relation |
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the default is any entity
export interface RestifyOptions<Entity extends object = any> {
  readonly app?: string;
  readonly name?: string;
  /** What its objects are, in a sentence for clients: `Questions that visitors vote on.` Default: none. */
  readonly description?: string;
  /** How objects are named to people: a field, or fields in braces such as `{first_name} {last_name}`. Default: by their key. */
  readonly label?: string;
  readonly labels?: ModelLabels;
  readonly fields?: readonly PropertyOf<Entity>[];
  readonly exclude?: readonly PropertyOf<Entity>[];
  readonly readOnly?: readonly PropertyOf<Entity>[];
  readonly writeOnly?: readonly PropertyOf<Entity>[];
  readonly optional?: readonly PropertyOf<Entity>[];
  readonly trim?: { readonly [Name in PropertyOf<Entity>]?: boolean };
  readonly type?: { readonly [Path in PathOf<Entity>]?: FieldType };
  readonly listenerRelations?: readonly ExpandPathOf<Entity>[];
  readonly computed?: { readonly [name: string]: MethodOf<Entity> | ((entity: Entity) => unknown) };
  readonly operations?: readonly OperationName[];
  readonly filterBackends?: readonly InjectableClass<FilterBackend>[];
  readonly filterFields?:
    readonly PathOf<Entity>[] | { readonly [Path in PathOf<Entity>]?: readonly LookupAt<Entity, Path>[] };
  readonly filterGroups?: boolean;
  readonly filters?: { readonly [parameter: string]: CustomFilter<PathOf<Entity>> };
  readonly searchFields?: readonly Searched<PathOf<Entity>>[];
  readonly orderingFields?: readonly WithNulls<PathOf<Entity>>[];
  readonly orderingNulls?: boolean;
  readonly ordering?: readonly WithNulls<Descending<PathOf<Entity>>>[];
  readonly aggregate?: AggregateOptions<PathOf<Entity>>;
  readonly queryLimits?: Partial<QueryLimits>;
  /** Whether lists are also read by QUERY (RFC 10008), with the parameters as `application/x-www-form-urlencoded` body. Default: false. */
  readonly query?: boolean;
  readonly parameters?: ParameterNames;
  readonly pagination?: Pagination | false;
  readonly renderers?: readonly Renderer[];
  readonly shape?: boolean | FieldSelectionOptions;
  readonly expandable?: readonly ExpandPathOf<Entity>[];
  /** Whether expanded lists take the parameters of their own lists, and a limit: `comments.votes__gte=3&comments.limit=5`. Default: false. */
  readonly expansionQueries?: boolean;
  /** Lists of related objects whose number clients may ask for by `with=counts`. Default: none. */
  readonly counts?: readonly PropertyOf<Entity>[];
  readonly relatedKeys?: readonly PropertyOf<Entity>[];
  readonly nested?:
    | readonly PropertyOf<Entity>[]
    | { readonly [Name in PropertyOf<Entity>]?: { readonly [Verb in NestedVerb]?: boolean } };
  readonly conditional?: boolean | ConditionalOptions;
  readonly cacheControl?: string | false;
  readonly bulk?: boolean | (BulkOptions & { readonly upsert?: readonly PropertyOf<Entity>[] });
  readonly idempotency?: boolean | IdempotencyOptions;
  readonly returnDeleted?: boolean;
  /**
   * Code of the application makes the response to a write before its COMMIT, so that an error of it undoes the write; with
   * `afterCommit`, after it, so that it holds no lock and undoes nothing. Default: before.
   */
  readonly responses?: 'afterCommit';
  /** Whether clients list deleted objects by `deleted=only`, restore and purge them. The entity needs a `@DeleteDateColumn`. Default: false. */
  readonly trash?: boolean;
  /** Whether PATCH of one object takes `application/merge-patch+json` (RFC 7396) beside `application/json`. Default: false. */
  readonly mergePatch?: boolean;
  readonly strict?: boolean | 'writes';
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
  | 'description'
  | 'label'
  | 'labels'
  | 'fields'
  | 'exclude'
  | 'readOnly'
  | 'writeOnly'
  | 'optional'
  | 'trim'
  | 'type'
  | 'listenerRelations'
  | 'relatedKeys'
  | 'nested'
  | 'computed'
  | 'trash'
  | 'mergePatch'
  | 'aggregate'
  | 'through'
>;

/** What was declared of one entity, unchecked. `target` is its class, or its `EntitySchema`. */
export interface ResourceDeclaration {
  readonly target: object;
  /** The name in messages: the class's. */
  readonly name: string;
  readonly options: RestifyOptions;
  /** Whether the decorator got more than its options, which types do not permit. */
  readonly hasMoreArguments: boolean;
}
