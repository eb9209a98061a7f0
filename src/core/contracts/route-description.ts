import type { ModelLabels } from '../schema/object-label.js';
import type { NestedVerb } from '../schema/field.js';
import type { DataType } from '../schema/data-type.js';
import type { ChoiceDescription, FieldDescription } from './field-description.js';
import type { Lookup } from '../query/lookups.js';
import type { RouteKind } from '../schema/route.js';

/** The media type of a description that is requested with GET in place of OPTIONS. */
export const DESCRIPTION_MEDIA_TYPE = 'application/vnd.restify.description+json';

/** The kind of a field's value in a body: a type of columns, or how it refers to other rows. */
export type ValueKind =
  | DataType['kind']
  | 'to-one'
  | 'reverse-one'
  | 'link'
  | 'keys'
  | 'computed'
  | 'embedded'
  | 'labels'
  | 'counts';

/** A field that the caller may read. */
export interface ReadableFieldDescription {
  readonly kind: ValueKind;
  readonly label: string;
  readonly nullable: boolean;
  readonly choices?: readonly ChoiceDescription[];
  /** The fields of an embedded object. */
  readonly children?: Readonly<Record<string, ReadableFieldDescription>>;
}

/** A query parameter that filters a list. */
export interface FilterDescription {
  /** The query parameter: `votes__gte`. */
  readonly name: string;
  /** The path of fields that it compares: `question__votes`; equal to `name` for a filter of the application. */
  readonly field: string;
  /** `custom` for a filter of the application. */
  readonly lookup: Lookup | 'custom';
  /** The type of its value, or of each of several values. */
  readonly type: ValueKind;
  /** Whether it takes several values, separated by commas. */
  readonly list: boolean;
  readonly choices?: readonly ChoiceDescription[];
}

/** The order of a list. */
export interface OrderingDescription {
  readonly parameter: string;
  /** The names that the parameter takes, each also with `-` before it. */
  readonly fields: readonly string[];
  /** The default order; `-` before a name reverses it. Terms that the caller cannot name are omitted. */
  readonly default: readonly string[];
  /** The names among `fields` whose order an index serves, so that the first rows are found at once. */
  readonly indexed: readonly string[];
  /** The name among `fields` that orders by how well the objects fit the search; only with one. */
  readonly rank?: string;
}

/** The search of a list, by words in a query parameter. */
export interface SearchDescription {
  readonly parameter: string;
}

/** The pages of a list. */
export interface PaginationParameters {
  readonly kind: 'page-number' | 'limit-offset' | 'cursor' | 'custom';
  /** The query parameters, all of them. */
  readonly parameters: readonly string[];
  /** The query parameter that selects the page: its number, its offset or its cursor. */
  readonly position?: string;
  /** The query parameter with the number of rows; absent if clients cannot choose it. */
  readonly size?: string;
  readonly page_size?: number;
  readonly max_page_size?: number;
  /** The query parameter by which clients choose whether rows are counted: `exact`, `estimated` or `none`. */
  readonly count?: string;
  /** How rows are counted unless a client chooses; absent if they are not. */
  readonly counts?: 'exact' | 'estimated';
  /** The number of rows up to which an estimated count is exact; absent if rows are never counted. */
  readonly count_up_to?: number;
  /** The member of the body that holds the rows; absent if the body is the array of rows. */
  readonly rows?: string;
}

/** A list below each object of a model. */
export interface NestedDescription {
  /** The URL segment after the object's. */
  readonly name: string;
  readonly label: string;
  /** Whether its objects are those of a many-to-many relation's junction. */
  readonly through: boolean;
}

/** An `@Action` of the application. */
export interface ActionDescription {
  /** The URL segment after the list's or the object's. */
  readonly name: string;
  /** Whether it belongs to an object. */
  readonly object: boolean;
  readonly methods: readonly string[];
  /** The fields of its body, if the method declares a class with decorators of class-validator: `@Body() body: RenameBody`. */
  readonly body?: Readonly<Record<string, FieldDescription>>;
}

