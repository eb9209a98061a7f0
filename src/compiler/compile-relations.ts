import type {
  JunctionDescription,
  ManyToManyDescription,
  EntityDescription,
  RelationDescription,
} from '../core/schema/entity-metadata.js';
import type { Field } from '../core/schema/field.js';
import { OPERATIONS, TRASH_OPERATIONS } from '../core/schema/operation.js';
import type { ColumnPair, Through, ToOneRelation, Relation } from '../core/schema/relation.js';
import type { Key } from '../core/schema/resource-schema.js';
import type { Resource, ResourceSerializer } from '../core/schema/resource.js';
import type { ThroughOptions } from '../decorators/model-options.js';
import type { RestifyDefaults } from '../restify.options.js';
import { columnPairs, refersToKey } from './column-pairs.js';
import { declarationsByEntity } from './compiler-input.js';
import type { CompilerInput, EntityDeclaration } from './compiler-input.js';
import { effectiveOptions } from './effective-options.js';
import type { EffectiveOptions } from './effective-options.js';
import { junctionColumns, junctionEntities } from './junction-entities.js';
import { createBuilder, setFields } from './resource-builder.js';
import type { ResourceBuilder } from './resource-builder.js';
import { invertPair, mappedFields, pairFields } from './through-fields.js';
import type { ThroughView } from './through-fields.js';

/** All relations of an entity, whether its targets are served or not. */
export function compileRelations(
  entity: EntityDescription,
  shells: ReadonlyMap<string, ResourceBuilder>,
  through: ThroughCompiler,
): ReadonlyMap<string, Relation> {
  const source = shells.get(entity.id);
  const relations = new Map<string, Relation>();
  for (const description of entity.relations) {
    const target = shells.get(description.target);
    if (source && target)
      relations.set(description.path, resolveRelation(description, { source, target }, through));
  }
  return relations;
}

function resolveRelation(
  description: RelationDescription,
  { source, target }: { source: ResourceBuilder; target: ResourceBuilder },
  through: ThroughCompiler,
): Relation {
  const { path: name, kind } = description;
  switch (kind) {
    case 'to-one': {
      const on = columnPairs(description.on, source, target);
      return { name, target, kind, on, byKey: refersToKey(on, target) };
    }
    case 'reverse-one':
    case 'one-to-many':
      return { name, target, kind, on: columnPairs(description.on, source, target) };
    case 'many-to-many':
      return { name, target, kind, through: through.compile(description, source, target) };
    default:
      return description satisfies never;
  }
}

/** A view with its options. */
export type CompiledView = Pick<ThroughView, 'shell' | 'mapped' | 'options'>;

/**
 * Compiles the through models of many-to-many relations: the application's own entity where one is mapped on the
 * junction's table, else the pair of keys that TypeORM keeps (contract 2.9). Each side has its own view: the parent's field
 * is filled by the URL, and the `id` of a pair is the other side's key.
 */
export class ThroughCompiler {
  private readonly views: ThroughView[] = [];

  private readonly shells: ReadonlyMap<string, ResourceBuilder>;
  private readonly declarations: ReadonlyMap<string, EntityDeclaration>;
  private readonly entities: ReadonlyMap<string, string>;
  /** Columns that are declared not updatable, by entity. */
  private readonly fixed: ReadonlyMap<string, ReadonlySet<string>>;
  private readonly defaults: RestifyDefaults;

  constructor(
    input: Pick<CompilerInput, 'description' | 'declarations' | 'defaults'>,
    shells: ReadonlyMap<string, ResourceBuilder>,
    private readonly serializer: ResourceSerializer,
  ) {
    this.shells = shells;
    this.declarations = declarationsByEntity(input.declarations);
    this.entities = junctionEntities(input);
    const used = new Set(this.entities.values());
    const through = input.description.entities.filter(({ id }) => used.has(id));
    this.fixed = new Map(
      through.map(({ id, columns }) => [
        id,
        new Set(columns.filter(({ updatable }) => !updatable).map((column) => column.id)),
      ]),
    );
    this.defaults = input.defaults;
  }

