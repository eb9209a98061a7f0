// A schema as plain data: the generator creates it, the application and the model are built from it, and the shrinker
// removes parts of it.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = Readonly<Record<string, Json>>;

export type ColumnKind =
  | 'int'
  | 'bigint'
  | 'decimal'
  | 'double'
  | 'boolean'
  | 'varchar'
  | 'text'
  | 'date'
  | 'datetime'
  | 'uuid'
  | 'enum'
  | 'json'
  | 'list'
  | 'version'
  | 'deletion';

export interface ColumnSpec {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly nullable?: boolean;
  readonly unique?: boolean;
  readonly default?: Json;
  /** The length of `varchar`. */
  readonly length?: number;
  /** The values of `enum`, sorted by their texts, so that the order is the same in every database. */
  readonly values?: readonly string[];
  /** `select: false`. */
  readonly hidden?: boolean;
  /** A column of foreign keys that no body writes (contract 5.13). */
  readonly readOnly?: boolean;
  /** A text of whole words, which an index of the database serves (contract 10.9). */
  readonly searched?: boolean;
  /** Keys of `int` that the client gives are lower. */
  readonly below?: number;
}

/** A many-to-one relation, or a one-to-one relation with the foreign key. */
export interface ToOneSpec {
  readonly kind: 'to-one';
  readonly name: string;
  readonly target: string;
  readonly nullable: boolean;
  readonly unique: boolean;
  readonly onDelete: 'NO ACTION' | 'CASCADE' | 'SET NULL';
  /** The columns of a foreign key that share some with another one, and the columns of the target's key. */
  readonly on?: readonly JoinSpec[];
  /** Without a foreign key constraint: `on` are columns of a key of several tables, which bodies write (contract 5.13). */
  readonly unbound?: boolean;
}

export interface JoinSpec {
  readonly near: string;
  readonly far: string;
}

/** The other side of a to-one relation: a reverse one-to-one, or a one-to-many relation. */
export interface ReverseSpec {
  readonly kind: 'reverse-one' | 'to-many';
  readonly name: string;
  readonly target: string;
  readonly forward: string;
}

/** Either side of a many-to-many relation. */
export interface ManySpec {
  readonly kind: 'many-to-many';
  readonly name: string;
  readonly target: string;
  /** The entity and the relation of the owning side. */
  readonly owner: string;
  readonly ownerRelation: string;
  /** The relation of the other side, if it has one. */
  readonly inverse?: string;
  /** An entity that is mapped to the join table, and its relations to the owner and to the other side. */
  readonly through?: { readonly entity: string; readonly near: string; readonly far: string };
}

export type RelationSpec = ToOneSpec | ReverseSpec | ManySpec;

export type LookupName =
  | 'exact'
  | 'iexact'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'in'
  | 'range'
  | 'contains'
  | 'icontains'
  | 'startswith'
  | 'istartswith'
  | 'endswith'
  | 'iendswith'
  | 'isnull'
  | 'ne';

/** The types of values in columns of JSON. */
export type JsonType = 'string' | 'number' | 'boolean' | 'string[]';

/** The lookups of a path; of one into a column of JSON with the type of the value there, by default `string`. */
export type FilterSpec =
  readonly LookupName[] | { readonly type: JsonType; readonly lookups: readonly LookupName[] };

/** A row condition by property names, as in grants and filter groups. */
export type RowsSpec =
  | {
      readonly kind: 'where';
      readonly path: string;
      readonly lookup: LookupName;
      readonly value: Json;
      /** The column of a join table without an entity, which grants name in place of the field. */
      readonly column?: string;
    }
  | { readonly kind: 'and' | 'or'; readonly filters: readonly RowsSpec[] }
  | { readonly kind: 'not'; readonly filter: RowsSpec };

export type AnswerSpec =
  | {
      readonly kind: 'allow';
      readonly rows?: RowsSpec;
      readonly readable?: readonly string[];
      readonly writable?: readonly string[];
    }
  | { readonly kind: 'deny'; readonly hides?: 'rows' | 'nothing' }
  | { readonly kind: 'hide' };

export const BUILT_IN = [
  'AllowAny',
  'IsAuthenticated',
  'IsAuthenticatedOrReadOnly',
  'IsAdmin',
  'ModelPermissions',
  'ModelPermissionsOrAnonReadOnly',
] as const;

/** A custom permission class, which decides by the caller's name (`*` for any other) and by the kind of method. */
export type PermissionSpec =
  | { readonly kind: 'built-in'; readonly name: (typeof BUILT_IN)[number] }
  | {
      readonly kind: 'own';
      readonly answers: Readonly<
        Record<
          string,
          | {
              readonly read: AnswerSpec;
              readonly write: AnswerSpec;
              readonly trash?: AnswerSpec;
              /** Of DELETE, where it is not `write`. */
              readonly remove?: AnswerSpec;
              /** Of aggregates, where it is not `read`. */
              readonly aggregate?: AnswerSpec;
            }
          | undefined
        >
      >;
      /** The delay of the decision in milliseconds. */
      readonly delay?: number;
    }
  | { readonly kind: 'all-of' | 'any-of'; readonly of: readonly PermissionSpec[] }
  | { readonly kind: 'not'; readonly of: PermissionSpec };

export interface PaginationSpec {
  readonly kind: 'number' | 'offset' | 'cursor';
  readonly pageSize: number;
  readonly maxPageSize: number;
  readonly style: 'envelope' | 'headers';
  readonly count?: 'exact' | false;
  readonly countParameter?: string;
  readonly maxOffset?: number;
}

