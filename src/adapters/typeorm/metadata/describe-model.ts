import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { EntityMetadata } from 'typeorm';
import type {
  ColumnDescription,
  EntityDescription,
  ModelDescription,
  Unsupported,
} from '../../../core/schema/entity-metadata.js';
import type { AskExposures } from '../../../core/schema/exposure.js';
import type { AskRules } from '../../../core/schema/value-rules.js';
import type { DataType } from '../../../core/schema/data-type.js';
import { knownDialectFamily } from '../dialect-family.js';
import { declaredProperties, isSchema, schemaTarget } from './declared-properties.js';
import { describeRules } from './describe-rules.js';
import { describeExposures } from './describe-exposures.js';
import { describeRelations, describeUnjoined, unmappedRelations } from './describe-relations.js';
import type { RelationSource } from './describe-relations.js';
import { entityIdOf } from './entity-id.js';
import { MappedTables } from './mapped-tables.js';
import { acceptsNull, hasFittingKind, isOwnColumn, sharesTable, unsupportedKinds } from './inheritance.js';
import { describeTransformer } from './describe-transformer.js';
import { unsupportedTrees } from './trees.js';
import { dataTypeOf } from './value-type-of.js';
import type { ColumnDataType } from './value-type-of.js';
import { describeValidatorColumns, isUnversioned } from './typeorm-version.js';

/** What decorators of other packages say of classes, where the application has these packages. */
export interface AskedClasses {
  readonly exposures?: AskExposures | undefined;
  readonly rules?: AskRules | undefined;
}

/**
 * All that boot needs to know of a data source, as plain data. Reads metadata only, never the database. `asked` is what packages of the
 * application say of its classes.
 */
export function describeModel(dataSource: DataSource, asked: AskedClasses = {}): ModelDescription {
  const family = knownDialectFamily(dataSource);
  const given = givenEntities(dataSource);
  const schemas = new Map(
    [...given].reverse().flatMap((each) => (isSchema(each) ? [[schemaTarget(each.options), each]] : [])),
  );
  const tables = new MappedTables(dataSource);
  const declared = declaredProperties(given);
  return {
    entities: dataSource.entityMetadatas.map((metadata) =>
      describeEntity({ metadata, dataSource, tables, declared }, schemas.get(metadata.target), asked),
    ),
    abilities: {
      regex: family === 'postgres' || family === 'mysql',
      fullText: family === 'postgres' ? 'any-column' : family === 'mysql' ? 'indexed-columns' : 'none',
    },
    given,
    dataSource:
      'name' in dataSource.options && typeof dataSource.options.name === 'string'
        ? dataSource.options.name
        : 'default',
  };
}

/** Classes and schemas of the options; patterns of files say nothing here. */
function givenEntities(dataSource: DataSource): readonly unknown[] {
  const given = dataSource.options.entities ?? [];
  const values: readonly unknown[] = Array.isArray(given) ? given : Object.values(given);
  return values.filter((each) => typeof each !== 'string');
}

/** `schema` is the `EntitySchema` of the entity as it was given to the data source. */
function describeEntity(
  source: RelationSource,
  schema: unknown,
  { exposures, rules }: AskedClasses,
): EntityDescription {
  const { metadata, dataSource } = source;
  return {
    id: entityIdOf(metadata, dataSource),
    name: metadata.targetName || metadata.name,
    targets: targetsOf(metadata, schema),
    writable: metadata.tableType !== 'view',
    creatable: metadata.tableType !== 'view' && hasFittingKind(metadata, dataSource),
    columns: metadata.columns.map((column) => describeColumn(column, source)),
    key: metadata.primaryColumns.map((column) => column.databaseName),
    unique: describeUnique(metadata),
    ...describeValidatorColumns(metadata),
    relations: describeRelations(source),
    exposures: exposures ? describeExposures(metadata, dataSource, exposures) : new Map(),
    rules: rules ? describeRules(metadata, rules) : new Map(),
    unjoined: describeUnjoined(source),
    unmapped: unmappedRelations(source),
    orderBy: describeOrder(metadata),
    unsupported: [...keyless(metadata), ...unsupportedKinds(metadata), ...unsupportedTrees(metadata)],
  };
}

