import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { Condition } from '../../../core/query/condition.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { decodeRecord, readColumns, selectList, Scope } from '../../../sql/query-scope.js';
import type { Statement } from '../../../sql/statement.js';
import { labelStatement } from '../../../sql/statement.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import { exactDays } from '../connection/corrected-runner.js';
import { dialectFamily } from '../data-source-dialect.js';
import { isSyntaxError } from '../unreadable-json.js';
import { identityOf, setRelation } from './entity-values.js';
import type { WriterTools } from './row-writer.js';

/** A row as it was read, without a lock. */
export interface StoredRow {
  /** As `findOne` of TypeORM loads it, with the keys of its relations. */
  readonly entity: ObjectLiteral;
  /** The values that `isUnchanged` compares. */
  readonly state: readonly unknown[];
}

/**
 * Reads rows as entities by one statement of its own, together with their state, so that an UPDATE can be made dependent
 * on it instead of a lock.
 */
export class StoredRows {
  private readonly shapes: StatementCache;

  private constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly parts: EntityParts,
  ) {
    this.shapes = new StatementCache(tools.dialect);
  }

  /** Undefined if only TypeORM can build the entities. */
  static of(resource: ResourceSchema, tools: WriterTools): StoredRows | undefined {
    const { metadata, dataSource } = tools.tables.of(resource);
    const parts = entityParts(metadata, dataSource);
    return parts && new StoredRows(resource, tools, parts);
  }

  select(where: Condition): Statement {
    return this.shapes.of('stored row', [where], () => {
      const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
      const version = this.tools.dialect.returning?.rowVersion?.read(scope.alias);
      const list = selectList([
        ...readColumns(this.resource.identity, scope),
        ...(version === undefined ? [] : [version]),
        ...this.columnsIn(scope.alias),
      ]);
      const condition = compileWhere(where, scope);
      const { resource } = this;
      const sql = `SELECT ${list} FROM ${scope.from()} WHERE ${condition} LIMIT 1`;
      return labelStatement({ sql, parameters: scope.parameters }, { operation: 'retrieve', resource }, [
        { resource, where },
      ]);
    });
  }

  /** Undefined if the driver has rounded the key, by which the row would not be found, or cannot read a value. */
  read(record: readonly unknown[]): StoredRow | undefined {
    const { identity } = this.resource;
    const key = decodeRecord(record, identity, this.tools.dialect);
    const hasVersion = this.tools.dialect.returning?.rowVersion !== undefined;
    const values = record.slice(identity.length + (hasVersion ? 1 : 0));
    const entity = this.entityOf(values, key);
    return entity && { entity, state: hasVersion ? [record[identity.length]] : values };
  }

  /** The entity of the values of `columnsIn`; undefined as of `read`. */
  entityOf(values: readonly unknown[], key: readonly Json[]): ObjectLiteral | undefined {
    const entity = this.tryBuild(values);
    const isExact =
      entity &&
      identityOf(entity, this.resource, this.parts.metadata).every((value, index) => value === key[index]);
    return isExact ? entity : undefined;
  }

  /** Conditions that the row is as it was read. They bind exactly its state. */
  isUnchanged({ state }: StoredRow, scope: Scope): readonly string[] {
    const { alias } = scope;
    const version = this.tools.dialect.returning?.rowVersion;
    if (version) return [version.equals(alias, scope.bindRaw(state[0]))];
    return this.columnsIn(alias).map(
      (column, index) => `${column} IS ${scope.bindRaw(state[index])} COLLATE BINARY`,
    );
  }

  columnsIn(alias: string): readonly string[] {
    const { driver } = this.parts.dataSource;
    return this.parts.columns.map(({ databaseName }) => `${alias}.${driver.escape(databaseName)}`);
  }

  private tryBuild(values: readonly unknown[]): ObjectLiteral | undefined {
    try {
      return this.build(values);
    } catch (error) {
      if (isSyntaxError(error)) return undefined;
      throw error;
    }
  }

  private build(values: readonly unknown[]): ObjectLiteral {
    const { metadata, dataSource, columns, relations } = this.parts;
    const entity = metadata.create(undefined, { fromDeserializer: true }) as ObjectLiteral;
    const byName = new Map(columns.map(({ databaseName }, index) => [databaseName, values[index]]));
    const load = (name: string, as: ColumnMetadata): Json => {
      const value: unknown = dataSource.driver.prepareHydratedValue(byName.get(name), as);
      // TypeORM decides what the text of no date is.
      if (value instanceof Date && Number.isNaN(value.getTime())) throw new SyntaxError('No date');
      return value as Json;
    };
    for (const column of columns)
      if (!column.isVirtual) column.setEntityValue(entity, load(column.databaseName, column));
    for (const relation of relations) setRelation(entity, relation, relatedKey(relation, load));
    return entity;
  }
}

/** The types of columns from whose values mysql2 makes dates. */
const MYSQL_DATES: ReadonlySet<unknown> = new Set(['date', 'datetime', 'timestamp', Date]);

/** Whether a value depends on time zones for which the statements of TypeORM alone are corrected. */
function isReadInZones(columns: readonly ColumnMetadata[], dataSource: DataSource): boolean {
  if (exactDays(dataSource) === undefined) return false;
  const isMysql = dialectFamily(dataSource) === 'mysql';
  return columns.some(({ type }) => (isMysql ? MYSQL_DATES.has(type) : type === 'date'));
}

/** The object with the related row's key; null if the relation is empty. */
function relatedKey(
  { joinColumns }: RelationMetadata,
  load: (name: string, as: ColumnMetadata) => Json,
): ObjectLiteral | null {
  const key: ObjectLiteral = {};
  let isEmpty = true;
  for (const { databaseName, referencedColumn } of joinColumns) {
    if (!referencedColumn) continue;
    const value = load(databaseName, referencedColumn);
    Object.assign(key, referencedColumn.createValueMap(value));
    isEmpty &&= value === null;
  }
  return isEmpty ? null : key;
}

/** The columns and relations of an entity that TypeORM would load. */
interface EntityParts {
  readonly metadata: EntityMetadata;
  readonly dataSource: DataSource;
  readonly columns: readonly ColumnMetadata[];
  readonly relations: readonly RelationMetadata[];
}

/** Undefined if TypeORM loads some value by an expression or a query of its own. */
function entityParts(metadata: EntityMetadata, dataSource: DataSource): EntityParts | undefined {
  const { spatialTypes } = dataSource.driver;
  const columns = metadata.columns.filter(({ isSelect }) => isSelect);
  const relations = metadata.relations.filter((relation) => relation.isWithJoinColumn);
  const joined = relations.flatMap(({ joinColumns }) => joinColumns);
  const isSimple =
    metadata.relations.every((relation) => !relation.isLazy) &&
    columns.every(({ type }) => type !== 'jsonb' || !dataSource.options.type.includes('sqlite')) &&
    columns.every(({ type }) => !spatialTypes.includes(type)) &&
    !isReadInZones(columns, dataSource) &&
    metadata.primaryColumns.every((column) => columns.includes(column) && !column.isVirtual) &&
    joined.every(
      (column) =>
        columns.includes(column) &&
        column.referencedColumn?.embeddedMetadata === undefined &&
        column.referencedColumn?.referencedColumn === undefined,
    );
  return isSimple ? { metadata, dataSource, columns, relations } : undefined;
}
