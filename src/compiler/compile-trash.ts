import type { Column } from '../core/schema/column.js';
import type { EntityDescription } from '../core/schema/entity-metadata.js';
import type { ColumnField } from '../core/schema/field.js';
import type { Resource } from '../core/schema/resource.js';
import { DELETED_ROWS, TRASH_OPERATIONS } from '../core/schema/operation.js';
import type { Trash } from '../core/schema/resource.js';
import { labelOf } from './property-names.js';
import { setFields } from './resource-builder.js';
import type { ResourceBuilder } from './resource-builder.js';

/** The views of a model with `trash` on its deleted objects, empty until it is complete. */
export function createTrash(shell: ResourceBuilder): Trash | undefined {
  return TRASH_OPERATIONS.some((operation) => shell.operations.has(operation))
    ? { only: { ...shell }, with: { ...shell } }
    : undefined;
}

/** Completes the views of a model: their objects have the date of the deletion, also where the model does not show it. */
export function completeTrash(shell: Resource, entity: EntityDescription | undefined): void {
  const { trash } = shell;
  const date = shell.columns.get(entity?.deletion ?? '');
  if (!trash || !entity || !date) return;
  const added = dateField(shell, date, entity);
  for (const rows of DELETED_ROWS) {
    const view: ResourceBuilder = Object.assign(trash[rows], shell, { deleted: { rows, of: shell, date } });
    if (added) setFields(view, [...shell.fields.filter(({ name }) => name !== added.name), added]);
    Object.freeze(view);
  }
}

/** The field that is added; undefined if the model shows the date. */
function dateField(shell: Resource, column: Column, { columns }: EntityDescription): ColumnField | undefined {
  const path = columns.find(({ id }) => id === column.id)?.path.split('.') ?? [];
  const name = path.at(-1) ?? column.id;
  if (shell.fieldsByName.get(path[0] ?? '')?.readable === true) return undefined;
  return {
    kind: 'column',
    name,
    label: labelOf(name),
    column,
    type: column.type,
    readable: true,
    insertable: false,
    updatable: false,
    required: false,
    nullable: true,
    blank: true,
  };
}
