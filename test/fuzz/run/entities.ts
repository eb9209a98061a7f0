import {
  Column,
  DeleteDateColumn,
  Entity,
  EntitySchema,
  Index,
  getMetadataArgsStorage,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
  VersionColumn,
} from 'typeorm';
import type {
  ColumnOptions,
  EntitySchemaColumnOptions,
  EntitySchemaRelationOptions,
  JoinColumnOptions,
  JoinTableOptions,
} from 'typeorm';
import { columnsOf, entityNamed, toOnesOf } from '../schema.js';
import type {
  ColumnKind,
  ColumnSpec,
  EntitySpec,
  Json,
  ManySpec,
  RelationSpec,
  SchemaSpec,
  ToOneSpec,
} from '../schema.js';
import type { DatabaseName } from './databases.js';

type Types = Readonly<Record<ColumnKind, EntitySchemaColumnOptions['type']>>;

const COMMON: Types = {
  int: 'int',
  bigint: 'bigint',
  decimal: 'decimal',
  double: 'double',
  boolean: 'boolean',
  varchar: 'varchar',
  text: 'text',
  date: 'date',
  datetime: 'datetime',
  uuid: 'varchar',
  enum: 'simple-enum',
  json: 'simple-json',
  list: 'simple-array',
  version: 'int',
  deletion: 'datetime',
};

const TYPES: Readonly<Record<DatabaseName, Types>> = {
  sqlite: COMMON,
  postgres: {
    ...COMMON,
    double: 'double precision',
    datetime: 'timestamptz',
    uuid: 'uuid',
    json: 'jsonb',
    deletion: 'timestamptz',
  },
  mariadb: { ...COMMON, uuid: 'uuid', json: 'json' },
};

/** The collations by which every database compares texts by code points, like the model. */
const COLLATIONS: Readonly<Record<DatabaseName, string | undefined>> = {
  sqlite: undefined,
  postgres: 'C',
  mariadb: 'utf8mb4_bin',
};

export function tableOf(entity: EntitySpec): string {
  return entity.name.toLowerCase();
}

export function foreignKeyOf(relation: string): string {
  return `${relation}_ref`;
}

/** The join table of a many-to-many relation without an entity. */
export function junctionOf(relation: ManySpec): string {
  return `${relation.owner}_${relation.ownerRelation}_pairs`.toLowerCase();
}

export type JsonRow = Record<string, Json>;
export type MadeEntity = EntitySchema<JsonRow> | EntityClass;
export type EntityClass = new () => JsonRow;

/**
 * The entities of a schema: `EntitySchema`s, and decorated classes for entities that are mapped to a join table, because an
 * `EntitySchema` cannot set `synchronize: false` for a join table.
 */
export function entitiesOf(schema: SchemaSpec, database: DatabaseName): MadeEntity[] {
  const isMapped = schema.entities.some(({ relations }) =>
    relations.some((relation) => relation.kind === 'many-to-many' && relation.through),
  );
  if (!isMapped) return schema.entities.map((entity) => entitySchemaOf(entity, schema, database));
  const classes = new Map(
    schema.entities.map(({ name }): [string, EntityClass] => [
      name,
      {
        [name]: class implements Record<string, Json> {
          [name: string]: Json;
        },
      }[name] as EntityClass,
    ]),
  );
  for (const entity of schema.entities) decorate(entity, { schema, database, classes });
  return [...classes.values()];
}

/** Removes the metadata of the decorators from TypeORM's global storage, which would grow without limit. */
export function forgetEntities(entities: readonly MadeEntity[]): void {
  const gone = new Set<unknown>(entities);
  for (const stored of Object.values(getMetadataArgsStorage()) as unknown[])
    if (Array.isArray(stored)) {
      const kept = (stored as { readonly target?: unknown }[]).filter(({ target }) => !gone.has(target));
      stored.splice(0, stored.length, ...kept);
    }
}

interface Making {
  readonly schema: SchemaSpec;
  readonly database: DatabaseName;
  readonly classes: ReadonlyMap<string, EntityClass>;
}

