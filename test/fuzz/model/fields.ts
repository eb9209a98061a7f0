import { deletionOf } from '../schema.js';
import type { ColumnSpec, Json, RelationSpec } from '../schema.js';
import type { Resource } from './resources.js';
import { keyInUrl, keyJson } from './state.js';
import type { Placed, State } from './state.js';

export interface FieldView {
  readonly name: string;
  readonly column?: ColumnSpec;
  readonly relation?: RelationSpec;
  readonly isKey: boolean;
  readonly isReadable: boolean;
  /** Whether a body may contain it; a key that is set by the client, on create only. */
  readonly isWritable: boolean;
}

/** The fields in order: key, columns, relations (contract 2). */
export function fieldsOf(
  state: State,
  { entity, options, deleted }: Pick<Resource, 'entity' | 'options' | 'deleted'>,
): FieldView[] {
  const { readOnly = [], writeOnly = [], exclude = [] } = options;
  const columns = [...entity.key.columns, ...entity.columns].map((column): FieldView => {
    const isKey = entity.key.columns.includes(column);
    return {
      name: column.name,
      column,
      isKey,
      isReadable: !column.hidden && !writeOnly.includes(column.name),
      isWritable:
        !(isKey && entity.key.generated) &&
        column.kind !== 'version' &&
        column.kind !== 'deletion' &&
        !column.readOnly &&
        !readOnly.includes(column.name) &&
        (!column.hidden || writeOnly.includes(column.name)),
    };
  });
  const relations = entity.relations
    .filter((relation) => state.entity(relation.target).registered)
    .map((relation): FieldView => ({
      name: relation.name,
      relation,
      isKey: false,
      isReadable: !writeOnly.includes(relation.name),
      isWritable: relation.kind === 'to-one' && !relation.unbound && !readOnly.includes(relation.name),
    }));
  const shown = [...columns, ...relations].filter(
    (field) => !exclude.includes(field.name) && (field.isReadable || field.isWritable),
  );
  const date = deleted && deletionOf(entity)?.name;
  // With deleted objects, the date of the deletion is shown where the model does not show it (contract 23.3).
  return [...shown, ...columns.filter(({ name }) => name === date && exclude.includes(name))];
}

/** The value of a field in responses. */
export function shownValue(state: State, { entity, row }: Placed, field: FieldView): Json {
  const { relation, name } = field;
  if (!relation) return row.values[name] ?? null;
  switch (relation.kind) {
    case 'to-one':
      return keyJson(state.entity(relation.target), (row.values[name] ?? null) as string | null);
    case 'reverse-one': {
      const target = state.entity(relation.target);
      const found = state.rows(relation.target).find((each) => each.values[relation.forward] === row.key);
      return found ? keyJson(target, found.key) : null;
    }
    case 'to-many':
    case 'many-to-many':
      return `/rest/v1/${entity.app}/${entity.model}/${keyInUrl(entity, row.key)}/${name}/`;
    default:
      return relation satisfies never;
  }
}
