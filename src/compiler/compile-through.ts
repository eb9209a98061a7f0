import type { Column } from '../core/schema/column.js';
import type { JunctionDescription, ManyToManyDescription } from '../core/schema/entity-metadata.js';
import type { ColumnField, Field, ToOneField } from '../core/schema/field.js';
import { OPERATIONS } from '../core/schema/operation.js';
import type { ColumnPair, Through, ToOneRelation } from '../core/schema/relation.js';
import type { Key } from '../core/schema/resource-schema.js';
import type { Serializer } from '../core/contracts/serializer.js';
import type { RestifyOptions, ThroughOptions } from '../decorators/restify-options.js';
import type { RestifyDefaults } from '../restify.options.js';
import { declarationsByEntity } from './blueprint.js';
import type { CompilerInput, EntityDeclaration } from './blueprint.js';
import { columnPairs, refersToKey } from './column-pairs.js';
import { junctionColumns, junctionEntities } from './junction-entities.js';
import { labelOf } from './label.js';
import { ResourceBuilder } from './resource-builder.js';

/** A junction as seen from one side, before its fields are compiled. */
interface View {
  readonly shell: ResourceBuilder;
  readonly junction: JunctionDescription;
  readonly near: ResourceBuilder;
  readonly target: ResourceBuilder;
  readonly parent: readonly ColumnPair[];
  readonly other: readonly ColumnPair[];
  /** The application's entity on the junction's table, if any. */
  readonly mapped: ResourceBuilder | undefined;
  readonly fixed: ReadonlySet<string>;
  readonly options: RestifyOptions;
}

/** A view with its options. */
export type CompiledView = Pick<View, 'shell' | 'mapped' | 'options'>;

/**
 * Compiles the through models of many-to-many relations: the application's own entity where one is mapped on the
 * junction's table, else the pair of keys that TypeORM keeps (contract 2.9). Each side has its own view: the parent's field
 * is filled by the URL, and the `id` of a pair is the other side's key.
 */
export class ThroughCompiler {
  private readonly views: View[] = [];

  private readonly shells: ReadonlyMap<string, ResourceBuilder>;
  private readonly drafts: ReadonlyMap<string, EntityDeclaration>;
  private readonly entities: ReadonlyMap<string, string>;
  /** Columns that are declared not updatable, by entity. */
  private readonly fixed: ReadonlyMap<string, ReadonlySet<string>>;
  private readonly defaults: Pick<RestifyDefaults, 'returnDeleted' | 'strict'>;

  constructor(
    blueprint: Pick<CompilerInput, 'description' | 'drafts' | 'defaults'>,
    shells: ReadonlyMap<string, ResourceBuilder>,
    private readonly serializer: Serializer,
  ) {
    this.shells = shells;
    this.drafts = declarationsByEntity(blueprint.drafts);
    this.entities = junctionEntities(blueprint);
    const used = new Set(this.entities.values());
    const through = blueprint.description.entities.filter(({ id }) => used.has(id));
    this.fixed = new Map(
      through.map(({ id, columns }) => [
        id,
        new Set(columns.filter(({ updatable }) => !updatable).map((column) => column.id)),
      ]),
    );
    this.defaults = blueprint.defaults;
  }

  compile(
    { junction, path }: ManyToManyDescription,
    near: ResourceBuilder,
    target: ResourceBuilder,
  ): Through {
    const mapped = this.shells.get(this.entities.get(junction.entity) ?? '');
    const table = mapped ?? this.shells.get(junction.entity);
    if (!table) throw new Error(`No junction of ${junction.declaredAt}`);
    const parent = columnPairs(junction.parent, near, table);
    const other = columnPairs(junction.other, table, target);
    const shell = this.shellOf(table, { junction, other, target, isPair: isPair(table, junction), mapped });
    this.views.push({
      shell,
      junction,
      near,
      target,
      parent,
      other,
      mapped,
      fixed: this.fixed.get(table.entity) ?? new Set(),
      options: this.optionsOf(path, junction, { near, target, mapped }),
    });
    return {
      resource: shell,
      parent,
      other,
    };
  }

