import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Column } from '../../../core/schema/column.js';
import type { Field } from '../../../core/schema/field.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Dialect, InsertSyntax } from '../../../sql/dialects/dialect.js';
import { dialectFamily } from '../data-source-dialect.js';
import type { FoundCause, WriteFacts } from '../../../execution/choose-write.js';
import { nameOfListener } from '../metadata/listeners.js';
import { changeDetection } from './change-detection.js';
import type { ChangeDetection, ComputedColumn } from './change-detection.js';
import { isStoredAlike } from './column-values.js';
import { createEntity } from './entity-values.js';
import { KeyColumns } from './key-columns.js';

/** How an entity's rows are written without TypeORM. */
export interface DirectWriterRules {
  /** The ids of the columns that TypeORM and `encode` write identically. */
  readonly alike: ReadonlySet<string>;
  readonly inserting: InsertSyntax;
  /** Undefined if TypeORM has to write new rows. */
  readonly create: InsertRules | undefined;
  /** The ids of the columns of relations that share one. */
  readonly overlapping: ReadonlySet<string>;
  /** Undefined if TypeORM has to update rows. */
  readonly update: UpdateRules | undefined;
}

/** The rules of a view, and what it is that TypeORM has to write. */
export interface WriterFacts extends WriteFacts {
  /** Undefined if the entity's rows always need TypeORM. */
  readonly rules: DirectWriterRules | undefined;
}

/** Built once for a view. */
export function writerFacts(
  resource: ResourceSchema,
  metadata: EntityMetadata,
  { dataSource, dialect }: { dataSource: DataSource; dialect: Dialect },
): WriterFacts {
  const { tableName } = metadata;
  const unsuitable = tableCause(metadata, dataSource, dialect) ?? viewCause(resource);
  const defaults = unsuitable ? 'none' : classDefaultsOf(metadata);
  const table =
    unsuitable ?? (defaults === 'all' ? ({ kind: 'accessors', name: metadata.name } as const) : undefined);
  const { inserting } = dialect;
  if (table || !inserting)
    return { tableName, table, create: undefined, update: undefined, rules: undefined };
  const alike = new Set(
    metadata.columns.flatMap((each) => {
      const column = resource.columns.get(each.databaseName);
      return column && isStoredAlike(column, each) ? column.id : [];
    }),
  );
  const context = { dataSource, dialect, alike };
  const overlapping = KeyColumns.of(resource, metadata)?.overlapping ?? [];
  const create = insertRules(resource, metadata, context);
  const update = updateRules(resource, metadata, context);
  return {
    tableName,
    table,
    create: createCause(create, defaults === 'new' ? metadata.name : undefined),
    update: updateCause(update, context),
    rules: {
      inserting,
      alike,
      overlapping: new Set(overlapping.map(({ id }) => id)),
      create: isCause(create) ? undefined : create,
      update: isCause(update) ? undefined : update,
    },
  };
}

/** Why one statement of the body's values does not create a row. */
function createCause(
  rules: ReturnType<typeof insertRules>,
  initialized: string | undefined,
): WriteFacts['create'] {
  if (isCause(rules)) return rules;
  return initialized === undefined ? undefined : { kind: 'initializers', name: initialized };
}

/** Why one statement does not change a row. */
function updateCause(
  rules: ReturnType<typeof updateRules>,
  { dataSource, dialect }: RulesContext,
): WriteFacts['update'] {
  if (isCause(rules)) return rules;
  return dialect.returning ? undefined : { kind: 'update-returning', name: dataSource.options.type };
}

function isCause(given: object): given is FoundCause<string> {
  return 'kind' in given;
}

/**
 * Whether the entity's class sets initial values (`new`), or defines accessors that may change every assigned value
 * (`all`).
 */
function classDefaultsOf(metadata: EntityMetadata): 'none' | 'new' | 'all' {
  let entity: ObjectLiteral;
  try {
    entity = createEntity(metadata);
  } catch {
    // A constructor that throws without arguments.
    return 'all';
  }
  const relations = metadata.relations.filter((relation) => !relation.isLazy);
  const names = [...metadata.columns, ...relations].map(({ propertyName }) => propertyName);
  if (
    names.some((name) => name in entity && Object.getOwnPropertyDescriptor(entity, name)?.writable !== true)
  )
    return 'all';
  return names.some((name) => entity[name] !== undefined) ? 'new' : 'none';
}

