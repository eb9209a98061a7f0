import type { AggregateOptions } from '../core/contracts/aggregates.js';
import type { Authentication } from '../core/contracts/authentication.js';
import type { BulkOptions } from '../core/contracts/bulk.js';
import type { ConditionalOptions } from '../core/contracts/conditional.js';
import type { IdempotencyOptions } from '../core/contracts/idempotency.js';
import type { FieldType } from '../core/schema/field-type.js';
import type { GuardLike, InterceptorLike, PipeLike } from '../core/contracts/enhancers.js';
import type { Throttle } from '../core/contracts/throttle.js';
import type { FilterBackend, CustomFilter, JsonPathFilter } from '../core/contracts/filters.js';
import type { FullTextOptions } from '../core/contracts/full-text.js';
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

/** The options of one entity. All are optional; unknown names prevent the start. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the default is any entity
export interface RestifyOptions<Entity extends object = any> {
  /** The first word of the path, in lower case. Default: the app of `forFeature`. */
  readonly app?: string;
  /** The second word of the path, in lower case. Default: the class name in lower case. */
  readonly name?: string;
  /** What its objects are, in a sentence for clients, in OPTIONS, the OpenAPI document and on the browsable page: `Questions that visitors vote on.` Default: none. */
  readonly description?: string;
  /** How objects are named to people, on the browsable page and by `with=labels`: a field, or fields in braces such as `{first_name} {last_name}`. Default: by their key. */
  readonly label?: string;
  /** The names of one and of many objects to people: `{ one: 'Category', many: 'Categories' }`. Default: the class name. */
  readonly labels?: ModelLabels;
  /** The properties that are exposed at all. Default: all but columns with `select: false`. */
  readonly fields?: readonly PropertyOf<Entity>[];
  /** Properties that are not exposed. Default: none. */
  readonly exclude?: readonly PropertyOf<Entity>[];
  /** Fields that bodies cannot set, beside generated keys and what TypeORM or the database sets. Default: none. */
  readonly readOnly?: readonly PropertyOf<Entity>[];
  /** Fields that are never shown, filtered, searched or ordered by. Default: none. */
  readonly writeOnly?: readonly PropertyOf<Entity>[];
  /** Fields that a POST or PUT may omit, because a listener or a trigger sets them. Default: none. */
  readonly optional?: readonly PropertyOf<Entity>[];
  /** Whether whitespace around a text is removed: `{ body: false }` keeps it. Default: true for each. */
  readonly trim?: { readonly [Name in PropertyOf<Entity>]?: boolean };
  /** The types of fields whose column has a transformer: `{ tags: 'string[]' }`. Default: the type of the column. */
  readonly type?: { readonly [Path in PathOf<Entity>]?: FieldType };
  /** Relations, or dotted paths, that listeners and subscribers read: their objects are loaded for each write. Default: none. */
  readonly listenerRelations?: readonly ExpandPathOf<Entity>[];
  /** Read-only fields from a function of the entity or one of its methods. Default: none. */
  readonly computed?: { readonly [name: string]: MethodOf<Entity> | ((entity: Entity) => unknown) };
  /** Which operations exist. Default: all; of a view, `list` and `retrieve`. */
  readonly operations?: readonly OperationName[];
  /** Classes that parse filters, searches and orders, one after the other. Default: those of the prefix. */
  readonly filterBackends?: readonly InjectableClass<FilterBackend>[];
  /** What clients filter by: names, or lookups by name. Default: readable columns with simple values and forward relations, by `exact`. */
  readonly filterFields?:
    | readonly PathOf<Entity>[]
    | { readonly [Path in PathOf<Entity>]?: readonly LookupAt<Entity, Path>[] | JsonPathFilter };
  /** Whether clients combine the same filters by `filter=or(…)`, `and(…)`, `not(…)`. Default: false. */
  readonly filterGroups?: boolean;
  /** Custom lookups and filters by parameter: a type, the fields that they reveal, and a function. Default: none. */
  readonly filters?: { readonly [parameter: string]: CustomFilter<PathOf<Entity>> };
  /** What clients search, optionally prefixed by `^`, `=`, `$` or `@`. Default: all readable texts. */
  readonly searchFields?: readonly Searched<PathOf<Entity>>[];
  /** Whether the search fields, all with `@`, are one text that an index of the database serves, and searches are ordered by `ordering=-rank`. Default: false. */
  readonly fullText?: boolean | FullTextOptions;
  /** What clients order by, optionally with ` nulls first` or ` nulls last`. Default: as for filters. */
  readonly orderingFields?: readonly WithNulls<PathOf<Entity>>[];
  /** Whether clients choose the position of nulls: `ordering=-votes.nullslast`. Default: false. */
  readonly orderingNulls?: boolean;
  /** The order of lists, optionally with ` nulls first` or ` nulls last`. Default: that of `@Entity({ orderBy })`, else the primary key. */
  readonly ordering?: readonly WithNulls<Descending<PathOf<Entity>>>[];
  /** What clients may compute of the rows of lists: `{ group: ['status'], sum: ['total'] }`. Default: nothing. */
  readonly aggregate?: AggregateOptions<PathOf<Entity>>;
  /** Limits of one query by name. Default: those of the prefix. */
  readonly queryLimits?: Partial<QueryLimits>;
  /** Whether lists are also read by QUERY (RFC 10008), with the parameters as the body. Default: that of the prefix. */
  readonly query?: boolean;
  /** Other names for query parameters, in addition to those of the prefix: `{ search: 'q' }`. Default: none. */
  readonly parameters?: ParameterNames;
  /** The pagination of lists; `false` for complete lists. Default: that of the prefix. */
  readonly pagination?: Pagination | false;
  /** Formats of responses beside JSON, such as `new CsvRenderer()`. Default: those of the prefix. */
  readonly renderers?: readonly Renderer[];
  /** Whether clients select fields by `fields` and `omit`; an object sets the parameter names and limits. Default: that of the prefix. */
  readonly shape?: boolean | FieldSelectionOptions;
  /** Relations that clients expand to objects by `expand`; dotted paths of at most three relations. Default: none. */
  readonly expandable?: readonly ExpandPathOf<Entity>[];
  /** Whether expanded lists take the parameters of their own lists, and a limit: `comments.votes__gte=3&comments.limit=5`. Default: that of the prefix. */
  readonly expansionQueries?: boolean;
  /** Lists of related objects whose number clients may ask for by `with=counts`. Default: none. */
  readonly counts?: readonly PropertyOf<Entity>[];
  /** Many-to-many relations that are the keys of the related objects, read and written, in place of a link. Default: none. */
  readonly relatedKeys?: readonly PropertyOf<Entity>[];
  /** One-to-many and reverse one-to-one relations whose objects bodies create, change and delete, with the verbs of each. Default: none. */
  readonly nested?:
    | readonly PropertyOf<Entity>[]
    | { readonly [Name in PropertyOf<Entity>]?: { readonly [Verb in NestedVerb]?: boolean } };
  /** Whether objects have an `ETag`, and requests may be conditional. Default: that of the prefix. */
  readonly conditional?: boolean | ConditionalOptions;
  /** The `Cache-Control` of responses to reads; `false` for none. Default: that of the prefix. */
  readonly cacheControl?: string | false;
  /** Whether a POST takes a list, and a PATCH or DELETE the URL of the list; an object sets the operations and the maximum. Default: false. */
  readonly bulk?: boolean | (BulkOptions & { readonly upsert?: readonly PropertyOf<Entity>[] });
  /** Whether a repeated POST with the same `Idempotency-Key` is executed once. Default: that of the prefix. */
  readonly idempotency?: boolean | IdempotencyOptions;
  /** Whether DELETE responds 200 with the deleted object instead of 204. Default: that of the prefix. */
  readonly returnDeleted?: boolean;
  /** With `afterCommit`, code of the application makes the responses to writes after their COMMIT: it holds no lock, and its errors undo nothing. Default: before the COMMIT. */
  readonly responses?: 'afterCommit';
  /** Whether clients list deleted objects by `deleted=only`, restore and purge them. The entity needs a `@DeleteDateColumn`. Default: false. */
  readonly trash?: boolean;
  /** Whether PATCH of one object takes `application/merge-patch+json` (RFC 7396), too, which merges into JSON columns. Default: false. */
  readonly mergePatch?: boolean;
  /** Whether unknown body fields and query parameters are errors; with `writes`, so are fields that a grant does not let the caller write. Default: that of the prefix. */
  readonly strict?: boolean | 'writes';
  /** A class that replaces the generated serializer. Default: `ModelSerializer`. */
  readonly serializer?: InjectableClass<Serializer>;
  /** Permission classes and expressions; all of them must grant access. Default: those of the prefix. */
  readonly permissions?: readonly PermissionExpression[];
  /** Authentication schemes and Nest guards by class. Default: those of the prefix. */
  readonly authentication?: readonly Authentication[];
  /** Nest guards by class. They run after the permissions, or before them and authenticate without `authentication`. Default: those of the prefix. */
  readonly guards?: readonly InjectableClass<GuardLike>[];
  /** Nest interceptors by class, around every operation; they receive lists as complete arrays or pages. Default: those of the prefix. */
  readonly interceptors?: readonly InjectableClass<InterceptorLike>[];
  /** Nest pipes by class, for bodies, with the entity as their metatype, and for the parameters of lists. Default: those of the prefix. */
  readonly pipes?: readonly InjectableClass<PipeLike>[];
  /** The rate limit of one caller, `{ limit, ttl }`: at most `limit` requests in `ttl` milliseconds. Default: that of the prefix. */
  readonly throttle?: Throttle;
  /** The same options for the pairs of a many-to-many relation whose join table has no declaration of its own, by relation. Default: none. */
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
