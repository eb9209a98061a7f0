import type { Column } from '../core/schema/column.js';
import { linksOf } from '../core/schema/field.js';
import type { Field } from '../core/schema/field.js';
import type { EntityDescription } from '../core/schema/entity-metadata.js';
import { OPERATIONS, TRASH_OPERATIONS } from '../core/schema/operation.js';
import type { OperationName } from '../core/schema/operation.js';
import type { Resource, ResourceSerializer } from '../core/schema/resource.js';
import { compileAggregates } from './compile-aggregates.js';
import { compileFields } from './compile-fields.js';
import {
  compileFilterTerms,
  compileOrdering,
  compileOrderingFields,
  compileSearchFields,
  plainPaths,
  resolveFilterPath,
} from './compile-queries.js';
import { compileLabelsParameter } from './compile-label.js';
import { compileRelations, ThroughCompiler } from './compile-relations.js';
import { transformedColumns } from './compile-transforms.js';
import { declarationsByEntity } from './compiler-input.js';
import { effectiveOptions } from './effective-options.js';
import type { EffectiveOptions } from './effective-options.js';
import { foreignKeysOf, overlappingRelations, polymorphicColumns } from './foreign-keys.js';
import type { CompilerInput, EntityDeclaration, ResourceParts } from './compiler-input.js';
import type { FilterPath } from './compile-queries.js';
import { renameParameters, reserveParameters } from './query-parameters.js';
import { createBuilder, setFields } from './resource-builder.js';
import { completeTrash } from './compile-trash.js';
import { completeNested } from './compile-nested.js';
import { completeRelatedKeys } from './compile-related-keys.js';
import type { ResourceBuilder } from './resource-builder.js';
import { compileFeatures } from './compile-features.js';

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
  const { description, declarations } = input;
  const byEntity = declarationsByEntity(declarations);
  const none = effectiveOptions({}, input.defaults);
  const entities = description.entities.map((entity) => {
    const draft = byEntity.get(entity.id);
    const options = draft ? effectiveOptions(draft.declaration.options, input.defaults) : none;
    const shell = builderOf(entity, draft, { options, serializer: parts.serializer(options) });
    return { entity, options, target: draft?.declaration.target, shell };
  });
  const byId = new Map(entities.map((each) => [each.entity.id, each]));
  const shells = new Map(entities.map(({ entity, shell }) => [entity.id, shell]));
  const through = new ThroughCompiler(input, shells, parts.serializer(none));
  for (const { entity, options, shell } of entities) {
    shell.relations = compileRelations(entity, shells, through);
    shell.overlapping = overlappingRelations(shell.relations, polymorphicColumns(entity, options));
    shell.referredColumns = new Set(entity.referredColumns);
    shell.rowReferrers = entity.referrers.flatMap(({ entity: referrer, onDelete }) => {
      const resource = shells.get(referrer);
      return resource ? [{ resource, onDelete }] : [];
    });
    // A soft deletion changes no other row.
    shell.referrers = entity.deletion === undefined ? shell.rowReferrers : [];
  }
  for (const { entity, options, target, shell } of entities) {
    const foreignKeys = foreignKeysOf(entity, shell, {
      junction: through.sidesOf(shell),
      polymorphic: polymorphicColumns(entity, options),
    });
    setFields(shell, compileFields({ entity, options, resource: shell, foreignKeys }));
    shell.operations = new Set(
      possibleOperations(entity, options).filter(
        (operation) => options.operations?.includes(operation) !== false,
      ),
    );
    compileFeatures(shell, options, { parts, target, entity });
  }
  const views = through.complete();
  for (const shell of shells.values()) shell.nested = linksOf(shell.fields).map(({ relation }) => relation);
  for (const shell of [...shells.values(), ...views.map((view) => view.shell)]) {
    const fields = omitDeadLinks(shell.fields, replacedRelations(byEntity.get(shell.entity), input));
    if (fields !== shell.fields) setFields(shell, fields);
    completeRelatedKeys(shell, byId);
  }
  for (const { options, shell } of entities) completeNested(shell, options);
  for (const { entity, options, shell } of entities) completeQueries(shell, entity, options);
  // The options of a through model: its own declaration, else those of the relation and the defaults of the prefix (contract 2.8).
  for (const { shell, mapped, options } of views) {
    const { entity, target } = byId.get(shell.entity) ?? {};
    compileFeatures(shell, options, { parts, target, entity });
    Object.assign(shell, parts.serializer(options));
    completeNested(shell, options);
    if (entity) completeQueries(shell, mapped ? entity : { ...entity, orderBy: [] }, options);
  }
  const resources = declarations.flatMap((draft) => shells.get(draft.entity.id) ?? []);
  const all = [...resources, ...views.map(({ shell }) => shell)];
  for (const shell of all) completeTrash(shell, byId.get(shell.entity)?.entity);
  for (const shell of all) Object.freeze(shell);
  return { resources, all };
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
  if (kept.length === fields.length && kept.every(({ kind }) => kind !== 'embedded')) return fields;
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

function builderOf(
  entity: EntityDescription,
  draft: EntityDeclaration | undefined,
  { options, serializer }: { options: EffectiveOptions; serializer: ResourceSerializer },
): ResourceBuilder {
  const columns = new Map(
    transformedColumns(entity, options).map((column): [string, Column] => [column.id, column]),
  );
  const key = { columns: entity.key.flatMap((id) => columns.get(id) ?? []) };
  const app = draft?.app ?? '';
  const model = draft?.model ?? entity.name.toLowerCase();
  const identity = {
    id: `${app}.${model}`,
    app,
    model,
    className: entity.name,
    entity: entity.id,
    registered: draft !== undefined,
  };
  return createBuilder(identity, { key, identity: key.columns, columns }, serializer);
}

function possibleOperations(
  { writable, creatable, deletion }: EntityDescription,
  { trash }: EffectiveOptions,
): readonly OperationName[] {
  if (!writable) return ['list', 'retrieve'];
  const plain = creatable ? OPERATIONS : OPERATIONS.filter((operation) => operation !== 'create');
  return trash === true && deletion !== undefined ? [...plain, ...TRASH_OPERATIONS] : plain;
}

function completeQueries(shell: ResourceBuilder, entity: EntityDescription, options: EffectiveOptions): void {
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
  shell.queryLimits = options.queryLimits;
  // Those of a declaration are verified.
  shell.aggregates = shell.registered ? compileAggregates(options, shell) : undefined;
  shell.labelsParameter = compileLabelsParameter(shell);
  renameParameters(shell, options.parameters);
  shell.filterTerms = reserveParameters(shell);
}
