import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { dialectFamily } from '../data-source-dialect.js';
import { changeDetection } from './change-detection.js';
import type { ChangeDetection } from './change-detection.js';
import type { RulesContext } from './insert-rules.js';

/** A column that TypeORM sets in each UPDATE that changes a value: the version, the date of the last update. */
export interface ComputedColumn {
  readonly columnId: string;
  /** The quoted name of the column. */
  readonly name: string;
  /** Its new value. */
  readonly sql: string;
}

/** How rows of an entity are updated without TypeORM. */
export interface UpdateRules {
  readonly computed: readonly ComputedColumn[];
  /** How a change of each column is detected; without one, TypeORM has to detect it. */
  readonly detections: ReadonlyMap<string, ChangeDetection>;
}

/** Undefined if TypeORM has to update rows. */
export function updateRules(
  resource: ResourceSchema,
  metadata: EntityMetadata,
  context: RulesContext,
): UpdateRules | undefined {
  if (metadata.beforeUpdateListeners.length + metadata.afterUpdateListeners.length > 0) return undefined;
  const computed = computedColumns(resource, metadata, context);
  return computed && { computed, detections: detectionsOf(resource, metadata, context) };
}

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