/** Why the entity has no table of its own with columns that are written unchanged. */
function tableCause(
  metadata: EntityMetadata,
  { options }: DataSource,
  { inserting }: Dialect,
): WriteFacts['table'] {
  const { tableName, tableType, discriminatorColumn, treeType, columns, embeddeds, afterLoadListeners } =
    metadata;
  if (metadata.isJunction) return { kind: 'join-table', name: tableName };
  if (!inserting) return { kind: 'database', name: options.type };
  if (tableType !== 'regular' || discriminatorColumn !== undefined || treeType !== undefined)
    return { kind: 'shared-table', name: tableName };
  const odd = columns.find(
    (column) =>
      column.transformer !== undefined || column.asExpression !== undefined || column.isVirtualProperty,
  );
  if (odd) return { kind: 'column-code', name: odd.propertyPath };
  const [embedded] = embeddeds;
  if (embedded) return { kind: 'embedded', name: embedded.propertyName };
  // Such names are aliases of subqueries.
  if (/^t\d+$/.test(tableName)) return { kind: 'table-name', name: tableName };
  const [listener] = afterLoadListeners;
  return listener && { kind: 'after-load', name: nameOfListener(listener) };
}

/** Why not all readable values of a row are stored in the row itself. */
function viewCause({ fields, identity, key, className }: ResourceSchema): WriteFacts['table'] {
  if (identity !== key.columns || key.via !== undefined) return { kind: 'key', name: className };
  const other = fields.find((field) => field.readable && !isOwn(field));
  return other && { kind: 'other-rows', name: other.name };
}

function isOwn(field: Field): boolean {
  return (
    field.kind === 'column' || field.kind === 'link' || (field.kind === 'to-one' && field.relation.byKey)
  );
}

/** How rows of an entity are updated without TypeORM. */
interface UpdateRules {
  readonly computed: readonly ComputedColumn[];
  /** How a change of each column is detected; without one, TypeORM has to detect it. */
  readonly detections: ReadonlyMap<string, ChangeDetection>;
}

/** The rules, or why TypeORM has to update rows. */
function updateRules(
  resource: ResourceSchema,
  metadata: EntityMetadata,
  context: RulesContext,
): UpdateRules | NonNullable<WriteFacts['update']> {
  const [listener] = [...metadata.beforeUpdateListeners, ...metadata.afterUpdateListeners];
  if (listener) return { kind: 'update-listener', name: nameOfListener(listener) };
  const computed = computedColumns(resource, metadata, context);
  if (!computed) return { kind: 'update-date', name: metadata.updateDateColumn?.propertyPath ?? '' };
  // MariaDB assigns one column after another, so that the comparisons of later ones would see new values.
  const detections = context.dialect.returning ? detectionsOf(resource, metadata, context) : NO_DETECTIONS;
  return { computed, detections };
}

const NO_DETECTIONS: UpdateRules['detections'] = new Map();

/** Undefined for a date of the last update whose column is not a date-time: its expression would need another type. */
export function computedColumns(
  resource: ResourceSchema,
  { versionColumn, updateDateColumn }: EntityMetadata,
  { dataSource, dialect }: Pick<RulesContext, 'dataSource' | 'dialect'>,
): readonly ComputedColumn[] | undefined {
  const computed: ComputedColumn[] = [];
  if (versionColumn) {
    const name = dataSource.driver.escape(versionColumn.databaseName);
    computed.push({ columnId: versionColumn.databaseName, name, sql: `${name} + 1` });
  }
  if (updateDateColumn) {
    const type = resource.columns.get(updateDateColumn.databaseName)?.type;
    if (type?.kind !== 'datetime') return undefined;
    const name = dataSource.driver.escape(updateDateColumn.databaseName);
    // With the type of the column: in a CASE beside the stored value, PostgreSQL would convert that value otherwise.
    const sql = dialect.now(type);
    computed.push({ columnId: updateDateColumn.databaseName, name, sql });
  }
  return computed;
}

/**
 * Without a column that is not selected: TypeORM has no stored value to compare, so that each written value is a change.
 * After a comparison, the version would disclose whether the written value equals the stored one.
 */
