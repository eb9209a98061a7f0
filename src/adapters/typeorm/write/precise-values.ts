import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { Column } from '../../../core/schema/column.js';
import type { DataType } from '../../../core/schema/data-type.js';
import type { ColumnValue, FieldValues } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { Scope } from '../../../sql/query-scope.js';
import { highPrecisionValues, stillMatches } from './entity-values.js';
import { toProperty } from './property-values.js';
import type { WriterTools } from './row-writer.js';

/** The values of a body whose exact form TypeORM does not write. They are written by a separate statement after its own. */
export class PreciseValues {
  private readonly metadata: EntityMetadata;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
  ) {
    this.metadata = tools.tables.of(resource).metadata;
  }

  /** Those of a new row, except those that a listener has replaced. */
  ofCreated(entity: ObjectLiteral, values: FieldValues): readonly ColumnValue[] {
    return this.heldBy(
      entity,
      highPrecisionValues(values, this.resource, { change: false, loses: () => false }),
    );
  }

  /** Those of an update, except those that a listener has replaced. */
  ofUpdated(entity: ObjectLiteral, values: FieldValues): readonly ColumnValue[] {
    const loses = (type: DataType): boolean => !this.tools.dialect.loadsExactly(type);
    return this.heldBy(entity, highPrecisionValues(values, this.resource, { change: true, loses }));
  }

  async write(values: readonly ColumnValue[], identity: readonly Json[], runner: QueryRunner): Promise<void> {
    if (values.length === 0) return;
    const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
    const changes = values.map(
      ({ column, value }) => `${scope.table.name(column)} = ${scope.bind(value, column.type)}`,
    );
    const named = this.resource.identity.map(
      (column, index) => `${scope.table.name(column)} = ${scope.bind(identity[index] ?? null, column.type)}`,
    );
    await runner.query(`UPDATE ${scope.table.path} SET ${changes.join(', ')} WHERE ${named.join(' AND ')}`, [
      ...scope.parameters,
    ]);
  }

  private heldBy(entity: ObjectLiteral, values: readonly ColumnValue[]): readonly ColumnValue[] {
    return values.filter(({ column, value }) => this.stillHolds(entity, column, value));
  }

  private stillHolds(entity: ObjectLiteral, column: Column, value: Json): boolean {
    const found = this.metadata.columns.find((each) => each.databaseName === column.id);
    return (
      found !== undefined && stillMatches(found.getEntityValue(entity), toProperty(value, column.type, found))
    );
  }
}