  compile(
    { junction, path }: ManyToManyDescription,
    source: ResourceBuilder,
    target: ResourceBuilder,
  ): Through {
    const mapped = this.shells.get(this.entities.get(junction.entity) ?? '');
    const table = mapped ?? this.shells.get(junction.entity);
    if (!table) throw new Error(`No junction of ${junction.declaredAt}`);
    const parent = columnPairs(junction.parent, source, table);
    const other = columnPairs(junction.other, table, target);
    const shell = this.shellOf(table, { junction, other, target, isPair: isPair(table, junction), mapped });
    this.views.push({
      shell,
      junction,
      source,
      target,
      parent,
      other,
      mapped,
      fixed: this.fixed.get(table.entity) ?? new Set(),
      options: this.optionsOf(path, junction, { source, target, mapped }),
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
    for (const { source, target, parent, other } of this.views.filter((view) => view.mapped === mapped)) {
      for (const [on, side] of [
        [parent.map(invertPair), source],
        [other, target],
      ] as const) {
        const name = on.map(({ localColumn: column }) => column.path).join(',');
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
    const { app, model } = mapped?.registered === true ? mapped : this.nameOfPair(junction);
    const key = isPair ? keyOfPair(other, target) : table.key;
    const identity = {
      id: `${app}.${model}`,
      app,
      model,
      className: mapped?.className ?? model,
      entity: table.entity,
      registered: mapped?.registered ?? false,
    };
    return createBuilder(
      identity,
      { key, identity: isPair ? table.identity : table.key.columns, columns: table.columns },
      this.serializer,
    );
  }

  /** Junctions without a declaration are named after the owner and its relation. */
  private nameOfPair({ ownerEntity, ownerProperty }: JunctionDescription): Pick<Resource, 'app' | 'model'> {
    const { app = '', model = '' } = this.shells.get(ownerEntity) ?? {};
    return { app, model: `${model}_${ownerProperty.toLowerCase()}` };
  }

  /** Its own declaration, else the options of this relation, else those of the relation from the other side. */
  private optionsOf(
    path: string,
    junction: JunctionDescription,
    {
      source,
      target,
      mapped,
    }: { source: ResourceBuilder; target: ResourceBuilder; mapped: ResourceBuilder | undefined },
  ): EffectiveOptions {
    const own = mapped && this.declarations.get(mapped.entity);
    if (own) return effectiveOptions(own.declaration.options, this.defaults);
    // Merged option by option; no option may be given on both sides.
    return effectiveOptions(
      { ...this.declaredThrough(target, junction.inverse), ...this.declaredThrough(source, path) },
      this.defaults,
    );
  }

  private declaredThrough(
    { entity }: ResourceBuilder,
    relation: string | undefined,
  ): ThroughOptions | undefined {
    if (relation === undefined) return undefined;
    const through = this.declarations.get(entity)?.declaration.options.through as
      Readonly<Record<string, ThroughOptions>> | undefined;
    return through?.[relation];
  }

  /** Compiles the views; called after the fields of all entities are compiled. */
  complete(): readonly CompiledView[] {
    for (const view of this.views) {
      view.shell.relations = view.mapped?.relations ?? new Map();
      view.shell.overlapping = view.mapped?.overlapping ?? [];
      view.shell.referredColumns = view.mapped?.referredColumns ?? new Set();
      setFields(view.shell, this.fieldsOf(view));
      const possible = hasTrash(view) ? [...OPERATIONS, ...TRASH_OPERATIONS] : OPERATIONS;
      view.shell.operations = new Set(view.options.operations ?? possible);
    }
    return this.views;
  }

  private fieldsOf(view: ThroughView): readonly Field[] {
    return view.mapped ? mappedFields(view, view.mapped) : pairFields(view);
  }
}

/** Only an entity of the application has deleted rows. */
function hasTrash({ mapped, options }: ThroughView): boolean {
  return mapped !== undefined && 'trash' in options && options.trash === true;
}

function isPair(table: ResourceBuilder, junction: JunctionDescription): boolean {
  const sides = new Set(junctionColumns(junction));
  return table.key.columns.every((column) => sides.has(column.id)) && table.key.columns.length === sides.size;
}

/** The related side's key: in the pair itself if its column refers to that key. */
function keyOfPair(other: readonly ColumnPair[], target: ResourceBuilder): Key {
  if (refersToKey(other, target)) return { columns: other.map((pair) => pair.localColumn) };
  return {
    columns: target.key.columns,
    via: { kind: 'to-one', name: 'id', target, on: other, byKey: false, evenDeleted: true },
  };
}