function decorate(entity: EntitySpec, making: Making): void {
  const { database, classes } = making;
  const target = entityClass(classes, entity.name);
  for (const column of columnsOf(entity)) {
    const { type, ...options } = columnOptions(column, database);
    const given = { ...options, type } as ColumnOptions;
    const isKey = entity.key.columns.includes(column);
    columnDecorator(
      column,
      { isKey, isGenerated: entity.key.generated },
      given,
    )(target.prototype as object, column.name);
  }
  for (const relation of entity.relations) decorateRelation(entity, relation, making);
  Entity(tableOf(entity))(target);
  for (const names of entity.uniques) Unique([...names])(target);
  for (const { columns, ...index } of searchIndices(entity, database)) Index(columns, index)(target);
}

function entityClass(classes: ReadonlyMap<string, EntityClass>, name: string): EntityClass {
  const found = classes.get(name);
  if (!found) throw new Error(`No class ${name}`);
  return found;
}

function columnDecorator(
  { kind }: ColumnSpec,
  { isKey, isGenerated }: { readonly isKey: boolean; readonly isGenerated: boolean },
  options: ColumnOptions,
): PropertyDecorator {
  if (isKey && isGenerated)
    return kind === 'uuid' ? PrimaryGeneratedColumn('uuid') : PrimaryGeneratedColumn();
  if (isKey) return PrimaryColumn({ ...options, nullable: false });
  if (kind === 'deletion') return DeleteDateColumn(options);
  return kind === 'version' ? VersionColumn() : Column(options);
}

function decorateRelation(entity: EntitySpec, relation: RelationSpec, { schema, classes }: Making): void {
  const prototype = entityClass(classes, entity.name).prototype as object;
  const {
    inverseSide,
    joinColumn,
    joinTable,
    type,
    target: _,
    ...options
  } = relationOptions(relation, schema, entity);
  const related = (): EntityClass => entityClass(classes, relation.target);
  switch (type) {
    case 'many-to-one':
      ManyToOne(related, inverseSide as string, options)(prototype, relation.name);
      break;
    case 'one-to-one':
      OneToOne(related, inverseSide as string, options)(prototype, relation.name);
      break;
    case 'one-to-many':
      OneToMany(related, inverseSide as string)(prototype, relation.name);
      break;
    default:
      ManyToMany(related, inverseSide as string)(prototype, relation.name);
  }
  if (joinColumn === true) JoinColumn()(prototype, relation.name);
  else if (joinColumn) JoinColumn(joinColumn as JoinColumnOptions)(prototype, relation.name);
  if (joinTable) JoinTable(joinTable as JoinTableOptions)(prototype, relation.name);
}

function entitySchemaOf(
  entity: EntitySpec,
  schema: SchemaSpec,
  database: DatabaseName,
): EntitySchema<JsonRow> {
  const columns: Record<string, EntitySchemaColumnOptions> = {};
  for (const column of columnsOf(entity)) {
    const isKey = entity.key.columns.includes(column);
    columns[column.name] = {
      ...columnOptions(column, database),
      ...(isKey ? { primary: true } : {}),
      ...(isKey && entity.key.generated ? { generated: generatedBy(column) } : {}),
    };
  }
  const relations: Record<string, EntitySchemaRelationOptions> = {};
  for (const relation of entity.relations)
    relations[relation.name] = relationOptions(relation, schema, entity);
  return new EntitySchema<JsonRow>({
    name: entity.name,
    tableName: tableOf(entity),
    columns,
    relations,
    indices: searchIndices(entity, database),
    uniques: entity.uniques.map((names, index) => ({
      name: `uq_${tableOf(entity)}_${index}`,
      columns: [...names],
    })),
  });
}

/** The index that MariaDB needs for a ranked search; PostgreSQL reads all rows without one. */
function searchIndices(
  { columns }: EntitySpec,
  database: DatabaseName,
): { readonly columns: string[]; readonly fulltext: true }[] {
  const text = database === 'mariadb' ? columns.find(({ searched }) => searched) : undefined;
  return text ? [{ columns: [text.name], fulltext: true }] : [];
}

function generatedBy({ kind }: ColumnSpec): 'uuid' | 'increment' {
  return kind === 'uuid' ? 'uuid' : 'increment';
}

