import type { DataAdapter } from '../../core/data-adapter.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { conjunction, disjunction, equalsAsKey, ownKey } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import { formatLabel } from '../../core/schema/object-label.js';
import type { LabelledField } from '../../core/schema/reachable-models.js';
import type { Key } from '../../core/schema/resource-schema.js';
import { resourceOf } from '../../core/schema/resource.js';
import { keyText } from '../../core/values/keys.js';
import type { RestContext } from '../../request/rest-context.js';
import {
  findLabel,
  formatRepresented,
  hasDefaultRepresentation,
  selectLabelFields,
} from './add-labels.stage.js';

/** Keys in one statement. */
const KEYS = 500;

interface ReadLabels {
  readonly context: RestContext;
  readonly adapter: DataAdapter;
}

/**
 * The labels of the objects to which a field refers, by the text of their key: those that the caller may read, with the values that
 * their own responses show.
 */
export async function readLabels(
  field: LabelledField,
  keys: readonly (readonly Json[])[],
  { context, adapter }: ReadLabels,
): Promise<ReadonlyMap<string, string>> {
  const labels = new Map<string, string>();
  const found = keys.length === 0 ? undefined : await findLabel(field, context.access);
  if (!found) return labels;
  const { label, grantCondition, view } = found;
  // A serializer of the application may need every field.
  const resource =
    view && hasDefaultRepresentation(view) ? selectLabelFields(view, label) : (view ?? field.target);
  const { actor, base, requester } = context;
  const represented = resourceOf(resource);
  const basePath = `${base}/${resource.app}/${resource.model}`;
  const labelOf = (row: Row): string | undefined =>
    view
      ? formatRepresented(
          row,
          label,
          represented.serializer.represent(row, { resource: represented, actor, basePath }),
        )
      : formatLabel(label, row.key);
  const order = ownKey(resource.key).map((operand) => ({ operand, descending: false }));
  const read = async (part: readonly (readonly Json[])[]): Promise<void> => {
    const where = conjunction([grantCondition, keysCondition(resource.key, part)]);
    const plan = { kind: 'list', resource, where, order, requester, uncacheable: true } as const;
    for await (const page of adapter.read(plan, 'rows'))
      for (const row of page) labels.set(keyText(row.key), labelOf(row) ?? '');
  };
  for (let at = 0; at < keys.length; at += KEYS) await read(keys.slice(at, at + KEYS));
  return new Map([...labels].filter(([, text]) => text !== ''));
}

function keysCondition({ columns }: Key, keys: readonly (readonly Json[])[]): Condition {
  const [column, ...others] = columns;
  if (column && others.length === 0) {
    const value = keys.map(([each]) => each ?? null);
    return { kind: 'compare', operand: { joinPath: [], column }, lookup: 'in', value, asKey: true };
  }
  return disjunction(
    keys.map((key) => conjunction(columns.map((each, index) => equalsAsKey(each, key[index] ?? null)))),
  );
}
