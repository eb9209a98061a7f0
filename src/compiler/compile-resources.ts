import type { RestifyOptions } from '../decorators/model-options.js';
import type { Column } from '../core/schema/column.js';
import { linksOf } from '../core/schema/field.js';
import type { Field } from '../core/schema/field.js';
import type { EntityDescription } from '../core/schema/entity-metadata.js';
import { OPERATIONS } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import type { Resource } from '../core/schema/resource.js';
import type { RestifyDefaults } from '../restify.options.js';
import { compileFields } from './compile-fields.js';
import {
  compileFilterTerms,
  compileOrdering,
  compileOrderingFields,
  compileSearchFields,
} from './compile-queries.js';
import { compileLabel, compileLabelsParameter } from './compile-label.js';
import { compileRelations } from './compile-relations.js';
import { ThroughCompiler } from './compile-through.js';
import { transformedColumns } from './compile-transforms.js';
import type { CompiledView } from './compile-through.js';
import { declarationsByEntity } from './compiler-input.js';
import { foreignKeysOf, overlappingRelations } from './foreign-keys.js';
import type { ForeignKeys } from './foreign-keys.js';
import { polymorphicColumns } from './polymorphic-columns.js';
import type { CompilerInput, EntityDeclaration } from './compiler-input.js';
import { plainPaths, resolveFilterPath } from './resolve-path.js';
import type { FilterPath } from './resolve-path.js';
import { renameParameters } from './rename-parameters.js';
import { ResourceBuilder } from './resource-builder.js';
import { reserveParameters } from './yield-parameters.js';
import { compileFeatures } from './compile-features.js';
import type { ResourceParts } from './resource-parts.js';

/** The compiled model of one prefix. */
export interface CompiledModel {
  /** Registered ones, in declaration order. */
  readonly resources: readonly Resource[];
  /** All resources on which the adapter runs plans: registered ones, and the through models as seen from each side. */
  readonly all: readonly Resource[];
}

/**
 * Compiles declarations and entity descriptions to resources. Pure, and without validation, which `compiler/rules` performs
 * on the same result.
 */
export function compileResources(input: CompilerInput, parts: ResourceParts): CompiledModel {
  const { description, drafts } = input;
  const byEntity = declarationsByEntity(drafts);
  const shells = new Map(
    description.entities.map((entity) => [entity.id, builderOf(entity, byEntity.get(entity.id), parts)]),
  );
  const through = new ThroughCompiler(input, shells, parts.serializer({}));
  for (const entity of description.entities) {
    const shell = shells.get(entity.id);
    if (!shell) continue;
    shell.relations = compileRelations(entity, shells, through);
    shell.overlapping = overlappingRelations(
      shell.relations,
      polymorphicColumns(entity, optionsOf(byEntity.get(entity.id))),
    );
    shell.referredColumns = new Set(entity.referredColumns);
    shell.referrers = entity.referrers.flatMap(({ entity: referrer, onDelete }) => {
      const resource = shells.get(referrer);
      return resource ? [{ resource, onDelete }] : [];
    });
  }
  for (const entity of description.entities) {
    const shell = shells.get(entity.id);
    if (shell)
      completeEntity(shell, entity, {
        input,
        draft: byEntity.get(entity.id),
        parts,
        foreignKeys: foreignKeysOf(entity, shell, {
          junction: through.sidesOf(shell),
          polymorphic: polymorphicColumns(entity, optionsOf(byEntity.get(entity.id))),
        }),
      });
  }
  const views = through.complete();
  for (const shell of shells.values()) shell.nested = linksOf(shell.fields).map(({ relation }) => relation);
  for (const shell of [...shells.values(), ...views.map((view) => view.shell)])
    shell.setFields(omitDeadLinks(shell.fields, replacedRelations(byEntity.get(shell.entity), input)));
  for (const [entity, shell] of withBuilders(description.entities, shells))
    completeQueries(shell, {
      entity,
      options: optionsOf(byEntity.get(entity.id)),
      defaults: input.defaults,
      parts,
    });
  const entities = new Map(description.entities.map((entity) => [entity.id, entity]));
  for (const view of views)
    completeView(view, {
      entity: entities.get(view.shell.entity),
      draft: byEntity.get(view.shell.entity),
      parts,
      defaults: input.defaults,
    });
  const resources = drafts.flatMap((draft) => shells.get(draft.entity.id) ?? []);
  const all = [...resources, ...views.map(({ shell }) => shell)];
  for (const shell of all) Object.freeze(shell);
  return { resources, all };
}

function withBuilders(
  entities: readonly EntityDescription[],
  shells: ReadonlyMap<string, ResourceBuilder>,
): readonly (readonly [EntityDescription, ResourceBuilder])[] {
  return entities.flatMap((entity) => {
    const shell = shells.get(entity.id);
    return shell ? [[entity, shell] as const] : [];
  });
}

/** Relations whose nested URL has an action of the application, even if no default operation remains. */
function replacedRelations(
  draft: EntityDeclaration | undefined,
  { controllers }: CompilerInput,
): ReadonlySet<string> {
  const own = controllers.filter(({ declaration }) => declaration.entity === draft?.declaration.target);
  return new Set(
    own.flatMap(({ declaration }) =>
      declaration.actions.flatMap((action) => (action.kind === 'nested' ? action.relation : [])),
    ),
  );
}

