import { isScalar } from '../core/schema/data-type.js';
import type { ColumnField, Field } from '../core/schema/field.js';
import type { LabelField, ObjectLabel } from '../core/schema/object-label.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import type { Resource } from '../core/schema/resource.js';
import { labelledFields } from '../core/schema/reachable-models.js';
import { LABELS_MEMBER, LABELS_PARAMETER } from '../core/schema/object-label.js';
import { takenByBackends } from './query-parameters.js';

const PLACEHOLDER = /\{([^{}]*)\}/;

/** The names of fields in a label: a single name, or names in braces. */
export function namesInLabel(label: string): readonly string[] {
  if (!label.includes('{')) return [label];
  return label.split(PLACEHOLDER).filter((_part, index) => index % 2 === 1);
}

/** Undefined without a label, or with one that is reported after compilation. */
export function compileLabel(label: unknown, { fields }: ResourceSchema): ObjectLabel | undefined {
  if (typeof label !== 'string') return undefined;
  const template = label.includes('{') ? label : `{${label}}`;
  const parts = template
    .split(PLACEHOLDER)
    .map((part, index) => (index % 2 === 0 ? part : findLabelField(part, fields)))
    .filter((part) => part !== '');
  return parts.every((part) => part !== undefined) ? { template, parts } : undefined;
}

function findLabelField(name: string, fields: readonly Field[]): LabelField | undefined {
  const field = fields.find((each) => each.name === name);
  return field && isLabelField(field) ? { name, column: field.column } : undefined;
}

/** Whether the values of a field can be read as a text by people. */
export function isLabelField(field: Field): field is ColumnField {
  return field.kind === 'column' && field.readable && isScalar(field.type);
}

/**
 * The query parameter that adds labels, for a model that shows a relation to a labelled model. Undefined if the model uses the
 * name of the parameter or of the member otherwise.
 */
export function compileLabelsParameter(resource: Resource): string | undefined {
  const isTaken =
    resource.fieldsByName.has(LABELS_MEMBER) ||
    resource.filterTerms.has(LABELS_PARAMETER) ||
    takenByBackends(resource).has(LABELS_PARAMETER) ||
    resource.pagination?.parameters().includes(LABELS_PARAMETER) === true;
  return labelledFields(resource).length > 0 && !isTaken ? LABELS_PARAMETER : undefined;
}
