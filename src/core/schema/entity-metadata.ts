import type { Json } from '../errors/rest-exception.js';
import type { Column } from './column.js';
import type { NullsPlace } from '../query/condition.js';
import type { DataType } from './data-type.js';
import type { Exposure } from './exposure.js';
import type { ValueRules } from './value-rules.js';

/** A column, and what its entity says of it beyond its type. */
export interface ColumnDescription extends Column {
  /** The entity declares no property for it: a join column, a discriminator, a tree's bookkeeping. */
  readonly internal: boolean;
  /** Bodies may say null. The table may hold null all the same, where other entities have rows in it. */
  readonly acceptsNull: boolean;
  readonly primary: boolean;
  /** The database or the ORM makes its value, and the client never gives it. */
  readonly generated: boolean;
  /** It has a default, or the ORM fills it. */
  readonly hasDefault: boolean;
  /** `select: false` columns are left out of everything. */
  readonly selected: boolean;
  readonly insertable: boolean;
  readonly updatable: boolean;
  /** The name of a type that has no place in the interface; empty where nobody says the type. */
  readonly unsupported?: string;
  /** It is an array of that type, which the ORM does not write on this database. */
  readonly unsupportedArray?: true;
  /** Why it cannot be a key, if it cannot. */
  readonly unfitKey?: string;
  /** The database keeps it as another value than the entity: it is read through the ORM, and not filtered unless asked. */
  readonly transformer?: TransformerDescription;
  /** Its value may become another while the version of its row stays: by a foreign key's action, by other rows, or by what the ORM does not notice. */
  readonly unversioned: boolean;
  /** A full-text index covers it. */
  readonly fullText: boolean;
}

export interface TransformerDescription {
  /** What the class says of the property's values. */
  readonly declared: 'list' | 'string' | 'number' | 'boolean' | 'date' | 'own' | 'unknown';
  /** The canonical form of what is stored for a value of that type; undefined where the transformer throws, or makes what no column holds. */
  convert(value: Json, type: DataType): Json | undefined;
}

export interface PairDescription {
  /** Column ids. */
  readonly near: string;
  readonly far: string;
}

interface RelationBase {
  readonly path: string;
  /** The entity that it leads to. */
  readonly target: string;
}

export interface ToOneDescription extends RelationBase {
  readonly kind: 'to-one';
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  readonly on: readonly PairDescription[];
  readonly insertable: boolean;
  readonly updatable: boolean;
}

export interface ReverseDescription extends RelationBase {
  readonly kind: 'reverse-one' | 'one-to-many';
  readonly on: readonly PairDescription[];
}

export interface ManyToManyDescription extends RelationBase {
  readonly kind: 'many-to-many';
  readonly junction: JunctionDescription;
}

/** A junction table, seen from one side. */
export interface JunctionDescription {
  /** The ORM's own entity of the junction. */
  readonly entity: string;
  /** The entities that the application maps on the same table. */
  readonly mappedBy: readonly string[];
  /** What the ORM does to the table when it connects, where it does harm. */
  readonly conflict?: JunctionConflict;
  /** `<Owner>.<property>`, where the join table is declared. */
  readonly declaredAt: string;
  readonly ownerEntity: string;
  readonly ownerProperty: string;
  readonly fromOwner: boolean;
  /** The relation of the other side over the same junction, where it is declared. */
  readonly inverse?: string;
  /** near: the parent's column; far: the junction's. */
  readonly parent: readonly PairDescription[];
  /** near: the junction's column; far: the target's. */
  readonly other: readonly PairDescription[];
}

/** The ORM changes one table to a junction and to an entity in turns. */
export interface JunctionConflict {
  /** The entity's name. */
  readonly entity: string;
  /** Names of the columns that are dropped, with what they hold, and added again. */
  readonly lost: readonly string[];
  /** The ORM cannot connect with it. */
  readonly fails: boolean;
}

export type RelationDescription = ToOneDescription | ReverseDescription | ManyToManyDescription;

/** What the adapter knows of one entity: pure data, in declaration order. */
export interface EntityDescription {
  /** Unique in its data source. */
  readonly id: string;
  /** The class name, or the schema's. */
  readonly name: string;
  /** What may have been declared: its class, its schema. */
  readonly targets: readonly unknown[];
  /** Rows can be written: false for a view. */
  readonly writable: boolean;
  /** New rows can be made of it: false where the table's discriminator column cannot hold its value. */
  readonly creatable: boolean;
  readonly columns: readonly ColumnDescription[];
  /** Column ids. */
  readonly key: readonly string[];
  /** Sets of column ids of which no two rows have the same values: the key, unique constraints and unique indexes. */
  readonly unique: readonly (readonly string[])[];
  /** The id of the column that the ORM counts the changes of a row in, where it tells all of them. */
  readonly version?: string;
  /** The id of the column in which the ORM keeps when a row was last changed. */
  readonly modified?: string;
  readonly relations: readonly RelationDescription[];
  /** Many-to-many relations of which neither side has a join table. */
  readonly unjoined: readonly RelationBase[];
  /** Paths of relations of embedded objects that TypeORM neither reads nor writes: those of an entity that extends another in its table. */
  readonly unmapped?: readonly string[];
  /** By the path of a property: what decorators of class-transformer say of it, where they say something. */
  readonly exposures: ReadonlyMap<string, Exposure>;
  /** By the path of a property: what validators say of each of its values. */
  readonly rules: ReadonlyMap<string, ValueRules>;
  readonly orderBy: readonly {
    readonly path: string;
    readonly descending: boolean;
    readonly nulls?: NullsPlace;
  }[];
  /** Why it cannot be served, if it cannot. */
  readonly unsupported: readonly Unsupported[];
}

/** What has no place in the interface, and what to write instead. */
export interface Unsupported {
  readonly what: string;
  readonly repair: string;
  /** It can be read all the same. */
  readonly readable: boolean;
}

/** What the adapter knows of a data source. */
export interface ModelDescription {
  readonly entities: readonly EntityDescription[];
  /** Things that a search may only use where the database has them. */
  readonly abilities: {
    readonly regex: boolean;
    readonly fullText: 'any-column' | 'indexed-columns' | 'none';
  };
  /** Classes and names that the data source was given as entities, known to it or not. */
  readonly given: readonly unknown[];
  readonly dataSource: string;
}