  /** The sides to which the columns of an entity on a junction's table refer, each once. */
  sidesOf(mapped: ResourceBuilder): readonly ToOneRelation[] {
    const sides = new Map<string, ToOneRelation>();
    for (const { near, target, parent, other } of this.views.filter((view) => view.mapped === mapped)) {
      for (const [on, side] of [
        [parent.map(turned), near],
        [other, target],
      ] as const) {
        const name = on.map(({ near: column }) => column.path).join(',');
        sides.set(`${name} ${side.id}`, {
          kind: 'to-one',
          name,
          target: side,
          on,
          byKey: refersToKey(on, side),
        });
      }
    }
    return [...sides.values()];
  }

  private shellOf(
    table: ResourceBuilder,
    {
      junction,
      other,
      target,
      isPair,
      mapped,
    }: {
      junction: JunctionDescription;
      other: readonly ColumnPair[];
      target: ResourceBuilder;
      isPair: boolean;
      mapped: ResourceBuilder | undefined;
    },
  ): ResourceBuilder {
    const owner = this.shells.get(junction.ownerEntity);
    const model =
      mapped?.registered === true
        ? mapped.model
        : `${owner?.model ?? ''}_${junction.ownerProperty.toLowerCase()}`;
    const app = mapped?.registered === true ? mapped.app : (owner?.app ?? '');
    const key = isPair ? keyOfPair(other, target) : table.key;
    const identity = {
      id: `${app}.${model}`,
      app,
      model,
      label: mapped?.label ?? model,
      entity: table.entity,
      registered: mapped?.registered ?? false,
    };
    return new ResourceBuilder(
      identity,
      { key, identity: isPair ? table.identity : table.key.columns, columns: table.columns },
      this.serializer,
    );
  }

  /** Its own declaration, else the options of this relation, else those of the relation from the other side. */
  private optionsOf(
    path: string,
    junction: JunctionDescription,
    {
      near,
      target,
      mapped,
    }: { near: ResourceBuilder; target: ResourceBuilder; mapped: ResourceBuilder | undefined },
  ): RestifyOptions {
    const own = mapped && this.drafts.get(mapped.entity);
    if (own) return own.declaration.options;
    const said = (side: ResourceBuilder, relation: string | undefined): ThroughOptions | undefined =>
      relation === undefined
        ? undefined
        : (
            this.drafts.get(side.entity)?.declaration.options.through as
              Readonly<Record<string, ThroughOptions>> | undefined
          )?.[relation];
    // Merged option by option; no option may be given on both sides.
    return { ...said(target, junction.inverse), ...said(near, path) };
  }

  /** Compiles the views; called after the fields of all entities are compiled. */
  complete(): readonly CompiledView[] {
    for (const view of this.views) {
      view.shell.relations = view.mapped?.relations ?? new Map();
      view.shell.overlapping = view.mapped?.overlapping ?? [];
      view.shell.setFields(this.fieldsOf(view));
      view.shell.operations = new Set(view.options.operations ?? OPERATIONS);
      view.shell.returnDeleted = view.options.returnDeleted ?? this.defaults.returnDeleted;
      view.shell.strict = view.options.strict ?? this.defaults.strict;
    }
    return this.views;
  }

  private fieldsOf(view: View): readonly Field[] {
    return view.mapped ? mappedFields(view, view.mapped) : pairFields(view);
  }
}

function isPair(table: ResourceBuilder, junction: JunctionDescription): boolean {
  const sides = new Set(junctionColumns(junction));
  return table.key.columns.every((column) => sides.has(column.id)) && table.key.columns.length === sides.size;
}

