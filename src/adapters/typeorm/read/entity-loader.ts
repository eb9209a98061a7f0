import { isDeepStrictEqual } from 'node:util';
import type { DataSource, EntityMetadata, ObjectLiteral, QueryRunner, SelectQueryBuilder } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { ColumnField, EmbeddedField, Field } from '../../../core/schema/field.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { ReadFacts } from '../../../execution/choose-read.js';
import { classNameOf } from '../../../execution/lane-table.js';
import type { EntityRows } from '../../../execution/port.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { JsonObstacle } from '../../../sql/json-object-sql.js';
import { listensTo, nameOfListener } from '../metadata/listeners.js';
import type { Tables } from '../table-metadata.js';
import { hasExactNumbers, isParsedFrom, plainValue } from '../../../core/values/exact-numbers.js';
import { keyText } from '../../../core/values/keys.js';
import { loadEntities } from '../unreadable-json.js';
import { identityOf, keyProperties, whereIdentity } from '../write/entity-values.js';
import { fromProperty } from '../write/property-values.js';

/** TypeORM compiles composite keys to a chain of OR, whose length databases limit. */
const LOADED_AT_ONCE = 250;

/**
 * Loads the entities of rows through TypeORM if code of the application takes part in their values: a computed field, a
 * transformer, an `@AfterLoad` listener or a subscriber.
 */
export class EntityLoader implements EntityRows<QueryRunner> {
  readonly cause: ReadFacts['entities'];
  readonly obstacle: JsonObstacle | undefined;
  private readonly readable: readonly Field[];
  /** The columns with a transformer. */
  private readonly transformed: ReadonlySet<string>;
  /** The property of a key with a single integer column. */
  private readonly numberKey: string | undefined;
  private readonly dataSource: DataSource;
  private readonly metadata: EntityMetadata;
  private readonly dialect: Dialect;

  constructor(
    private readonly resource: ResourceSchema,
    { tables, dialect }: { readonly tables: Tables; readonly dialect: Dialect },
  ) {
    const { metadata, dataSource } = tables.of(resource);
    this.metadata = metadata;
    this.dataSource = dataSource;
    this.dialect = dialect;
    this.cause = entityCause(resource, metadata);
    this.obstacle = tables.mayHaveJsonSubtype(metadata)
      ? { kind: 'virtual-column', name: metadata.tableName }
      : undefined;
    this.readable = resource.fields.filter((field) => field.readable);
    this.transformed = new Set(
      metadata.columns.flatMap((column) => (column.transformer === undefined ? [] : [column.databaseName])),
    );
    this.numberKey = numberKeyOf(resource, metadata);
  }

  /** Applications add and remove subscribers while they run. */
  loadSubscriber(): string | undefined {
    if (this.metadata.isJunction) return undefined;
    for (const each of this.dataSource.subscribers)
      if (each.afterLoad !== undefined && listensTo(each, this.metadata)) return classNameOf(each);
    return undefined;
  }

  /** Adds the entities to rows, and replaces the values that they determine. Omits rows that were deleted meanwhile. */
  async attach(
    rows: readonly Row[],
    identities: readonly (readonly Json[])[],
    runner: QueryRunner,
  ): Promise<readonly Row[]> {
    if (rows.length === 0) return rows;
    const byIdentity = await this.load(identities, runner);
    const hasListeners = this.metadata.afterLoadListeners.length > 0 || this.loadSubscriber() !== undefined;
    const isReplaceable = (field: ColumnField): boolean =>
      hasListeners || this.transformed.has(field.column.id);
    return rows.flatMap((row, position) => {
      const entity = byIdentity.get(keyText(identities[position] ?? []));
      return entity
        ? [
            {
              ...row,
              entity,
              values: this.readable.map((field, index) =>
                valueOf(field, row.values[index], { entity, isReplaceable, dialect: this.dialect }),
              ),
            },
          ]
        : [];
    });
  }

  private async load(
    identities: readonly (readonly Json[])[],
    runner: QueryRunner,
  ): Promise<ReadonlyMap<string, ObjectLiteral>> {
    const entities: ObjectLiteral[] = [];
    for (let at = 0; at < identities.length; at += LOADED_AT_ONCE) {
      const keys = identities.slice(at, at + LOADED_AT_ONCE);
      entities.push(...(await loadEntities(runner, () => this.select(keys, runner).getMany())));
    }
    // What is stored has precedence.
    return new Map(
      [keyProperties, identityOf].flatMap((read) =>
        entities.map((entity): [string, ObjectLiteral] => [
          keyText(read(entity, this.resource, this.metadata)),
          entity,
        ]),
      ),
    );
  }

