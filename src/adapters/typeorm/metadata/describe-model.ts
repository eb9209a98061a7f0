import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type {
  ColumnDescription,
  EntityDescription,
  ModelDescription,
  Unsupported,
  ReadExposures,
} from '../../../core/schema/entity-metadata.js';
import type { ClassRulesReader } from '../../../core/schema/value-rules.js';
import type { DataType } from '../../../core/schema/data-type.js';
import { dialectFamily } from '../data-source-dialect.js';
import type { DialectFamily } from '../data-source-dialect.js';
import { declaredProperties, givenEntities, isEntitySchema, schemaTarget } from './declared-properties.js';
import {
  ForeignKeysByTable,
  describeRelations,
  describeUnjoined,
  unmappedRelations,
  MappedTables,
} from './describe-relations.js';
import { describeRules, describeExposures } from './describe-decorators.js';
import type { RelationSource } from './describe-relations.js';
import { listensTo } from './listeners.js';
import { entityIdOf } from '../table-metadata.js';
import {
  acceptsNull,
  hasStorableDiscriminator,
  isOwnColumn,
  sharesTable,
  unsupportedDiscriminators,
} from './inheritance.js';
import { describeTransformer } from './transformers.js';
import { TextColumns } from './text-columns.js';
import { unsupportedTrees } from './trees.js';
import { dataTypeOf } from './column-data-type.js';
import { describeValidatorColumns, isUnversioned } from './version-columns.js';

/** Readers of the decorators of class-transformer and class-validator, if the application has installed them. */
export interface DecoratorReaders {
  readonly exposures?: ReadExposures | undefined;
  readonly rules?: ClassRulesReader | undefined;
}

/** Describes the entities of a data source as plain data: TypeORM's metadata, and what was read of the texts' columns. */
export function describeModel(
  dataSource: DataSource,
  readers: DecoratorReaders = {},
  texts = new TextColumns(dataSource),
): ModelDescription {
  const given = givenEntities(dataSource);
  const schemas = new Map(
    [...given]
      .reverse()
      .flatMap((each) => (isEntitySchema(each) ? [[schemaTarget(each.options), each]] : [])),
  );
  const tables = new MappedTables(dataSource);
  const declared = declaredProperties(given);
  const foreignKeys = new ForeignKeysByTable(dataSource);
  return {
    entities: dataSource.entityMetadatas.map((metadata) =>
      describeEntity(
        { metadata, dataSource, tables, declared, texts, foreignKeys },
        schemas.get(metadata.target),
        readers,
      ),
    ),
    abilities: abilitiesOf(dialectFamily(dataSource)),
    given,
    dataSource:
      'name' in dataSource.options && typeof dataSource.options.name === 'string'
        ? dataSource.options.name
        : 'default',
  };
}

function abilitiesOf(family: DialectFamily): ModelDescription['abilities'] {
  switch (family) {
    case 'postgres':
      return { regex: true, fullText: 'any-column' };
    case 'mysql':
      return { regex: true, fullText: 'indexed-columns' };
    case 'sqlite':
      return { regex: false, fullText: 'none' };
    default:
      return family satisfies never;
  }
}

interface EntitySource extends RelationSource {
  readonly foreignKeys: ForeignKeysByTable;
}

/** `schema` is the `EntitySchema` of the entity in the option `entities`, if there is one. */
function describeEntity(
  source: EntitySource,
  schema: unknown,
  { exposures, rules }: DecoratorReaders,
): EntityDescription {
  const { metadata, dataSource, foreignKeys } = source;
  return {
    id: entityIdOf(metadata, dataSource),
    name: metadata.targetName || metadata.name,
    targets: declarationTargets(metadata, schema),
    writable: metadata.tableType !== 'view',
    creatable: metadata.tableType !== 'view' && hasStorableDiscriminator(metadata, dataSource),
    columns: metadata.columns.map((column) => describeColumn(column, source)),
    key: metadata.primaryColumns.map((column) => column.databaseName),
    unique: describeUnique(metadata),
    ...describeValidatorColumns(metadata),
    ...describeLoadListener(metadata, dataSource),
    ...(metadata.deleteDateColumn && { deletion: metadata.deleteDateColumn.databaseName }),
    relations: describeRelations(source),
    exposures: exposures ? describeExposures(metadata, dataSource, exposures) : new Map(),
    rules: rules ? describeRules(metadata, rules) : new Map(),
    referrers: foreignKeys.referrersOf(metadata),
    referredColumns: foreignKeys.referredColumnsOf(metadata),
    unjoined: describeUnjoined(source),
    unmapped: unmappedRelations(source),
    orderBy: describeOrder(metadata),
    unsupported: [
      ...keyless(metadata),
      ...unsupportedDiscriminators(metadata),
      ...unsupportedTrees(metadata),
    ],
  };
}

