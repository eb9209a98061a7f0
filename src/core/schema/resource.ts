import type { Bulk } from '../contracts/bulk.js';
import type { Column } from './column.js';
import type { Condition, NullsPlace, Operand, TermMatch } from '../query/condition.js';
import type { CacheControl, Conditional } from '../contracts/conditional.js';
import type { Field } from './field.js';
import type { Idempotency } from '../contracts/idempotency.js';
import type { QueryLimits } from './limits.js';
import type { CustomFilterRows } from '../contracts/custom-filter.js';
import type { RequestCounter, Throttle } from '../contracts/throttle.js';
import type { GuardLike } from '../contracts/guard.js';
import type { ResourceHooks } from '../contracts/hooks.js';
import type { InterceptorLike } from '../contracts/interceptor.js';
import type { Pagination } from '../contracts/pagination.js';
import type { Piping } from '../contracts/pipe.js';
import type { FilterBackend } from '../contracts/filter-backend.js';
import type { Operation } from './operation.js';
import type { Renderer } from '../contracts/renderer.js';
import type { AuthenticationScheme } from '../contracts/authentication.js';
import type { CompiledPermission } from '../contracts/compiled-permission.js';
import type { Relation, ToManyRelation, ToOneRelation } from './relation.js';
import type { Lookup } from '../query/row-filter.js';
import type { DataType } from './data-type.js';
import type { Serializer } from '../contracts/serializer.js';
import type { FieldSelection } from '../contracts/field-selection.js';

/** How a row is named in a URL. The values of a composite key stand in the order of its columns. */
export interface Key {
  readonly columns: readonly Column[];
  /** The columns are those of the row that this leads to: of a pair that refers to its other side by other columns than the key. */
  readonly via?: ToOneRelation;
}

/** A step into a to-many relation: at least one of its rows fits what is said of them. */
export interface ExistsStep {
  /** To-one relations up to where it begins. */
  readonly hops: readonly Relation[];
  readonly relation: ToManyRelation;
  /** The caller's grants: on the models that `hops` lead over, on the related rows, and on the junction's. */
  readonly near?: Condition;
  readonly rows?: Condition;
  readonly through?: Condition;
}

/** Where a value stands that a query reads. Several operands are the columns of a composite related key. */
export interface QueriedPath {
  /** To-many relations on the way, from the outside in; the operands stand in the rows of the last one. */
  readonly some: readonly ExistsStep[];
  readonly operands: readonly Operand[];
}

/** A parameter that compares a field. */
export interface FieldTerm extends QueriedPath {
  readonly kind: 'field';
  readonly lookup: Lookup;
  /** It compares the key of a related row: a number that no row can have is a key of no row. */
  readonly isKey: boolean;
  /** The path ends with its last to-many relation itself, so that `isnull` asks whether it has any row. */
  readonly isMany: boolean;
  /** What must hold beside the comparison: the caller's grants on the models that the operands lead over. */
  readonly within?: Condition;
}

/** A parameter whose rows a function of the model names. */
export interface CustomTerm {
  readonly kind: 'own';
  readonly type: DataType;
  readonly isList: boolean;
  /** What it tells of, and so what a caller must be allowed to read. */
  readonly reads: readonly QueriedPath[];
  readonly rows: CustomFilterRows;
  /** Which rows behind these to-one relations the caller may see; left out where that is all of them. */
  readonly visible?: (hops: readonly Relation[]) => Condition;
}

/** What a query parameter filters by. */
export type FilterTerm = FieldTerm | CustomTerm;

export interface SearchField {
  readonly operand: Operand;
  readonly match: TermMatch;
  /** As of a filter term. */
  readonly within?: Condition;
}

export interface OrderTerm {
  readonly operand: Operand;
  readonly descending: boolean;
  /** Left out: where the database puts them. */
  readonly nulls?: NullsPlace;
}

/** A field that a client may order by. */
export interface OrderingField {
  /** Several for a composite related key. */
  readonly operands: readonly Operand[];
  /** Where nulls stand, in either direction, if the model says so. */
  readonly nulls?: NullsPlace;
}

/** A relation that bodies may name by the plain column of its foreign key (contract 5.13). */
export interface Placeholder {
  /** Names of the embedded objects in which both stand. */
  readonly within: readonly string[];
  readonly relation: ToOneRelation;
  /** The field of the relation, and that of the column. */
  readonly names: readonly [relation: string, column: string];
}