/** Those of all rows: a partial index says nothing of the others. Relations of one to one are unique by an index of theirs. */
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

/** TypeORM asks for a key of tables, and of views it does not. */
function keyless({ primaryColumns }: EntityMetadata): readonly Unsupported[] {
  return primaryColumns.length > 0
    ? []
    : [
        {
          what: 'it has no primary key, and its rows no URL',
          repair:
            'Mark the columns that name a row with @PrimaryColumn(), in place of @ViewColumn(), or leave the entity out: do not register it.',
          readable: false,
        },
      ];
}

/** The class, and the schema: either may have been declared. */
function targetsOf({ target }: EntityMetadata, schema: unknown): readonly unknown[] {
  return [target, schema].filter(
    (each) => typeof each === 'function' || (typeof each === 'object' && each !== null),
  );
}

function describeColumn(column: ColumnMetadata, source: RelationSource): ColumnDescription {
  const { metadata, dataSource } = source;
  const described = dataTypeOf(column, dataSource);
  const supported = 'type' in described;
  const unfitKey = supported && column.isPrimary ? whyNoKey(described.type, dataSource) : undefined;
  return {
    id: column.databaseName,
    path: column.propertyPath,
    type: supported ? described.type : { kind: 'json' },
    nullable: column.isNullable || column.isVirtualProperty || (sharesTable(metadata) && !column.isPrimary),
    acceptsNull: acceptsNull(column, source),
    internal:
      column.isVirtual ||
      !isOwnColumn(column, source) ||
      column.isTreeLevel ||
      column.isNestedSetLeft ||
      column.isNestedSetRight ||
      column.isMaterializedPath,
    primary: column.isPrimary,
    generated: isMadeForUs(column),
    hasDefault: column.default !== undefined || isFilledByOrm(column),
    selected: column.isSelect,
    insertable: column.isInsert,
    updatable: column.isUpdate,
    unversioned:
      !supported ||
      isUnversioned(column, described.type, {
        metadata,
        dataSource,
        settable: column.isUpdate && !isMadeForUs(column),
      }),
    fullText: metadata.indices.some(
      (index) => index.isFulltext && index.columns.length === 1 && index.columns.includes(column),
    ),
    ...describeTransformer(column, supported ? described.type : undefined),
    ...(supported ? {} : unsupportedOf(described)),
    ...(unfitKey === undefined ? {} : { unfitKey }),
  };
}

function unsupportedOf({
  unsupported,
  isArray,
}: Exclude<ColumnDataType, { type: DataType }>): Partial<ColumnDescription> {
  return { unsupported, ...(isArray ? { unsupportedArray: isArray } : {}) };
}

/** A row is written through TypeORM, which must find it, and it alone, by its key. */
function whyNoKey(type: DataType, dataSource: DataSource): string | undefined {
  switch (type.kind) {
    case 'datetime':
      return type.digits > 3
        ? 'a date-time of more than three digits, of which TypeORM keeps three'
        : undefined;
    case 'enum':
      return knownDialectFamily(dataSource) === 'mysql' &&
        type.values.some((value) => typeof value === 'number')
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

/** The client never gives it: generated keys and columns, virtual columns, and what TypeORM fills by itself. */
function isMadeForUs(column: ColumnMetadata): boolean {
  return (
    column.isGenerated ||
    column.generatedType !== undefined ||
    column.asExpression !== undefined ||
    column.isVirtualProperty ||
    column.isDiscriminator ||
    isFilledByOrm(column)
  );
}

function isFilledByOrm(column: ColumnMetadata): boolean {
  return column.isCreateDate || column.isUpdateDate || column.isDeleteDate || column.isVersion;
}

function describeOrder(metadata: EntityMetadata): EntityDescription['orderBy'] {
  return Object.entries(metadata.orderBy ?? {}).map(([path, said]) => {
    const { order, nulls } = typeof said === 'string' ? { order: said } : said;
    return {
      path,
      descending: order === 'DESC',
      ...(nulls ? { nulls: nulls === 'NULLS FIRST' ? 'first' : 'last' } : {}),
    };
  });
}