export type NestedVerb = 'create' | 'update' | 'delete';

export type OperationName = 'list' | 'create' | 'retrieve' | 'update' | 'partialUpdate' | 'destroy';
/** The operations on deleted objects. */
export type TrashOperationName = 'listDeleted' | 'restore' | 'purge';
/** The operations for which a permission is asked by name, beside the method. */
export type NamedOperation = TrashOperationName | 'aggregate';
export type BulkOperationName = 'create' | 'partialUpdate' | 'destroy';

export const MEASURE_KINDS = ['sum', 'avg', 'min', 'max'] as const;
export type MeasureKind = (typeof MEASURE_KINDS)[number];

/** What may be computed of the rows of a list, by paths with dots. */
export type AggregateSpec = Readonly<Record<'group' | MeasureKind, readonly string[]>> & {
  readonly minGroup?: number;
};

/** The options of a model, and those of `through`. */
export interface OptionsSpec {
  readonly permissions?: readonly PermissionSpec[];
  readonly filterFields?: Readonly<Record<string, FilterSpec>>;
  readonly filterGroups?: boolean;
  readonly searchFields?: readonly string[];
  /** Ranked searches of the column of words; `rank: false` where pages have cursors. */
  readonly fullText?: true | { readonly rank: false };
  readonly orderingFields?: readonly string[];
  readonly ordering?: readonly string[];
  readonly pagination?: PaginationSpec;
  readonly shape?: true | { readonly maxChildren: number };
  readonly expandable?: readonly string[];
  readonly expansionQueries?: boolean;
  /** Many-to-many relations whose fields have keys. */
  readonly relatedKeys?: readonly string[];
  /** One-to-many and reverse one-to-one relations whose objects bodies write, and by which verbs. */
  readonly nested?: Readonly<Record<string, readonly NestedVerb[]>>;
  readonly mergePatch?: boolean;
  /** Lists of which `with=counts` shows the number of objects. */
  readonly counts?: readonly string[];
  readonly aggregate?: AggregateSpec;
  /** Whether lists are read by QUERY. */
  readonly query?: boolean;
  readonly bulk?: {
    readonly operations: readonly BulkOperationName[];
    readonly max: number;
    readonly upsert?: readonly string[];
  };
  readonly conditional?: { readonly require: boolean };
  readonly idempotency?: { readonly require: boolean };
  readonly operations?: readonly (OperationName | TrashOperationName)[];
  /** Of an entity with a column of the kind `deletion`. */
  readonly trash?: boolean;
  readonly strict?: boolean | 'writes';
  readonly returnDeleted?: boolean;
  readonly readOnly?: readonly string[];
  readonly writeOnly?: readonly string[];
  readonly exclude?: readonly string[];
  /** What the hooks of the model set, by column. */
  readonly valuesOnCreate?: JsonObject;
  readonly beforeWrite?: JsonObject;
}

export interface EntitySpec {
  /** The class name, unique in the data source. */
  readonly name: string;
  readonly app: string;
  /** The path segment. */
  readonly model: string;
  readonly registered: boolean;
  readonly key: { readonly generated: boolean; readonly columns: readonly ColumnSpec[] };
  readonly columns: readonly ColumnSpec[];
  readonly relations: readonly RelationSpec[];
  /** The sets of properties that are unique together. */
  readonly uniques: readonly (readonly string[])[];
  readonly options: OptionsSpec;
  /** The options of junctions without an entity, by the relation of this side. */
  readonly through: Readonly<Record<string, OptionsSpec>>;
}

export interface ActorSpec {
  readonly name: string;
  readonly isAdmin?: boolean;
  readonly permissions: readonly string[];
  /** The duration of the password check in milliseconds. */
  readonly delay?: number;
}

/** The entities and users of one client, which no other client uses. */
export interface SchemaSpec {
  readonly entities: readonly EntitySpec[];
  readonly actors: readonly ActorSpec[];
}

export function columnsOf(entity: EntitySpec): readonly ColumnSpec[] {
  return [...entity.key.columns, ...entity.columns];
}

export function columnNamed(entity: EntitySpec, name: string): ColumnSpec | undefined {
  return columnsOf(entity).find((column) => column.name === name);
}

/** The date of the deletion, if rows are softly deleted. */
export function deletionOf(entity: EntitySpec): ColumnSpec | undefined {
  return entity.columns.find(({ kind }) => kind === 'deletion');
}

/** Whether a model has an operation on deleted objects (contract 23.5). */
export function hasTrash({ options }: Pick<EntitySpec, 'options'>, operation: TrashOperationName): boolean {
  return options.trash === true && (options.operations?.includes(operation) ?? true);
}

/** The text that ranked searches read, and whether rows are ordered by rank. */
export function rankedText({
  columns,
  options,
}: Pick<EntitySpec, 'columns' | 'options'>):
  { readonly name: string; readonly isOrder: boolean } | undefined {
  const column = options.fullText && columns.find(({ searched }) => searched);
  return column && { name: column.name, isOrder: options.fullText === true };
}

export function relationNamed(entity: EntitySpec, name: string): RelationSpec | undefined {
  return entity.relations.find((relation) => relation.name === name);
}

export function toOnesOf(entity: EntitySpec): readonly ToOneSpec[] {
  return entity.relations.filter((relation) => relation.kind === 'to-one');
}

export function entityNamed(schema: SchemaSpec, name: string): EntitySpec {
  const found = schema.entities.find((entity) => entity.name === name);
  if (!found) throw new Error(`The schema has no entity ${name}`);
  return found;
}
