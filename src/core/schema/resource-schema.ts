import type { CustomFilterRows } from '../contracts/filters.js';
import type { Condition, NullsPlace, Operand, TermMatch } from '../query/condition.js';
import type { Lookup } from '../query/lookups.js';
import type { Column } from './column.js';
import type { DataType } from './data-type.js';
import type { Field } from './field.js';
import type { QueryLimits } from './limits.js';
import type { ObjectLabel } from './object-label.js';
import type { DeletedRows, OperationName } from './operation.js';
import type { Relation, ToManyRelation, ToOneRelation } from './relation.js';

/** What the deletion of a row does to those that refer to it: they are deleted, their foreign keys change, or they prevent it. */
export type DeleteEffect = 'cascade' | 'change' | 'restrict';

/** A model whose objects refer to those of another one by a foreign key. */
export interface Referrer {
  readonly resource: ResourceSchema;
  readonly onDelete: DeleteEffect;
}

/** The columns that identify a row in a URL. The values of a composite key are in the order of its columns. */
export interface Key {
  readonly columns: readonly Column[];
  /** The relation to the row with the columns: for a junction that refers to its other side by other columns than the key. */
  readonly via?: ToOneRelation;
}

/** A plain column of a foreign key by which bodies may reference the row of a relation (contract 5.13). */
export interface ForeignKeyAlias {
  /** Names of the embedded objects that contain both. */
  readonly within: readonly string[];
  readonly relation: ToOneRelation;
  /** The field of the relation, and that of the column. */
  readonly names: readonly [relation: string, column: string];
}

/** A step over a to-many relation: at least one of its rows matches the conditions. */
export interface ExistsStep {
  /** To-one relations that lead to its beginning. */
  readonly joinPath: readonly Relation[];
  readonly relation: ToManyRelation;
  /** The caller's grants: on the models along `joinPath`, on the related rows, and on the junction's. */
  readonly pathGrants?: Condition;
  readonly grantCondition?: Condition;
  readonly through?: Condition;
}

/** The path to a value that a query reads. Several operands are the columns of a composite related key. */
export interface QueriedPath {
  /** To-many relations of the path, from the outside in; the operands are in the rows of the last one. */
  readonly some: readonly ExistsStep[];
  readonly operands: readonly Operand[];
}

/** A parameter that compares a field. */
export interface FieldTerm extends QueriedPath {
  readonly kind: 'field';
  readonly lookup: Lookup;
  /** True if it compares the key of a related row: an out-of-range number then matches no row rather than being invalid. */
  readonly isKey: boolean;
  /** True if the path ends with its last to-many relation itself, so that `isnull` tests for the absence of related rows. */
  readonly isMany: boolean;
  /** The caller's grants on the models along the operands, AND-ed with the comparison. */
  readonly within?: Condition;
}

/** A parameter whose row filter is returned by a function of the model. */
export interface CustomTerm {
  readonly kind: 'custom';
  readonly type: DataType;
  readonly isList: boolean;
  /** The paths that it discloses, all of which the caller must be allowed to read. */
  readonly reads: readonly QueriedPath[];
  readonly rows: CustomFilterRows;
  /** The condition for the rows at the end of these to-one relations that the caller may see; undefined if it may see all. */
  readonly visible?: (joinPath: readonly Relation[]) => Condition;
}

/** The compiled filter of a query parameter. */
export type FilterTerm = FieldTerm | CustomTerm;

export interface SearchField {
  /** As in `QueriedPath`: at least one related row has the term. */
  readonly some: readonly ExistsStep[];
  readonly operand: Operand;
  readonly match: TermMatch;
  /** As in `FieldTerm`. */
  readonly within?: Condition;
}

export interface OrderTerm {
  readonly operand: Operand;
  readonly descending: boolean;
  /** Default: that of the database. */
  readonly nulls?: NullsPlace;
}

/** A field that a client may order by. */
export interface OrderingField {
  /** Several for a composite related key. */
  readonly operands: readonly Operand[];
  /** The position of nulls in both directions, if the model declares it. */
  readonly nulls?: NullsPlace;
}

