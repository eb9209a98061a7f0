import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import { InvalidInput } from '../../../core/errors/http-exceptions.js';
import type { FieldErrors, Json } from '../../../core/errors/rest-exception.js';
import type { ColumnValue, CreatePlan } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import { isAcceptedInBodies } from '../../../core/schema/field.js';
import type { ColumnField, Field } from '../../../core/schema/field.js';
import type { ToOneRelation } from '../../../core/schema/relation.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { decideColumns, hasColumn, isSameValue } from './decide-columns.js';
import type { ColumnValues, KeySource } from './decide-columns.js';
import { setColumns } from './entity-values.js';
import type { ReferencedValues } from '../../../execution/read/key-lookups.js';
import { keySources, ownKeySource } from './key-sources.js';
import type { Keys } from './key-sources.js';
import { fromProperty } from './property-values.js';
import { NO_ERRORS } from './row-writer.js';

/**
 * A change with its keys: the fields as the caller may write them, those that the URL sets, and the stored values of the
 * shared columns.
 */
interface ChangedKeys extends Keys {
  readonly fields: readonly Field[];
  readonly given: ReadonlySet<string>;
  readonly stored: readonly Json[];
}

/** The properties that hold the columns of foreign keys, as they were before a hook. */
export interface KeyProperties {
  readonly plain: ReadonlyMap<string, Json | undefined>;
  readonly related: ReadonlyMap<RelationMetadata, RelatedValues>;
}

/** Undefined if the relation has no value, and null if it is empty. */
type RelatedValues = ReadonlyMap<string, Json> | null | undefined;

const NO_COLUMNS: readonly ColumnValue[] = [];

/** Decides about columns that several properties of an entity write: relations, and plain columns of their foreign keys (contract 5.17). */
export class KeyColumns {
  /** The columns of several relations. */
  readonly shared: ReadonlySet<string>;
  /** All columns of relations that share one with another relation, or with the key of the object. */
  readonly overlapping: readonly Column[];

  /** Those of the object's own key that relations have, too, and bodies may name. */
  private readonly ownColumns: readonly ColumnField[];

  private constructor(
    private readonly resource: ResourceSchema,
    private readonly metadata: EntityMetadata,
    private readonly relations: readonly ToOneRelation[],
  ) {
    this.shared = sharedColumns(relations);
    const overlapping = relations.filter(
      (relation) =>
        [...this.shared].some((id) => hasColumn(relation, id)) ||
        (resource.identity.some(({ id }) => hasColumn(relation, id)) && !isOfKey(relation, resource)),
    );
    const columns = overlapping.flatMap(({ on }) =>
      on.map(({ localColumn }) => [localColumn.id, localColumn] as const),
    );
    this.overlapping = [...new Map(columns).values()];
    // A relation on the property of its column has the value that a body names.
    this.ownColumns = resource.fields.filter(
      (field): field is ColumnField =>
        field.kind === 'column' &&
        !field.refers &&
        !relations.some(({ name }) => name === field.name) &&
        resource.identity.some(({ id }) => id === field.column.id) &&
        this.isOfRelation(field.column.id),
    );
  }

  /** Undefined if each column has one property. */
  static of(resource: ResourceSchema, metadata: EntityMetadata): KeyColumns | undefined {
    const relations = toOneRelations(resource);
    const isPlain = ({ localColumn }: ToOneRelation['on'][number]): boolean =>
      metadata.columns.some((column) => column.databaseName === localColumn.id && !column.isVirtual);
    const isDecided =
      sharedColumns(relations).size > 0 || relations.some(({ on }) => on.length > 1 || on.some(isPlain));
    return isDecided ? new KeyColumns(resource, metadata, relations) : undefined;
  }

  /** Also where each column has one property. */
  static ofAny(resource: ResourceSchema, metadata: EntityMetadata): KeyColumns {
    return new KeyColumns(resource, metadata, toOneRelations(resource));
  }

