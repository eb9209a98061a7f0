import { deletionOf } from '../schema.js';
import type { ColumnSpec, Json, ManySpec, OptionsSpec, RelationSpec } from '../schema.js';
import type { Actor } from './access.js';
import type { NestedField } from './nested.js';
import { viewsKeys } from './related-keys.js';
import type { Resource } from './resources.js';
import { keyInUrl, keyJson } from './state.js';
import type { Placed, State } from './state.js';

export interface FieldView {
  readonly name: string;
  readonly column?: ColumnSpec;
  readonly relation?: RelationSpec;
  /** The relation, if the field has the keys of related objects (contract 24.1). */
  readonly keys?: ManySpec | undefined;
  /** The relation, if bodies write its objects (contract 25.1). */
  readonly nested?: NestedField | undefined;
  readonly isKey: boolean;
  readonly isReadable: boolean;
  /** Whether a body may contain it; a key that is set by the client, on create only. */
  readonly isWritable: boolean;
}

/** The fields in order: key, columns, relations (contract 2). With an actor, those that the pairs of relations let it read. */
export function fieldsOf(
  state: State,
  { entity, options, deleted }: Pick<Resource, 'entity' | 'options' | 'deleted'>,
  actor?: Actor,
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
    .map((relation): FieldView => {
      const keys = keysOf(options, relation);
      const isViewed = !keys || actor === undefined || viewsKeys({ state, actor }, entity, keys);
      const nested = nestedOf(options, relation);
      return {
        name: relation.name,
        relation,
        keys,
        nested,
        isKey: false,
        isReadable: !writeOnly.includes(relation.name) && isViewed,
        isWritable:
          ((relation.kind === 'to-one' && !relation.unbound) || (keys ?? nested) !== undefined) &&
          !readOnly.includes(relation.name),
      };
    });
  const shown = [...columns, ...relations].filter(
    (field) => !exclude.includes(field.name) && (field.isReadable || field.isWritable),
  );
  const date = deleted && deletionOf(entity)?.name;
  // With deleted objects, the date of the deletion is shown where the model does not show it (contract 23.3).
  return [...shown, ...columns.filter(({ name }) => name === date && exclude.includes(name))];
}

function nestedOf({ nested }: OptionsSpec, relation: RelationSpec): NestedField | undefined {
  const verbs = nested?.[relation.name];
  return verbs && (relation.kind === 'to-many' || relation.kind === 'reverse-one')
    ? { relation, verbs }
    : undefined;
}

function keysOf({ relatedKeys }: OptionsSpec, relation: RelationSpec): ManySpec | undefined {
  return relation.kind === 'many-to-many' && relatedKeys?.includes(relation.name) ? relation : undefined;
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