/**
 * The schema of an exposed entity: its columns, fields and relations, and the queries that clients may send. All that a plan,
 * a serializer or a filter backend needs. Compiled and frozen at boot.
 */
export interface ResourceSchema {
  /** `polls.question`, unique below a prefix. */
  readonly id: string;
  readonly app: string;
  readonly model: string;
  /** The class name, for messages. */
  readonly className: string;
  /** The adapter's id of the entity. */
  readonly entity: string;
  /** Whether it has its own collection. A through model that is not registered has none. */
  readonly registered: boolean;
  readonly key: Key;
  /** The columns that identify a row in its table: those of `key`, except for a junction, whose key is its other side alone. */
  readonly identity: readonly Column[];
  readonly columns: ReadonlyMap<string, Column>;
  /** In the order of bodies (contract 2.2). */
  readonly fields: readonly Field[];
  readonly fieldsByName: ReadonlyMap<string, Field>;
  /** Relations that bodies may reference by the plain columns of their foreign keys. */
  readonly foreignKeyAliases: readonly ForeignKeyAlias[];
  /** Exposed to-many relations, which have nested URLs if their models have the operations. */
  readonly nested: readonly ToManyRelation[];
  /** All relations of the entity by name, exposed or not. The exposed ones have a field. */
  readonly relations: ReadonlyMap<string, Relation>;
  /** Relations to served models that share a column with another relation, so that writing one changes the other. */
  readonly overlapping: readonly ToOneRelation[];
  readonly operations: ReadonlySet<OperationName>;
  /** The models whose objects refer to its own, by what DELETE does to them: none if it only sets a date. */
  readonly referrers: readonly Referrer[];
  /** The same for the deletion of a row from the table, as by a purge. */
  readonly rowReferrers: readonly Referrer[];
  /** The ids of its columns to which other rows refer, and which cannot be changed while they do. */
  readonly referredColumns: ReadonlySet<string>;
  /** Whether fields of it are the keys of a many-to-many relation. */
  readonly hasRelatedKeys: boolean;
  /** Whether bodies of it write children. */
  readonly hasNestedWrites: boolean;
  /** The label of its objects; undefined without the option `label`. */
  readonly objectLabel: ObjectLabel | undefined;
  /** True if its fields were selected by a client: its statements are cached separately. */
  readonly isClientSelected?: boolean;
  /** Relations that are loaded on an entity before its listeners are called; with dots for nested ones. */
  readonly listenerRelations: readonly string[];
  /** Set in a view on deleted objects. */
  readonly deleted?: TrashView;
  /** Whether unknown body fields and query parameters are errors. */
  readonly strict: boolean;
  /** Whether values of fields that the caller's grant withholds are errors, too. */
  readonly strictWrites: boolean;
  /** New names of its query parameters by their default names. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Which of its queries the model declares, and does not have by default. */
  readonly declares: { readonly filters: boolean; readonly ordering: boolean };
  /** By query parameter: `votes`, `question__pub_date__gte`, `votes!`. */
  readonly filterTerms: ReadonlyMap<string, FilterTerm>;
  /** Whether clients may combine filters with `and`, `or` and `not`. */
  readonly filterGroups: boolean;
  readonly queryLimits: QueryLimits;
  readonly searchFields: readonly SearchField[];
  readonly orderingFields: ReadonlyMap<string, OrderingField>;
  /** Whether clients may set the position of nulls. */
  readonly orderingNulls: boolean;
  /** The default order. Planning appends the key, so that a list's order is total. */
  readonly ordering: readonly OrderTerm[];
}

/** Which view on deleted objects a resource is. */
export interface TrashView {
  readonly rows: DeletedRows;
  /** The model without deleted objects. */
  readonly of: ResourceSchema;
  /** The column with the date of the deletion. */
  readonly date: Column;
}

/** New names of query parameters by their default names: `{ search: 'q' }`. Given as `parameters`. */
export type ParameterNames = Readonly<Record<string, string>>;

/** The name of a query parameter in a model. */
export function parameterName(name: string, { renamed }: Pick<ResourceSchema, 'renamed'>): string {
  return renamed.get(name) ?? name;
}