  /** Assigns the columns of a new row. Returns the errors of keys that disagree. */
  assignNew(entity: ObjectLiteral, plan: CreatePlan, referenced: ReferencedValues): FieldErrors {
    const sources = this.keySources({ values: plan.values, referenced });
    const higher = valuesOf([...plan.added, ...plan.fixed]);
    const { columns, errors } = this.decide(sources, higher, undefined);
    setColumns(entity, this.metadata, this.toColumnValues(columns));
    // A shared column that is left to its default.
    for (const { relation, values } of sources)
      for (const { localColumn } of (values === null && relation?.on) || [])
        if (!columns.has(localColumn.id)) this.plainColumn(localColumn.id)?.setEntityValue(entity, undefined);
    return errors;
  }

  /**
   * Assigns the columns of a change. Returns the errors of keys that disagree, or change a relation that the body does not
   * name, and the columns of all relations that share one with a key.
   */
  assignChanged(
    entity: ObjectLiteral,
    { stored: read, fields, given, ...keys }: ChangedKeys,
  ): { readonly disagreements: FieldErrors; readonly decided: readonly ColumnValue[] } {
    const stored = new Map(this.overlapping.map(({ id }, index) => [id, read[index] ?? null]));
    const own = this.ownKey(stored, fields);
    const { columns, errors } = this.decide(this.keySources(keys), own, { values: stored, fields, given });
    const changed = new Map([...columns].filter(([id]) => !own.has(id)));
    return { disagreements: errors, decided: this.assign(entity, changed, stored) };
  }

  /** The columns of the stored key that no change moves: all but those of the sides of a pair. */
  private ownKey(stored: ColumnValues, fields: readonly Field[]): ColumnValues {
    const moving = fields.flatMap((field) =>
      field.kind === 'to-one' && field.updatable && isOfKey(field.relation, this.resource)
        ? field.relation
        : [],
    );
    const isOwn = (id: string): boolean =>
      this.resource.identity.some((column) => column.id === id) &&
      !moving.some((relation) => hasColumn(relation, id));
    return new Map([...stored].filter(([id]) => isOwn(id)));
  }

  private keySources(keys: Keys): readonly KeySource[] {
    const { fields } = this.resource;
    const own = this.ownColumns.flatMap((field) => ownKeySource(field, keys));
    return [...own, ...keySources(fields, keys)];
  }

  private assign(entity: ObjectLiteral, columns: ColumnValues, others: ColumnValues): readonly ColumnValue[] {
    if (columns.size === 0) return NO_COLUMNS;
    const touched = this.relations.filter(({ on }) =>
      on.some(({ localColumn }) => columns.has(localColumn.id)),
    );
    const ids = new Set([
      ...columns.keys(),
      ...touched.flatMap(({ on }) => on.map(({ localColumn }) => localColumn.id)),
    ]);
    const known = [...ids].flatMap((id): [string, Json][] => {
      const value = columns.has(id) ? columns.get(id) : others.get(id);
      return value === undefined ? [] : [[id, value]];
    });
    const assigned = this.toColumnValues(new Map(known));
    setColumns(entity, this.metadata, assigned);
    return assigned;
  }

  private decide(
    sources: readonly KeySource[],
    higher: ColumnValues,
    stored: (Pick<ChangedKeys, 'fields' | 'given'> & { readonly values: ColumnValues }) | undefined,
  ): ReturnType<typeof decideColumns> {
    const fields = stored?.fields ?? this.resource.fields;
    const fieldOf = (relation: ToOneRelation): Field | undefined =>
      fields.find((field) => field.kind === 'to-one' && field.relation === relation);
    return decideColumns(sources, {
      higher,
      stored: stored?.values,
      key: new Set(this.resource.identity.map(({ id }) => id)),
      relations: this.relations,
      nameOf: (relation) => {
        const field = fieldOf(relation);
        return field?.readable === true ? field.name : undefined;
      },
      isOpen: (relation) => {
        const field = fieldOf(relation);
        return !field || (field.updatable && stored?.given.has(field.name) !== true);
      },
    });
  }

  private toColumnValues(columns: ColumnValues): readonly ColumnValue[] {
    return [...columns].flatMap(([id, value]) => {
      const column = this.resource.columns.get(id);
      return column ? [{ column, value }] : [];
    });
  }

