import type { Column } from '../core/schema/column.js';
import type { JunctionDescription } from '../core/schema/entity-metadata.js';
import type { ColumnField, Field, ToOneField } from '../core/schema/field.js';
import type { ColumnPair, ToOneRelation } from '../core/schema/relation.js';
import { refersToKey } from './column-pairs.js';
import type { EffectiveOptions } from './effective-options.js';
import { labelOf } from './property-names.js';
import type { ResourceBuilder } from './resource-builder.js';

/** A junction as seen from one side, before its fields are compiled. */
export interface ThroughView {
  readonly shell: ResourceBuilder;
  readonly junction: JunctionDescription;
  readonly source: ResourceBuilder;
  readonly target: ResourceBuilder;
  readonly parent: readonly ColumnPair[];
  readonly other: readonly ColumnPair[];
  /** The application's entity on the junction's table, if any. */
  readonly mapped: ResourceBuilder | undefined;
  readonly fixed: ReadonlySet<string>;
  readonly options: EffectiveOptions;
}

/** The fields of the application's entity. Its sides are related keys, whether it declares relations or columns. */
export function mappedFields(view: ThroughView, mapped: ResourceBuilder): readonly Field[] {
  const { shell, parent, other } = view;
  const parentColumns = parent.map((pair) => pair.referencedColumn);
  const otherColumns = other.map((pair) => pair.localColumn);
  const [parentSide, otherSide] = [
    sideOrColumn(mapped.fields, parentColumns),
    sideOrColumn(mapped.fields, otherColumns),
  ];
  // A link is below the model's own collection, which a model that is not registered does not have.
  const kept = mapped.fields.filter((field) => field.kind !== 'link' || mapped.registered);
  const fields = kept.map((field) => {
    if (field === parentSide)
      return sideField(field, { on: parent.map(invertPair), target: view.source, fixed: view.fixed });
    if (field === otherSide) return sideField(field, { on: other, target: view.target, fixed: view.fixed });
    const side = [parentSide, otherSide].find(
      (each) => each?.kind === 'to-one' && each.foreignKeyAlias === field.name,
    );
    return side && field.kind === 'column' ? columnOfSide(field, side, view.fixed) : field;
  });
  if (shell.key === mapped.key) return fields;
  return [idField(shell, other), ...fields.filter((field) => field.name !== 'id')];
}

/** The relation if the entity declares one, else the plain column. */
function sideOrColumn(fields: readonly Field[], columns: readonly Column[]): Field | undefined {
  return (
    fields.find((field) => field.kind === 'to-one' && isSide(field, columns)) ??
    fields.find((field) => isSide(field, columns))
  );
}

function isSide(field: Field, columns: readonly Column[]): boolean {
  const ids = new Set(columns.map((column) => column.id));
  if (field.kind === 'to-one')
    return (
      field.relation.on.length === ids.size && field.relation.on.every((pair) => ids.has(pair.localColumn.id))
    );
  return field.kind === 'column' && ids.size === 1 && ids.has(field.column.id);
}

/** Makes the sides of a pair updatable although they are its key: the nested URL then replaces the pair. */
function sideField(
  field: Field,
  { on, target, fixed }: Pick<ToOneRelation, 'on'> & Pick<ThroughView, 'target' | 'fixed'>,
): ToOneField {
  const relation: ToOneRelation =
    field.kind === 'to-one'
      ? field.relation
      : { kind: 'to-one', name: field.name, target, on, byKey: refersToKey(on, target) };
  const open = field.insertable;
  return {
    kind: 'to-one',
    name: field.name,
    label: field.label,
    readable: field.readable,
    relation,
    insertable: open,
    updatable: open && !on.some(({ localColumn }) => fixed.has(localColumn.id)),
    required: open,
    nullable: false,
    ...(field.kind === 'to-one' && field.foreignKeyAlias !== undefined
      ? { foreignKeyAlias: field.foreignKeyAlias }
      : {}),
  };
}

/** The plain column of a side, which is updatable if the side is. */
function columnOfSide(
  field: ColumnField,
  { name, insertable }: Field,
  fixed: ThroughView['fixed'],
): ColumnField {
  const updatable = insertable && !fixed.has(field.column.id);
  return {
    ...field,
    nullable: false,
    ...(field.aliasOf ? { aliasOf: { relation: name, insertable, updatable } } : {}),
  };
}

export function invertPair({ localColumn, referencedColumn }: ColumnPair): ColumnPair {
  return { localColumn: referencedColumn, referencedColumn: localColumn };
}

/** `id`, then one field for each side, the owner's first, in the views of both sides (contract 2.7). */
export function pairFields(view: ThroughView): readonly Field[] {
  const { junction, source, target, parent, other, shell } = view;
  const self = source === target;
  const names = self
    ? { parent: `from_${source.model}`, other: `to_${source.model}` }
    : sideNames(source, target);
  const parentSide = pairSideField(names.parent, parent.map(invertPair), source);
  const otherSide = pairSideField(names.other, other, target);
  const sides = junction.fromOwner || self ? [parentSide, otherSide] : [otherSide, parentSide];
  return [idField(shell, other), ...sides];
}

function sideNames(source: ResourceBuilder, target: ResourceBuilder): { parent: string; other: string } {
  const same = source.model === target.model;
  const name = (side: ResourceBuilder): string => (same ? `${side.app}_${side.model}` : side.model);
  return { parent: name(source), other: name(target) };
}

function pairSideField(name: string, on: readonly ColumnPair[], target: ResourceBuilder): ToOneField {
  const relation: ToOneRelation = { kind: 'to-one', name, target, on, byKey: refersToKey(on, target) };
  return {
    kind: 'to-one',
    name,
    label: labelOf(name),
    readable: true,
    insertable: true,
    updatable: true,
    required: true,
    nullable: false,
    relation,
  };
}

/** The `id` of a pair: the related side's key. */
function idField(shell: ResourceBuilder, other: readonly ColumnPair[]): Field {
  const base = {
    name: 'id',
    label: 'ID',
    readable: true,
    insertable: false,
    updatable: false,
    required: false,
    nullable: false,
  };
  if (shell.key.via) return { ...base, kind: 'to-one', relation: shell.key.via };
  const [first] = other;
  if (other.length === 1 && first)
    return {
      ...base,
      kind: 'column',
      column: first.localColumn,
      type: first.localColumn.type,
      blank: false,
    } satisfies ColumnField;
  const on = other.map((pair) => ({ localColumn: pair.localColumn, referencedColumn: pair.localColumn }));
  return {
    ...base,
    kind: 'to-one',
    relation: { kind: 'to-one', name: 'id', target: shell, on, byKey: true },
  };
}
