import type { DataSource, EntityMetadata } from 'typeorm';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { chooseRead, chooseViewReads, withoutJson } from '../../../execution/choose-read.js';
import type { ReadChoice, ReadFacts, ViewReads } from '../../../execution/choose-read.js';
import { classNameOf } from '../../../execution/lane-table.js';
import { isObstacle, jsonRows } from '../../../sql/json-object-sql.js';
import type { JsonObstacle, JsonRows } from '../../../sql/json-object-sql.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { listensTo, nameOfListener } from '../metadata/listeners.js';
import type { Table, Tables } from '../table-metadata.js';

/** How the rows of a view are read: gives its facts to the chooser, and keeps the static part of the choice. */
export class ReadChoices {
  /** The serialization by the database; undefined if it cannot write all fields. */
  readonly json: JsonRows | undefined;
  private view: ViewReads;
  private readonly table: Table;

  constructor(
    resource: ResourceSchema,
    { tables, dialect }: { readonly tables: Tables; readonly dialect: Dialect },
  ) {
    this.table = tables.of(resource);
    const { metadata } = this.table;
    const written = tables.mayHaveJsonSubtype(metadata)
      ? ({ kind: 'virtual-column', name: metadata.tableName } as const)
      : jsonRows(resource, dialect);
    this.json = isObstacle(written) ? undefined : written;
    this.view = chooseViewReads({
      entities: entityCause(resource, metadata),
      obstacle: isObstacle(written) ? this.named(written) : undefined,
    });
  }

  /** @param isStored whether the stored values are the response. */
  choose(isStored: boolean): ReadChoice {
    const { metadata, dataSource } = this.table;
    return chooseRead(
      this.view,
      isStored,
      metadata.isJunction ? undefined : loadSubscriber(metadata, dataSource),
    );
  }

  /** A column has another type than its entity declares: the database writes no rows from now on. */
  withdrawJson(): void {
    this.view = withoutJson(this.view);
  }

  private named(obstacle: JsonObstacle): JsonObstacle {
    return obstacle.kind === 'database'
      ? { ...obstacle, name: this.table.dataSource.options.type }
      : obstacle;
  }
}

/** Code of the application that takes part in the values of each row. A join table without an entity has none. */
function entityCause(resource: ResourceSchema, metadata: EntityMetadata): ReadFacts['entities'] {
  if (metadata.isJunction) return undefined;
  const computed = resource.fields.find((field) => field.kind === 'computed' && field.readable);
  if (computed) return { kind: 'computed', name: computed.name };
  const [listener] = metadata.afterLoadListeners;
  if (listener) return { kind: 'after-load', name: nameOfListener(listener) };
  const transformed = metadata.columns.find(({ transformer }) => transformer !== undefined);
  return transformed && { kind: 'transformer', name: transformed.propertyPath };
}

/**
 * The name of a subscriber that may change the values of loaded entities. Evaluated for each read, because applications add and
 * remove subscribers while they run.
 */
export function loadSubscriber(metadata: EntityMetadata, { subscribers }: DataSource): string | undefined {
  for (const each of subscribers)
    if (each.afterLoad !== undefined && listensTo(each, metadata)) return classNameOf(each);
  return undefined;
}