  /** What a hook may change. */
  propertiesOf(entity: ObjectLiteral): KeyProperties {
    const relations = this.metadata.relations.filter(
      ({ isWithJoinColumn, joinColumns }) =>
        isWithJoinColumn && joinColumns.every(({ databaseName }) => this.isOfRelation(databaseName)),
    );
    const plain = this.metadata.columns.filter(
      ({ isVirtual, databaseName }) => !isVirtual && this.isOfRelation(databaseName),
    );
    return {
      plain: new Map(plain.map((column) => [column.databaseName, this.plainValue(entity, column)])),
      related: new Map(relations.map((relation) => [relation, this.relatedValues(entity, relation)])),
    };
  }

  /**
   * Assigns what a hook has set to all properties of the same columns; the URL takes precedence. Returns the columns of these
   * properties, or undefined if it has set none.
   * @throws InvalidInput if a key of the body disagrees with the hook.
   */
  assignHooked(
    entity: ObjectLiteral,
    before: KeyProperties,
    { fixed, ...keys }: Keys & { readonly fixed: readonly ColumnValue[] },
  ): readonly ColumnValue[] | undefined {
    const after = this.propertiesOf(entity);
    const plain = [...after.plain].filter(([id, value]) => !isSameProperty(value, before.plain.get(id)));
    const related = [...after.related].filter(
      ([relation, values]) => !isSameRelated(values, before.related.get(relation)),
    );
    if (plain.length === 0 && related.length === 0) return undefined;
    const byUrl = valuesOf(fixed);
    const higher = new Map<string, Json>();
    for (const [id, value] of plain) if (value !== undefined) higher.set(id, value);
    for (const [relation, values] of related) {
      const isOfUrl = relation.joinColumns.every(({ databaseName }) => byUrl.has(databaseName));
      if (values && !isOfUrl) this.addHooked(higher, relation, { values, byUrl });
    }
    const emptied = related.flatMap(([relation, values]) => (values === null ? relation : []));
    for (const id of this.emptiedBy(emptied, after)) if (!higher.has(id)) higher.set(id, null);
    for (const [id, value] of byUrl) higher.set(id, value);
    const current = currentValues(before);
    const replaced = new Set([
      // One that a hook sets in part leaves the others to the body, whose key then disagrees.
      ...related.flatMap(([{ propertyPath, joinColumns }, values]) =>
        !values || values.size === joinColumns.length ? propertyPath : [],
      ),
      ...plain.flatMap(([id]) => this.resource.columns.get(id)?.path ?? []),
    ]);
    const sources = this.keySources(keys).filter(({ path }) => !replaced.has(path.join('.')));
    const { errors } = this.decide(sources, new Map([...current, ...higher]), undefined);
    if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
    return this.assign(entity, higher, current);
  }

  private addHooked(
    higher: Map<string, Json>,
    relation: RelationMetadata,
    { values, byUrl }: { readonly values: ReadonlyMap<string, Json>; readonly byUrl: ColumnValues },
  ): void {
    for (const [id, value] of values) {
      const other = byUrl.has(id) ? byUrl.get(id) : higher.get(id);
      if (other !== undefined && !isSameValue(other, value))
        throw new Error(
          `beforeWrite sets "${relation.propertyPath}" of ${this.resource.className} to an object with another value of the column "${id}" than ${byUrl.has(id) ? 'the URL has' : 'it sets elsewhere'}.`,
        );
      higher.set(id, value);
    }
  }

  /** The columns of relations that a hook has set to null, which no other relation has. */
  private emptiedBy(emptied: readonly RelationMetadata[], { related }: KeyProperties): readonly string[] {
    const kept = [...related].filter(([relation, values]) => values && !emptied.includes(relation));
    const keptIds = new Set(kept.flatMap(([relation]) => idsOf(relation)));
    return emptied.flatMap(idsOf).filter((id) => !keptIds.has(id));
  }

  private plainColumn(id: string): ColumnMetadata | undefined {
    return this.metadata.columns.find((column) => column.databaseName === id && !column.isVirtual);
  }