function detectionsOf(
  resource: ResourceSchema,
  metadata: EntityMetadata,
  { dataSource }: RulesContext,
): ReadonlyMap<string, ChangeDetection> {
  const database = dialectFamily(dataSource) === 'postgres' ? 'postgres' : 'sqlite';
  const detections = new Map<string, ChangeDetection>();
  for (const own of metadata.columns) {
    if (!own.isSelect) continue;
    const column = resource.columns.get(own.databaseName);
    const detection = column && changeDetection(column, comparedColumns(own), database);
    if (detection !== undefined) detections.set(own.databaseName, detection);
  }
  return detections;
}

/** The columns whose properties TypeORM compares: of a relation, those of the related row. */
function comparedColumns(own: ColumnMetadata): readonly ColumnMetadata[] {
  const referenced = own.referencedColumn ? comparedColumns(own.referencedColumn) : [];
  return own.isVirtual ? referenced : [own, ...referenced];
}

/** What TypeORM would write into an omitted column. */
interface ColumnDefault {
  readonly columnId: string;
  /** The quoted name of the column. */
  readonly name: string;
  readonly sql: string;
}

/** How new rows of an entity are written without TypeORM. */
interface InsertRules {
  readonly defaults: readonly ColumnDefault[];
  /** The columns for which a UUID is generated in the process, unless the body has a value. */
  readonly generated: readonly Column[];
  /** The ids of the columns into which TypeORM would write a value that is not part of the body, unchanged. */
  readonly writable: ReadonlySet<string>;
}

export interface RulesContext {
  readonly dataSource: DataSource;
  readonly dialect: Dialect;
  /** The ids of the columns that TypeORM and `encode` write identically. */
  readonly alike: ReadonlySet<string>;
}

/** The rules, or why TypeORM has to write new rows. */
function insertRules(
  resource: ResourceSchema,
  metadata: EntityMetadata,
  context: RulesContext,
): InsertRules | NonNullable<WriteFacts['create']> {
  const [listener] = [...metadata.beforeInsertListeners, ...metadata.afterInsertListeners];
  if (listener) return { kind: 'insert-listener', name: nameOfListener(listener) };
  const readBack = metadata.columns.find(isReadBack);
  if (readBack) return { kind: 'generated', name: readBack.propertyPath };
  const omitted = omittedColumns(resource, metadata, context);
  if (isCause(omitted)) return omitted;
  const writable = [...context.alike].filter(
    (id) => metadata.findColumnWithDatabaseName(id)?.isInsert === true,
  );
  return { ...omitted, writable: new Set(writable) };
}

/** Whether the database generates the value of a column that is not the key. */
function isReadBack({ isGenerated, isPrimary, generationStrategy }: ColumnMetadata): boolean {
  return isGenerated && !isPrimary && generationStrategy !== 'uuid';
}

/**
 * The defaults and generated columns of an INSERT without a value for them. PostgreSQL fills them itself, except for
 * the version; on SQLite TypeORM writes the entity's defaults, and NULL. Or the column whose default has no SQL.
 */
function omittedColumns(
  resource: ResourceSchema,
  metadata: EntityMetadata,
  { dataSource, dialect }: RulesContext,
): Pick<InsertRules, 'defaults' | 'generated'> | FoundCause<'default'> {
  const inserted = metadata.columns.filter((column) => column.isInsert);
  const columns = dialect.oneConnection
    ? inserted
    : inserted.filter(
        (column) =>
          column.isVersion ||
          (column.generationStrategy === 'uuid' && dialect.inserting?.generatesUuids === false),
      );
  const made = columns.filter((column) => column.isGenerated && column.generationStrategy === 'uuid');
  const generated = made.flatMap(({ databaseName }) => resource.columns.get(databaseName) ?? []);
  const defaults = columns
    .filter((column) => !made.includes(column))
    .map((column) => ({
      columnId: column.databaseName,
      name: dataSource.driver.escape(column.databaseName),
      sql: defaultSql(column, dataSource),
    }));
  const known = defaults.filter((each): each is ColumnDefault => each.sql !== undefined);
  if (known.length === defaults.length && generated.length === made.length)
    return { defaults: known, generated };
  const unknown = defaults.find(({ sql }) => sql === undefined)?.columnId;
  const hidden = made.find(({ databaseName }) => !resource.columns.has(databaseName))?.databaseName;
  return { kind: 'default', name: unknown ?? hidden ?? '' };
}

function defaultSql(column: ColumnMetadata, { driver }: DataSource): string | undefined {
  if (column.isVersion) return '1';
  return column.default === undefined || column.default === null ? 'NULL' : driver.normalizeDefault(column);
}