function describeLoadListener(
  metadata: EntityMetadata,
  { subscribers }: DataSource,
): Pick<EntityDescription, 'loadListener'> {
  const [listener] = metadata.afterLoadListeners;
  if (listener) return { loadListener: `the @AfterLoad method ${listener.propertyName}` };
  const subscriber = subscribers.find((each) => each.afterLoad !== undefined && listensTo(each, metadata));
  return subscriber ? { loadListener: `afterLoad of ${subscriber.constructor.name}` } : {};
}

/** The sets of columns that are unique over all rows, so without partial indexes. One-to-one relations have a unique index. */
function describeUnique({
  primaryColumns,
  uniques,
  indices,
  relations,
}: EntityMetadata): EntityDescription['unique'] {
  const sets = [
    primaryColumns,
    ...uniques.map(({ columns }) => columns),
    ...indices.filter(({ isUnique, where }) => isUnique && !where).map(({ columns }) => columns),
    ...relations.filter(({ isOneToOneOwner }) => isOneToOneOwner).map(({ joinColumns }) => joinColumns),
  ];
  return sets
    .filter((columns) => columns.length > 0)
    .map((columns) => columns.map(({ databaseName }) => databaseName));
}

/** TypeORM requires a primary key of tables, but not of views. */
function keyless({ primaryColumns }: EntityMetadata): readonly Unsupported[] {
  return primaryColumns.length > 0
    ? []
    : [
        {
          what: 'it has no primary key, so its rows have no URL',
          repair:
            'Mark the columns that name a row with @PrimaryColumn(), in place of @ViewColumn(), or leave the entity out: do not register it.',
          readable: false,
        },
      ];
}

/** The class and the schema of the entity, either of which may have been registered. */
function declarationTargets({ target }: EntityMetadata, schema: unknown): readonly unknown[] {
  return [target, schema].filter(
    (each) => typeof each === 'function' || (typeof each === 'object' && each !== null),
  );
}

function describeColumn(column: ColumnMetadata, source: RelationSource): ColumnDescription {
  const { metadata } = source;
  return {
    id: column.databaseName,
    path: column.propertyPath,
    nullable: column.isNullable || column.isVirtualProperty || (sharesTable(metadata) && !column.isPrimary),
    acceptsNull: acceptsNull(column, source),
    internal: isInternal(column) || !isOwnColumn(column, source),
    primary: column.isPrimary,
    generated: isGenerated(column),
    ...(isComputed(column) ? { isComputed: true } : {}),
    hasDefault: column.default !== undefined || isFilledByOrm(column),
    ...describeDefault(column),
    selected: column.isSelect,
    insertable: column.isInsert,
    updatable: column.isUpdate,
    fullText: hasFullTextIndex(column, metadata),
    indexed: leadsIndex(column, metadata),
    ...describeType(column, source),
  };
}

/** The properties of a column that depend on its data type. */
function describeType(
  column: ColumnMetadata,
  { metadata, dataSource, texts }: RelationSource,
): Pick<
  ColumnDescription,
  'type' | 'unversioned' | 'transformer' | 'unfitKey' | 'unsupported' | 'unsupportedArray'
> {
  const described = dataTypeOf(column, dataSource);
  if (!('type' in described))
    return {
      type: { kind: 'json' },
      unversioned: true,
      unsupported: described.unsupported,
      ...(described.isArray ? { unsupportedArray: true } : {}),
    };
  const type = texts.refine(described.type, column);
  const settable = column.isUpdate && !isGenerated(column);
  const unfit = column.isPrimary ? unfitKeyReason(type, dataSource) : undefined;
  const isReadable = type.kind === 'datetime' && !mayLoadEntities(metadata, dataSource);
  return {
    type,
    unversioned: isUnversioned(column, type, { metadata, dataSource, settable }),
    ...describeTransformer(column, type),
    ...(unfit === undefined ? {} : { unfitKey: { what: unfit, isReadable } }),
  };
}