/** The fields of the application's entity. Its sides are related keys, whether it declares relations or columns. */
function mappedFields(view: View, mapped: ResourceBuilder): readonly Field[] {
  const { shell, parent, other } = view;
  const parentColumns = parent.map((pair) => pair.far);
  const otherColumns = other.map((pair) => pair.near);
  const [parentSide, otherSide] = [
    sideOrColumn(mapped.fields, parentColumns),
    sideOrColumn(mapped.fields, otherColumns),
  ];
  // A link is below the model's own collection, which a model that is not registered does not have.
  const kept = mapped.fields.filter((field) => field.kind !== 'link' || mapped.registered);
  const fields = kept.map((field) => {
    if (field === parentSide)
      return asSide(field, { on: parent.map(turned), target: view.near, fixed: view.fixed });
    if (field === otherSide) return asSide(field, { on: other, target: view.target, fixed: view.fixed });
    const side = [parentSide, otherSide].find(
      (each) => each?.kind === 'to-one' && each.standIn === field.name,
    );
    return side && field.kind === 'column' ? besideSide(field, side, view.fixed) : field;
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
    return field.relation.on.length === ids.size && field.relation.on.every((pair) => ids.has(pair.near.id));
  return field.kind === 'column' && ids.size === 1 && ids.has(field.column.id);
}

/** Makes the sides of a pair updatable although they are its key: the nested URL then replaces the pair. */
function asSide(
  field: Field,
  { on, target, fixed }: Pick<ToOneRelation, 'on'> & Pick<View, 'target' | 'fixed'>,
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
    updatable: open && !on.some(({ near }) => fixed.has(near.id)),
    required: open,
    nullable: false,
    ...(field.kind === 'to-one' && field.standIn !== undefined ? { standIn: field.standIn } : {}),
  };
}

/** The plain column of a side, which is updatable if the side is. */
function besideSide(field: ColumnField, { name, insertable }: Field, fixed: View['fixed']): ColumnField {
  const updatable = insertable && !fixed.has(field.column.id);
  return {
    ...field,
    nullable: false,
    ...(field.standsFor ? { standsFor: { relation: name, insertable, updatable } } : {}),
  };
}

function turned({ near, far }: ColumnPair): ColumnPair {
  return { near: far, far: near };
}

/** `id`, then one field for each side, the owner's first, in the views of both sides (contract 2.7). */
function pairFields(view: View): readonly Field[] {
  const { junction, near, target, parent, other, shell } = view;
  const self = near === target;
  const names = self ? { parent: `from_${near.model}`, other: `to_${near.model}` } : sideNames(near, target);
  const parentSide = sideOf(names.parent, parent.map(turned), near);
  const otherSide = sideOf(names.other, other, target);
  const sides = junction.fromOwner || self ? [parentSide, otherSide] : [otherSide, parentSide];
  return [idField(shell, other), ...sides];
}

function sideNames(near: ResourceBuilder, target: ResourceBuilder): { parent: string; other: string } {
  const same = near.model === target.model;
  const name = (side: ResourceBuilder): string => (same ? `${side.app}_${side.model}` : side.model);
  return { parent: name(near), other: name(target) };
}

function sideOf(name: string, on: readonly ColumnPair[], target: ResourceBuilder): ToOneField {
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

/** The related side's key: in the pair itself if its column refers to that key. */
function keyOfPair(other: readonly ColumnPair[], target: ResourceBuilder): Key {
  if (refersToKey(other, target)) return { columns: other.map((pair) => pair.near) };
  return {
    columns: target.key.columns,
    via: { kind: 'to-one', name: 'id', target, on: other, byKey: false, evenDeleted: true },
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
      column: first.near,
      type: first.near.type,
      blank: false,
    } satisfies ColumnField;
  const on = other.map((pair) => ({ near: pair.near, far: pair.near }));
  return {
    ...base,
    kind: 'to-one',
    relation: { kind: 'to-one', name: 'id', target: shell, on, byKey: true },
  };
}