function columnOptions(column: ColumnSpec, database: DatabaseName): EntitySchemaColumnOptions {
  const { kind, length, values, default: byDefault } = column;
  return {
    type: TYPES[database][kind],
    nullable: column.nullable ?? false,
    ...(column.unique ? { unique: true } : {}),
    ...(byDefault === undefined ? {} : { default: columnDefault(kind, byDefault, database) }),
    ...(length === undefined ? {} : { length }),
    ...(values ? { enum: [...values] } : {}),
    ...(column.hidden ? { select: false } : {}),
    ...kindOptions(kind, database),
  };
}

/** On MariaDB, TypeORM rounds a numeric default to the scale of the column, which a `double` may not have. */
function columnDefault(kind: ColumnKind, value: Json, database: DatabaseName): Json {
  return kind === 'double' && database === 'mariadb' ? String(value) : value;
}

function kindOptions(kind: ColumnKind, database: DatabaseName): Partial<EntitySchemaColumnOptions> {
  const collation = COLLATIONS[database];
  if (collation !== undefined && (kind === 'varchar' || kind === 'text')) return { collation };
  if (kind === 'decimal') return { precision: 8, scale: 2 };
  if (kind === 'datetime' && database !== 'sqlite') return { precision: 3 };
  if (kind === 'deletion') return { deleteDate: true };
  return kind === 'version' ? { version: true } : {};
}

function relationOptions(
  relation: RelationSpec,
  schema: SchemaSpec,
  entity: EntitySpec,
): EntitySchemaRelationOptions {
  switch (relation.kind) {
    case 'to-one': {
      const inverse = inverseOf(entity, relation.name, schema);
      return {
        type: relation.unique ? 'one-to-one' : 'many-to-one',
        target: relation.target,
        nullable: relation.nullable,
        joinColumn: joinColumnOf(relation, entityNamed(schema, relation.target)),
        ...(relation.unbound ? { createForeignKeyConstraints: false } : {}),
        ...(relation.onDelete === 'NO ACTION' ? {} : { onDelete: relation.onDelete }),
        ...(inverse === undefined ? {} : { inverseSide: inverse }),
      };
    }
    case 'reverse-one':
      return { type: 'one-to-one', target: relation.target, inverseSide: relation.forward };
    case 'to-many':
      return { type: 'one-to-many', target: relation.target, inverseSide: relation.forward };
    case 'many-to-many':
      return manyOptions(relation, schema, entity);
    default:
      return relation satisfies never;
  }
}

function joinColumnOf(
  { name, on }: ToOneSpec,
  { key }: EntitySpec,
): true | JoinColumnOptions | JoinColumnOptions[] {
  if (on) return on.map(({ near, far }) => ({ name: near, referencedColumnName: far }));
  return key.columns.length === 1 ? { name: foreignKeyOf(name) } : true;
}

function inverseOf(entity: EntitySpec, forward: string, schema: SchemaSpec): string | undefined {
  const target = toOnesOf(entity).find((relation) => relation.name === forward)?.target;
  if (target === undefined) return undefined;
  return entityNamed(schema, target).relations.find(
    (relation) =>
      (relation.kind === 'to-many' || relation.kind === 'reverse-one') &&
      relation.target === entity.name &&
      relation.forward === forward,
  )?.name;
}

function isOwner(relation: ManySpec, entity: EntitySpec): boolean {
  return relation.owner === entity.name && relation.ownerRelation === relation.name;
}

function manyOptions(
  relation: ManySpec,
  schema: SchemaSpec,
  entity: EntitySpec,
): EntitySchemaRelationOptions {
  const both = {
    type: 'many-to-many' as const,
    target: relation.target,
    ...(relation.inverse === undefined ? {} : { inverseSide: relation.inverse }),
  };
  if (!isOwner(relation, entity)) return both;
  const { through } = relation;
  if (!through) return { ...both, joinTable: { name: junctionOf(relation) } };
  return {
    ...both,
    joinTable: {
      name: tableOf(entityNamed(schema, through.entity)),
      joinColumn: { name: foreignKeyOf(through.near) },
      inverseJoinColumn: { name: foreignKeyOf(through.far) },
      synchronize: false,
    },
  };
}