  private select(
    identities: readonly (readonly Json[])[],
    { manager }: QueryRunner,
  ): SelectQueryBuilder<ObjectLiteral> {
    const builder = manager
      .getRepository<ObjectLiteral>(this.metadata.target)
      .createQueryBuilder('entity')
      .setFindOptions({ loadEagerRelations: false, withDeleted: this.resource.deleted !== undefined });
    return this.whereKeys(builder, identities);
  }

  private whereKeys(
    builder: SelectQueryBuilder<ObjectLiteral>,
    identities: readonly (readonly Json[])[],
  ): SelectQueryBuilder<ObjectLiteral> {
    if (this.numberKey === undefined)
      return builder.whereInIds(
        identities.map((identity) => whereIdentity(identity, this.resource, this.metadata)),
      );
    // On SQLite, TypeORM writes numbers as literals into the SQL, so that each page would be a new prepared statement. Texts are bound.
    return builder.where(`entity.${this.numberKey} IN (:...keys)`, {
      keys: identities.map(([key]) => String(key)),
    });
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

function numberKeyOf({ identity }: ResourceSchema, { primaryColumns }: EntityMetadata): string | undefined {
  const [key, ...more] = primaryColumns;
  if (!key || more.length > 0 || key.relationMetadata || key.transformer !== undefined) return undefined;
  return identity.length === 1 && identity[0]?.id === key.databaseName && identity[0].type.kind === 'integer'
    ? key.propertyPath
    : undefined;
}

/** `isReplaceable`: whether code of the application may change the column's value. All others keep the exact value that was read. */
interface LoadedEntity {
  readonly entity: ObjectLiteral;
  readonly isReplaceable: (field: ColumnField) => boolean;
  readonly dialect: Dialect;
}

function valueOf(field: Field, read: unknown, loaded: LoadedEntity): unknown {
  switch (field.kind) {
    case 'column':
      return loaded.isReplaceable(field) ? columnValue(field, loaded, read) : read;
    case 'embedded':
      return embeddedValue(field, read as Record<string, unknown>, loaded);
    default:
      return read;
  }
}

/** The property's value, unless it equals the value that was read up to the precision and the form of the driver. */
function columnValue(field: ColumnField, { entity, dialect }: LoadedEntity, read: unknown): unknown {
  const property = field.column.path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], entity);
  const { type, column } = field;
  if (column.transform?.outward !== undefined) return withJson(fromProperty(property, type));
  const isRead =
    (type.kind === 'json' ? isParsedFrom(read, property) : equalsExceptPrecision(property, read)) ||
    // With `dateStrings`, mysql2 returns texts, of which TypeORM leaves some as they are.
    (type.kind === 'datetime' && typeof property === 'string' && dialect.decode(property, type) === read);
  return isRead ? read : withJson(fromProperty(property, type));
}

/** @throws if an object of the application has no JSON: here a write that reads its row back is undone. */
function withJson(value: unknown): unknown {
  if (typeof value === 'object') JSON.stringify(value);
  return value;
}

/** Whether a property has the value that the driver returns for an exact one: it truncates to milliseconds and 53 bits. */
function equalsExceptPrecision(property: unknown, read: unknown): boolean {
  if (hasExactNumbers(read)) return isDeepStrictEqual(property, plainValue(read));
  if (Array.isArray(property))
    return (
      Array.isArray(read) &&
      read.length === property.length &&
      property.every((item, index) => equalsExceptPrecision(item, read[index]))
    );
  if (typeof read !== 'string') return property === read;
  if (property instanceof Date)
    return new Date(read).getTime() === property.getTime() || isOfCentury(property, read);
  return typeof property === 'number' ? Number(read) === property : property === read;
}

const DAY = 86_400_000;

/** mysql2 takes the years before 100 for those from 1950 to 2049, whose offsets from UTC may be others. */
function isOfCentury(property: Date, read: string): boolean {
  const century = String(property.getUTCFullYear()).slice(0, 2);
  return read < '0100' && Math.abs(property.getTime() - Date.parse(century + read.slice(2))) < DAY;
}

function embeddedValue(field: EmbeddedField, read: Record<string, unknown>, loaded: LoadedEntity): unknown {
  const inner = field.fields.filter((each) => each.readable);
  return Object.fromEntries(inner.map((each) => [each.name, valueOf(each, read[each.name], loaded)]));
}