/** How the objects of a relation are written in the body of their parent. */
export interface ChildrenDescription {
  /** What changes may do with them. Whether the caller may is said by the description of their own URLs. */
  readonly verbs: readonly NestedVerb[];
  /** The fields that refer to the parent, which are ignored in them. */
  readonly given: readonly string[];
}

/** A field that refers to one related object, or a to-many relation that a filter compares or that bodies write. */
export interface RelationDescription {
  /** The path of the related model's list; null if it has none that the caller may read. */
  readonly url: string | null;
  /** True if the key is composite: its text is already percent-encoded. */
  readonly composite?: true;
  /** The related model's label; null if it has none, or the caller may not read one of its fields. */
  readonly label: string | null;
  /** Of objects in bodies. */
  readonly children?: ChildrenDescription;
}

/** The models, as `<app>.<model>`, whose objects refer to a deleted one, by what happens to them. */
export interface DeletionDescription {
  /** Deleted with it. */
  readonly cascade: readonly string[];
  /** Changed: their reference becomes null. */
  readonly change: readonly string[];
  /** They prevent the deletion. */
  readonly restrict: readonly string[];
  /** What the objects of these models are called, for models with the option `labels`; absent if none of them has it. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** What the caller may do with deleted objects. */
export interface TrashDescription {
  /** The query parameter that shows deleted objects, as `deleted=only` and `deleted=with`; absent if the caller may not read them. */
  readonly parameter?: string;
  /** The field with the date of the deletion. */
  readonly date?: string;
  /** Whether the caller may restore deleted objects, by POST to `restore/` below the object. */
  readonly restore: boolean;
  /** Whether the caller may delete them for good, by POST to `purge/` below the object. */
  readonly purge: boolean;
  /** What a purge does to other objects; absent if the caller may not purge. */
  readonly deletion?: DeletionDescription;
}

/** The bulk writes of a list. */
export interface BulkDescription {
  readonly methods: readonly ('POST' | 'PATCH' | 'DELETE')[];
  /** The maximum number of objects of one request. */
  readonly max: number;
  /** The query parameter with keys, for PATCH and DELETE. */
  readonly keys: string;
  /** The query parameter that turns a POST into an upsert; absent if disabled. */
  readonly upsert?: string;
  /** The fields that a PATCH of many objects may change; absent without it. */
  readonly change?: Readonly<Record<string, FieldDescription>>;
}

/** How objects of a one-to-many list refer to the object above. */
export interface ParentDescription {
  /** The field with the key of the object above. */
  readonly field: string;
  /** The path of the list in which the caller may create such objects; absent if it may not. */
  readonly create?: string;
}

/** Conditional requests of a model. */
export interface ConditionalDescription {
  /** Whether changes need a precondition (428). */
  readonly require: boolean;
}

/** The query parameters that select fields and expand relations. */
export interface ShapeDescription {
  readonly fields?: string;
  readonly omit?: string;
  readonly expand?: string;
  /** The parameter that limits an expanded list, behind its path; absent if expanded lists take no parameters. */
  readonly limit?: string;
}

/** What a caller may compute of the rows of a list. */
export interface AggregatesDescription {
  /** The names of the query parameters; that of conditions on groups is the begin of a name. */
  readonly parameter: string;
  readonly group: string;
  readonly having: string;
  readonly tz: string;
  /** By name, with what may follow it behind a colon: units of time, or `label`. */
  readonly groups: readonly { readonly name: string; readonly choices: readonly string[] }[];
  /** `count`, `sum.total`. */
  readonly measures: readonly string[];
  /** The names by which groups may be ordered, beside those of the request. */
  readonly ordering: readonly string[];
  /** Groups of fewer rows are left out. */
  readonly min_group?: number;
}

/** What a caller may read and query at the URL of a list or of an object. What it may not use is absent. */
export interface QueryDescription {
  readonly kind: RouteKind;
  /** The methods that the caller may use at this URL, without HEAD and OPTIONS. */
  readonly methods: readonly string[];
  /** The names of one and of many objects to people; absent without the option `labels`. */
  readonly labels?: ModelLabels;
  /** The template of an object's label: `{first_name} {last_name}`. Absent if the model has none for this caller. */
  readonly label?: string;
  /** The fields of a body whose values identify its object in a URL; absent if the caller may not read them. */
  readonly key?: readonly string[];
  /** True if the only field of `key` holds the whole text of a composite key, which is already percent-encoded. */
  readonly key_is_text?: true;
  /** The path below which objects of this list have their URLs; absent if they have none that the caller may read. */
  readonly objects?: string;
  /** Of a one-to-many list; absent if its objects do not show the object above to this caller. */
  readonly parent?: ParentDescription;
  /** By name, in the order of bodies. Empty if the caller may not read. */
  readonly fields: Readonly<Record<string, ReadableFieldDescription>>;
  readonly filters: readonly FilterDescription[];
  /** The query parameter of `and`, `or` and `not` groups. */
  readonly groups?: string;
  readonly ordering?: OrderingDescription;
  readonly search?: SearchDescription;
  readonly pagination?: PaginationParameters;
  /** What the caller may compute of the rows; absent if nothing. */
  readonly aggregates?: AggregatesDescription;
  readonly nested: readonly NestedDescription[];
  readonly custom: readonly ActionDescription[];
  readonly relations: Readonly<Record<string, RelationDescription>>;
  /** What a deletion at this URL does to other objects; absent if the caller may not delete here. */
  readonly deletion?: DeletionDescription;
  /** Of a model with a trash; absent if the caller may do nothing with its deleted objects. */
  readonly trash?: TrashDescription;
  readonly bulk?: BulkDescription;
  readonly conditional?: ConditionalDescription;
  readonly idempotency?: { readonly header: 'Idempotency-Key' };
  readonly shape?: ShapeDescription;
  /** The query parameter that adds `labels` to each object, as `with=labels`; absent if no relation has a label. */
  readonly with?: string;
  /** The query parameter whose value `counts` adds the numbers of related objects, and the lists that are counted for this caller. */
  readonly counts?: { readonly parameter: string; readonly lists: readonly string[] };
  /** The query parameter that selects a format by name, and the names. */
  readonly formats?: { readonly parameter: string; readonly names: Readonly<Record<string, string>> };
}

/** The body of a response to OPTIONS (contract 19.1). Built without reading rows. */
export interface RouteDescription extends QueryDescription {
  readonly name: string;
  readonly description: string;
  readonly renders: readonly string[];
  readonly parses: readonly string[];
  /** What the caller may write. */
  readonly actions: Readonly<Partial<Record<'POST' | 'PUT', Readonly<Record<string, FieldDescription>>>>>;
}

/** A model in the description of an index. */
export interface IndexedModel {
  readonly app: string;
  readonly model: string;
  readonly label: string;
  /**
   * What its objects are; empty where OPTIONS of the list does not admit the caller, or runs a guard that the index does
   * not.
   */
  readonly description: string;
  /** The path of its list. */
  readonly url: string;
}

/** The body of a response to OPTIONS of an index. */
export interface IndexDescription {
  readonly name: 'Index';
  readonly description: string;
  readonly renders: readonly string[];
  readonly parses: readonly string[];
  readonly actions: Readonly<Record<string, never>>;
  /** All models, as in the body of GET. */
  readonly models: readonly IndexedModel[];
  /**
   * Who sends the request, by the authentication of the application's models. `refused` is true if a scheme has rejected the
   * `Authorization` header or its user, and no other one has accepted it.
   */
  readonly caller: {
    readonly authenticated: boolean;
    readonly label: string | null;
    readonly refused: boolean;
  };
}