/** Join columns without a property, and the columns in which TypeORM stores the structure of a tree. */
function isInternal(column: ColumnMetadata): boolean {
  return (
    column.isVirtual ||
    column.isTreeLevel ||
    column.isNestedSetLeft ||
    column.isNestedSetRight ||
    column.isMaterializedPath
  );
}

/** Whether a complete index of sorted values has the column first. */
function leadsIndex(column: ColumnMetadata, { primaryColumns, uniques, indices }: EntityMetadata): boolean {
  const sorted = indices.filter(({ where, isFulltext, isSpatial }) => !where && !isFulltext && !isSpatial);
  return [primaryColumns, ...[...uniques, ...sorted].map(({ columns }) => columns)].some(
    ([first]) => first === column,
  );
}

function hasFullTextIndex(column: ColumnMetadata, { indices }: EntityMetadata): boolean {
  return indices.some(
    ({ isFulltext, columns }) => isFulltext && columns.length === 1 && columns.includes(column),
  );
}

/** Whether code of the application takes part in the values that are read, so that TypeORM has to load the entity by its key. */
function mayLoadEntities(
  { afterLoadListeners, columns }: EntityMetadata,
  { subscribers }: DataSource,
): boolean {
  return (
    afterLoadListeners.length > 0 ||
    columns.some(({ transformer }) => transformer !== undefined) ||
    subscribers.some((subscriber) => subscriber.afterLoad !== undefined)
  );
}

/** Why a column of this type cannot be a primary key: TypeORM would not find exactly one row by its value. */
function unfitKeyReason(type: DataType, dataSource: DataSource): string | undefined {
  switch (type.kind) {
    case 'datetime':
      return type.digits > 3
        ? 'a date-time of more than three digits, of which TypeORM keeps three'
        : undefined;
    case 'enum':
      return dialectFamily(dataSource) === 'mysql' && type.values.some((value) => typeof value === 'number')
        ? 'a number of an enum, which this database takes for a position'
        : undefined;
    case 'float':
    case 'interval':
    case 'json':
    case 'list':
    case 'set':
    case 'binary':
      return `a value of the type ${type.kind}, which TypeORM does not find exactly`;
    default:
      return undefined;
  }
}

/** Whether clients never set the column: the database, TypeORM or a query generates its value. */
function isGenerated(column: ColumnMetadata): boolean {
  return (
    column.isGenerated ||
    isComputed(column) ||
    column.isVirtualProperty ||
    column.isDiscriminator ||
    isFilledByOrm(column)
  );
}

function isComputed({ generatedType, asExpression }: ColumnMetadata): boolean {
  return generatedType !== undefined || asExpression !== undefined;
}

/** The default as its property has it. An expression counts where it is the literal of a number or of a text. */
function describeDefault({ default: value }: ColumnMetadata): Pick<ColumnDescription, 'defaultText'> {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string')
    return { defaultText: String(value) };
  const literal = typeof value === 'function' ? LITERAL.exec(value()) : null;
  const text = literal?.[1] ?? literal?.[2];
  return text === undefined ? {} : { defaultText: text };
}

const LITERAL = /^(?:'([^']*)'|(-?\d+(?:\.\d+)?|true|false))$/;

function isFilledByOrm(column: ColumnMetadata): boolean {
  return column.isCreateDate || column.isUpdateDate || column.isDeleteDate || column.isVersion;
}

function describeOrder(metadata: EntityMetadata): EntityDescription['orderBy'] {
  return Object.entries(metadata.orderBy ?? {}).map(([path, direction]) => {
    const { order, nulls } = typeof direction === 'string' ? { order: direction } : direction;
    return {
      path,
      descending: order === 'DESC',
      ...(nulls ? { nulls: nulls === 'NULLS FIRST' ? 'first' : 'last' } : {}),
    };
  });
}
