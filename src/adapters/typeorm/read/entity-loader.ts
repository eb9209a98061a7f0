import type { DataSource, EntityMetadata, ObjectLiteral, QueryRunner, SelectQueryBuilder } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { ColumnField, EmbeddedField, Field } from '../../../core/schema/field.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { keyText } from '../../../core/values/keys.js';
import { identityOf, whereIdentity } from '../write/entity-values.js';
import { listensTo } from '../write/subscriber-events.js';
import { fromProperty } from '../write/property-values.js';

/** Composite keys become a long chain of OR, which databases bound. */
const LOADED_AT_ONCE = 250;

/**
 * Loads the entities behind rows, through TypeORM itself, where something of the application has a say in their
 * values: a computed field, a transformer, an `@AfterLoad` listener, a subscriber. Rows of all others do without.
 */
export class EntityLoader {
  private readonly readable: readonly Field[];
  private readonly always: boolean;
  /** Columns whose values a transformer makes. */
  private readonly transformed: ReadonlySet<string>;
  /** The property of a key that is one whole number. */
  private readonly numberKey: string | undefined;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly metadata: EntityMetadata,
    private readonly dataSource: DataSource,
  ) {
    this.readable = resource.fields.filter((field) => field.readable);
    this.transformed = new Set(
      metadata.columns.flatMap((column) => (column.transformer === undefined ? [] : [column.databaseName])),
    );
    this.numberKey = numberKeyOf(resource, metadata);
    this.always =
      this.readable.some((field) => field.kind === 'computed') ||
      metadata.afterLoadListeners.length > 0 ||
      this.transformed.size > 0;
  }

  /** Asked for each page: subscribers may come and go while the application runs. */
  isNeeded(): boolean {
    return this.always || this.isListenedTo();
  }

  /** Whether something may have changed any value of an entity since it was loaded. */
  private isListenedTo(): boolean {
    return (
      this.metadata.afterLoadListeners.length > 0 ||
      this.dataSource.subscribers.some(
        (subscriber) => subscriber.afterLoad !== undefined && listensTo(subscriber, this.metadata),
      )
    );
  }

  /** The rows with their entities, and with the values that the entities hold. One that was deleted meanwhile is left out. */
  async attach(
    rows: readonly Row[],
    identities: readonly (readonly Json[])[],
    runner: QueryRunner,
  ): Promise<readonly Row[]> {
    if (rows.length === 0) return rows;
    const byIdentity = await this.load(identities, runner);
    const listened = this.isListenedTo();
    const asked = (field: ColumnField): boolean => listened || this.transformed.has(field.column.id);
    return rows.flatMap((row, position) => {
      const entity = byIdentity.get(keyText(identities[position] ?? []));
      return entity
        ? [
            {
              ...row,
              entity,
              values: this.readable.map((field, index) =>
                valueOf(field, row.values[index], { entity, asked }),
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
      const builder = runner.manager
        .getRepository<ObjectLiteral>(this.metadata.target)
        .createQueryBuilder('entity')
        .setFindOptions({ loadEagerRelations: false });
      entities.push(...(await this.narrowed(builder, identities.slice(at, at + LOADED_AT_ONCE)).getMany()));
    }
    return new Map(
      entities.map((entity) => [keyText(identityOf(entity, this.resource, this.metadata)), entity]),
    );
  }

  private narrowed(
    builder: SelectQueryBuilder<ObjectLiteral>,
    identities: readonly (readonly Json[])[],
  ): SelectQueryBuilder<ObjectLiteral> {
    if (this.numberKey === undefined)
      return builder.whereInIds(
        identities.map((identity) => whereIdentity(identity, this.resource, this.metadata)),
      );
    // On SQLite TypeORM writes numbers into the statement, which then is another one for each page, and keeps a hundred of them. Texts are bound.
    return builder.where(`entity.${this.numberKey} IN (:...keys)`, {
      keys: identities.map(([key]) => String(key)),
    });
  }
}

function numberKeyOf({ identity }: ResourceSchema, { primaryColumns }: EntityMetadata): string | undefined {
  const [key, ...more] = primaryColumns;
  if (!key || more.length > 0 || key.relationMetadata || key.transformer !== undefined) return undefined;
  return identity.length === 1 && identity[0]?.id === key.databaseName && identity[0].type.kind === 'integer'
    ? key.propertyPath
    : undefined;
}

/** `asked` says of which columns the application has a say: all others have the exact value that was read. */
interface Loaded {
  readonly entity: ObjectLiteral;
  readonly asked: (field: ColumnField) => boolean;
}

function valueOf(field: Field, read: unknown, loaded: Loaded): unknown {
  switch (field.kind) {
    case 'column':
      return loaded.asked(field) ? columnValue(field, loaded.entity, read) : read;
    case 'embedded':
      return embeddedValue(field, read as Record<string, unknown>, loaded);
    default:
      return read;
  }
}

/** The entity's value, unless that is the one that was read with fewer digits. */
function columnValue(field: ColumnField, entity: ObjectLiteral, read: unknown): unknown {
  const property = field.column.path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], entity);
  const { transform } = field.column;
  return transform?.outward === undefined && isMadeOf(property, read)
    ? read
    : fromProperty(property, field.type);
}

/** Whether this is what the driver makes of a value that we read exactly: it ends with milliseconds, and with 53 bits. */
function isMadeOf(property: unknown, read: unknown): boolean {
  if (Array.isArray(property))
    return (
      Array.isArray(read) &&
      read.length === property.length &&
      property.every((item, index) => isMadeOf(item, read[index]))
    );
  if (typeof read !== 'string') return property === read;
  if (property instanceof Date) return new Date(read).getTime() === property.getTime();
  return typeof property === 'number' ? Number(read) === property : property === read;
}

function embeddedValue(field: EmbeddedField, read: Record<string, unknown>, loaded: Loaded): unknown {
  const inner = field.fields.filter((each) => each.readable);
  return Object.fromEntries(inner.map((each) => [each.name, valueOf(each, read[each.name], loaded)]));
}
