import type { Json } from '../errors/rest-exception.js';
import type { Column } from './column.js';

/** The query parameter whose value `labels` adds the labels of related objects. */
export const LABELS_PARAMETER = 'with';

/** The value of the parameter, and the member of each object that has the labels. */
export const LABELS_MEMBER = 'labels';

/** The names of objects of a model to people: `Category`, `Categories`. */
export interface ModelLabels {
  readonly one: string;
  readonly many: string;
}

/** A field of the model whose value is part of a label. */
export interface LabelField {
  readonly name: string;
  readonly column: Column;
}

/** The human-readable name of each object of a model, compiled from the option `label`. */
export interface ObjectLabel {
  /** `{first_name} {last_name}`. */
  readonly template: string;
  readonly parts: readonly (string | LabelField)[];
}

export function fieldsOfLabel({ parts }: ObjectLabel): readonly LabelField[] {
  return parts.filter((part) => typeof part !== 'string');
}

/** The label for the values of its fields, in order; undefined if all of them are null, or the label would be empty. */
export function formatLabel({ parts }: ObjectLabel, values: readonly Json[]): string | undefined {
  if (values.every((value) => value === null)) return undefined;
  let at = 0;
  const text = parts
    .map((part) => (typeof part === 'string' ? part : String(values[at++] ?? '')))
    .join('')
    .trim();
  return text === '' ? undefined : text;
}