  private isOfRelation(id: string): boolean {
    return this.relations.some((relation) => hasColumn(relation, id));
  }

  private plainValue(entity: ObjectLiteral, column: ColumnMetadata): Json | undefined {
    const holder = (column.embeddedMetadata?.embeddedMetadataTree ?? []).reduce<unknown>(
      (at, { propertyName }) => (at as ObjectLiteral | null | undefined)?.[propertyName] as unknown,
      entity,
    );
    const value = (holder as ObjectLiteral | null | undefined)?.[column.propertyName] as unknown;
    return this.toJson(value, column.databaseName);
  }

  private relatedValues(entity: ObjectLiteral, relation: RelationMetadata): RelatedValues {
    const related = relation.getEntityValue(entity) as unknown;
    if (related === null || related === undefined) return related;
    const values = new Map<string, Json>();
    for (const { databaseName, referencedColumn } of relation.joinColumns) {
      const value: unknown =
        typeof related === 'object' ? referencedColumn?.getEntityValue(related) : related;
      const json = this.toJson(value, databaseName);
      if (json !== undefined) values.set(databaseName, json);
    }
    return values;
  }

  /** Undefined for what is no value, such as an expression. */
  private toJson(value: unknown, id: string): Json | undefined {
    const column = this.resource.columns.get(id);
    const isPlain = typeof value !== 'object' || value === null || value instanceof Date;
    if (!column || value === undefined || typeof value === 'function') return undefined;
    return isPlain || value instanceof Uint8Array ? (fromProperty(value, column.type) as Json) : undefined;
  }
}

/** As `assignChanged`; nothing is decided in a model without relations that share a column. */
export function assignChangedKeys(
  columns: KeyColumns | undefined,
  entity: ObjectLiteral,
  keys: ChangedKeys,
): ReturnType<KeyColumns['assignChanged']> {
  return columns && keys.stored.length > 0
    ? columns.assignChanged(entity, keys)
    : { decided: NO_COLUMNS, disagreements: NO_ERRORS };
}

/** Later values take precedence. */
export function mergeColumns(...values: readonly (readonly ColumnValue[])[]): readonly ColumnValue[] {
  return [...new Map(values.flat().map((each) => [each.column.id, each])).values()];
}

function toOneRelations({ relations, fields }: ResourceSchema): readonly ToOneRelation[] {
  const written = fields.flatMap((field) =>
    field.kind === 'to-one' && isAcceptedInBodies(field) ? field.relation : [],
  );
  const declared = [...relations.values()].flatMap((each) => (each.kind === 'to-one' ? each : []));
  return [...new Set([...declared, ...written])];
}

/** Whether the key of an object has all columns of a relation. */
function isOfKey({ on }: ToOneRelation, { identity }: ResourceSchema): boolean {
  return on.every(({ localColumn }) => identity.some(({ id }) => id === localColumn.id));
}

function sharedColumns(relations: readonly ToOneRelation[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const { on } of relations)
    for (const { localColumn } of on) (seen.has(localColumn.id) ? shared : seen).add(localColumn.id);
  return shared;
}

function valuesOf(given: readonly ColumnValue[]): Map<string, Json> {
  return new Map(given.map(({ column, value }) => [column.id, value]));
}

function idsOf({ joinColumns }: RelationMetadata): readonly string[] {
  return joinColumns.map(({ databaseName }) => databaseName);
}

function currentValues({ plain, related }: KeyProperties): Map<string, Json> {
  const values = new Map<string, Json>();
  for (const each of related.values()) for (const [id, value] of each ?? []) values.set(id, value);
  for (const [id, value] of plain) if (value !== undefined) values.set(id, value);
  return values;
}

function isSameProperty(one: Json | undefined, other: Json | undefined): boolean {
  return (one === undefined) === (other === undefined) && isSameValue(one, other);
}

function isSameRelated(one: RelatedValues, other: RelatedValues): boolean {
  if (!one || !other) return one === other;
  return one.size === other.size && [...one].every(([id, value]) => isSameValue(value, other.get(id)));
}