/**
 * One exposed entity, compiled and frozen at boot. Nothing at request time looks at decorators or at the ORM's
 * metadata: all of it is here.
 */
export interface Resource {
  /** `polls.question`, unique below a prefix. */
  readonly id: string;
  readonly app: string;
  readonly model: string;
  /** The class name, for people. */
  readonly label: string;
  /** The adapter's name of the entity. */
  readonly entity: string;
  /** Has a collection of its own. A through model that nobody registered has none. */
  readonly registered: boolean;
  readonly key: Key;
  /** The columns that name a row in its table: those of `key`, except for a pair, whose key is its other side alone. */
  readonly identity: readonly Column[];
  readonly columns: ReadonlyMap<string, Column>;
  /** In the order of bodies (contract 2.2). */
  readonly fields: readonly Field[];
  readonly fieldsByName: ReadonlyMap<string, Field>;
  /** Relations that bodies may name by the plain columns of their foreign keys. */
  readonly standIns: readonly Placeholder[];
  /** To-many relations that are shown, and so have nested URLs where their models have the operations. */
  readonly nested: readonly ToManyRelation[];
  /** All relations of the entity, shown or not, by name. What is shown is a field. */
  readonly relations: ReadonlyMap<string, Relation>;
  /** Relations to served models of which a column belongs to another relation too: what is written of one moves the other. */
  readonly overlapping: readonly ToOneRelation[];
  readonly operations: ReadonlySet<Operation>;
  /** New names of its query parameters, by the names that they have elsewhere. */
  readonly renamed: ReadonlyMap<string, string>;
  /** By query parameter: `votes`, `question__pub_date__gte`, `votes!`. */
  readonly filterTerms: ReadonlyMap<string, FilterTerm>;
  /** Clients may put filters together with `and`, `or` and `not`. */
  readonly filterGroups: boolean;
  readonly queryLimits: QueryLimits;
  readonly searchFields: readonly SearchField[];
  readonly orderingFields: ReadonlyMap<string, OrderingField>;
  /** Clients may say where nulls stand. */
  readonly orderingNulls: boolean;
  /** Where no `ordering` is asked for. The key is added by planning, so that a list's order is total. */
  readonly ordering: readonly OrderTerm[];
  readonly backends: readonly FilterBackend[];
  /** Undefined where a list is the whole result. */
  readonly pagination: Pagination | undefined;
  /** Forms of rows beside JSON. */
  readonly renderers: readonly Renderer[];
  /** Undefined where clients take answers as they are. */
  readonly shape: FieldSelection | undefined;
  /** Its fields are what some client has chosen among those of another: statements about it are kept apart. */
  readonly chosen?: boolean;
  /** Undefined where no request is conditional. */
  readonly conditional: Conditional | undefined;
  /** Undefined where a request writes one object. */
  readonly bulk: Bulk | undefined;
  /** Undefined where answers say nothing of caches. */
  readonly cacheControl: CacheControl | undefined;
  /** Undefined where a POST that comes twice is done twice. */
  readonly idempotency: Idempotency | undefined;
  readonly serializer: Serializer;
  readonly permission: CompiledPermission;
  /** Its permission may grant some of the fields. */
  readonly grantsSomeFields: boolean;
  /** How callers say who they are, in the order in which it is tried. */
  readonly schemes: readonly AuthenticationScheme[];
  /** Guards are among them. */
  readonly guarded: boolean;
  /** Whether a caller whose credentials were refused too often is 429. */
  readonly refusalsThrottled: boolean;
  /** Guards of Nest: those among the schemes, and those that run when the permission has said yes. */
  readonly guards: readonly GuardLike[];
  readonly lateGuards: readonly GuardLike[];
  /** Interceptors of Nest, around whatever answers. */
  readonly interceptors: readonly InterceptorLike[];
  /** Undefined where no pipe stands before its operations. */
  readonly piping: Piping | undefined;
  readonly hooks: ResourceHooks;
  /** Relations whose objects stand on an entity when its listeners are called; with dots, what lies behind them. */
  readonly listenerRelations: readonly string[];
  readonly throttle: Throttle | undefined;
  /** Counts for `throttle`. */
  readonly counter: RequestCounter | undefined;
  /** DELETE of an object answers with what it was. */
  readonly returnDeleted: boolean;
  /** Unknown body fields and query parameters are errors. */
  readonly strict: boolean;
}
