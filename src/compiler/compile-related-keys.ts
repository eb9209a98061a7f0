import type { EntityDescription } from '../core/schema/entity-metadata.js';
import type { Field, KeysField, LinkField, ToOneField } from '../core/schema/field.js';
import type { Through } from '../core/schema/relation.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import type { EffectiveOptions } from './effective-options.js';
import { setFields } from './resource-builder.js';
import type { ResourceBuilder } from './resource-builder.js';

/** What is known of an entity: its options, and whether its rows can be written. */
interface Known {
  readonly options: EffectiveOptions;
  readonly entity: EntityDescription;
}

/**
 * Makes the relations that `relatedKeys` names fields with the keys of the related objects. Called once through models have their
 * fields. What it leaves a link is reported by `verifyRelatedKeys`.
 */
export function completeRelatedKeys(shell: ResourceBuilder, byId: ReadonlyMap<string, Known>): void {
  const own = byId.get(shell.entity);
  const names: readonly string[] = own?.options.relatedKeys ?? [];
  if (!own || names.length === 0) return;
  const { readOnly = [] } = own.options;
  setFields(
    shell,
    shell.fields.map((field) => {
      if (field.kind !== 'link' || !names.includes(field.name)) return field;
      const isWritten =
        own.entity.writable &&
        !readOnly.includes(field.name) &&
        own.entity.exposures.get(field.name)?.writable !== false;
      return keysField(field, isWritten, byId) ?? field;
    }),
  );
  shell.hasRelatedKeys = shell.fields.some(({ kind }) => kind === 'keys');
  // Pairs change without the version and the date of the row.
  if (shell.conditional && shell.hasRelatedKeys)
    shell.conditional = { ...shell.conditional, version: undefined, modified: undefined };
}

function keysField(
  { relation, ...field }: LinkField,
  isWritten: boolean,
  byId: ReadonlyMap<string, Known>,
): KeysField | undefined {
  if (relation.kind !== 'many-to-many') return undefined;
  const { through, target } = relation;
  const other = otherSideOf(through);
  if (!other) return undefined;
  const { operations } = through.resource;
  const insertable = isWritten && operations.has('create') && other.insertable;
  return {
    ...field,
    kind: 'keys',
    relation,
    other: { ...other.relation, evenDeleted: false },
    otherName: other.name,
    stored: withPairsOfDeleted(through.resource, byId),
    hidesObjects: byId.get(target.entity)?.entity.deletion !== undefined,
    insertable,
    updatable: insertable && operations.has('destroy'),
  };
}

/** Of an entity on the join table, a pair may be deleted itself. */
function withPairsOfDeleted(pairs: ResourceSchema, byId: ReadonlyMap<string, Known>): ResourceSchema {
  const [date] = pairs.columns.values();
  return date === undefined || byId.get(pairs.entity)?.entity.deletion !== undefined
    ? pairs
    : { ...pairs, deleted: { rows: 'with', of: pairs, date } };
}

/** The field of the related side in a through model; undefined if it shows none. */
export function otherSideOf({ resource, other }: Through): ToOneField | undefined {
  const ids = new Set(other.map(({ localColumn }) => localColumn.id));
  return resource.fields.find(
    (field: Field): field is ToOneField =>
      field.kind === 'to-one' &&
      field.readable &&
      field.relation.name !== 'id' &&
      field.relation.on.length === ids.size &&
      field.relation.on.every(({ localColumn }) => ids.has(localColumn.id)),
  );
}