function omitDeadLinks<Some extends Field>(
  fields: readonly Some[],
  replaced: ReadonlySet<string>,
): readonly Some[] {
  const kept = fields.filter((field) => hasOperations(field, replaced));
  return kept.map((field) =>
    field.kind === 'embedded' ? { ...field, fields: omitDeadLinks(field.fields, replaced) } : field,
  );
}

/** Omits links to URLs without any operation (contract 2.3). */
function hasOperations(field: Field, replaced: ReadonlySet<string>): boolean {
  if (field.kind !== 'link' || replaced.has(field.relation.name)) return true;
  const { relation } = field;
  if (relation.kind === 'one-to-many') return relation.target.operations.has('list');
  const { operations } = relation.through.resource;
  return operations.has('list') || operations.has('create');
}

function optionsOf(draft: EntityDeclaration | undefined): RestifyOptions {
  return draft?.declaration.options ?? {};
}

function builderOf(
  entity: EntityDescription,
  draft: EntityDeclaration | undefined,
  parts: ResourceParts,
): ResourceBuilder {
  const columns = new Map(
    transformedColumns(entity, optionsOf(draft)).map((column): [string, Column] => [column.id, column]),
  );
  const key = { columns: entity.key.flatMap((id) => columns.get(id) ?? []) };
  const app = draft?.app ?? '';
  const model = draft?.model ?? entity.name.toLowerCase();
  const identity = {
    id: `${app}.${model}`,
    app,
    model,
    label: entity.name,
    entity: entity.id,
    registered: draft !== undefined,
  };
  return new ResourceBuilder(
    identity,
    { key, identity: key.columns, columns },
    parts.serializer(optionsOf(draft)),
  );
}

function completeEntity(
  shell: ResourceBuilder,
  entity: EntityDescription,
  {
    input,
    draft,
    parts,
    foreignKeys,
  }: {
    input: CompilerInput;
    draft: EntityDeclaration | undefined;
    parts: ResourceParts;
    foreignKeys: ForeignKeys;
  },
): void {
  const options = optionsOf(draft);
  shell.setFields(compileFields({ entity, options, resource: shell, foreignKeys }));
  const possible = possibleOperations(entity);
  shell.operations = new Set(
    possible.filter((operation) => options.operations?.includes(operation) !== false),
  );
  shell.objectLabel = compileLabel(options.label, shell);
  shell.description = options.description ?? '';
  shell.returnDeleted = options.returnDeleted ?? input.defaults.returnDeleted;
  shell.strict = options.strict ?? input.defaults.strict;
  compileFeatures(shell, options, { parts, target: draft?.declaration.target, entity });
}

function possibleOperations({ writable, creatable }: EntityDescription): readonly Operation[] {
  if (!writable) return ['list', 'retrieve'];
  return creatable ? OPERATIONS : OPERATIONS.filter((operation) => operation !== 'create');
}

function completeQueries(
  shell: ResourceBuilder,
  {
    entity,
    options,
    defaults,
    parts,
  }: { entity: EntityDescription; options: RestifyOptions; defaults: RestifyDefaults; parts: ResourceParts },
): void {
  const plain = new Map(
    plainPaths(shell).flatMap((path): readonly (readonly [string, FilterPath])[] => {
      const resolved = resolveFilterPath(path, shell);
      return resolved ? [[path, resolved]] : [];
    }),
  );
  shell.declares = {
    filters: options.filterFields !== undefined,
    ordering: options.orderingFields !== undefined,
  };
  shell.filterTerms = compileFilterTerms(shell, options, plain);
  shell.searchFields = compileSearchFields(shell, options, plain);
  shell.orderingFields = compileOrderingFields(shell, options, plain);
  shell.orderingNulls = options.orderingNulls ?? false;
  shell.ordering = compileOrdering(shell, entity, options);
  shell.filterGroups = options.filterGroups ?? false;
  shell.queryLimits = { ...defaults.queryLimits, ...options.queryLimits };
  shell.labelsParameter = compileLabelsParameter(shell);
  renameParameters(shell, { ...defaults.parameters, ...options.parameters }, parts);
  shell.filterTerms = reserveParameters(shell);
}

/** The options of a through model: its own declaration, else those of the relation and the defaults of the prefix (contract 2.8). */
function completeView(
  { shell, mapped, options }: CompiledView,
  {
    entity,
    draft,
    parts,
    defaults,
  }: {
    entity: EntityDescription | undefined;
    draft: EntityDeclaration | undefined;
    parts: ResourceParts;
    defaults: RestifyDefaults;
  },
): void {
  shell.objectLabel = compileLabel(options.label, shell);
  shell.description = options.description ?? '';
  compileFeatures(shell, options, { parts, target: draft?.declaration.target, entity });
  const { serializer, hasDefaultSerializer } = parts.serializer(options);
  shell.serializer = serializer;
  shell.hasDefaultSerializer = hasDefaultSerializer;
  if (entity)
    completeQueries(shell, {
      entity: mapped ? entity : { ...entity, orderBy: [] },
      options,
      defaults,
      parts,
    });
}
