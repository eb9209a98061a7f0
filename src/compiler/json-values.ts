import type { JsonPathFilter } from '../core/contracts/filters.js';
import type { Column } from '../core/schema/column.js';
import type { DataType } from '../core/schema/data-type.js';
import { JSON_TYPES } from '../core/schema/json-value.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';

// The expression of a text has a collation of its own, in which a search by patterns would know ASCII alone.
const TEXT: DataType = { kind: 'string', trim: false, collation: 'BINARY' };

const VALUE_TYPES: ReadonlyMap<string, DataType> = new Map<string, DataType>([
  ['number', { kind: 'float' }],
  ['boolean', { kind: 'boolean' }],
]);

interface DeclaredValue {
  readonly keys: readonly string[];
  readonly declared: JsonPathFilter;
  /** The model with the column. */
  readonly owner: ResourceSchema;
}

/** A value in a column of JSON, as a column. Mistakes of the declaration are reported after the compilation. */
export function valueIn(source: Column, { keys, declared, owner }: DeclaredValue): Column {
  const as = declared.type ?? JSON_TYPES[0];
  const generated = [...owner.columns.values()].find(({ path }) => path === declared.column);
  return {
    id: source.id,
    path: [source.path, ...keys].join('.'),
    type: VALUE_TYPES.get(as) ?? TEXT,
    nullable: true,
    indexed: generated?.indexed === true,
    json: { source, keys, as, ...(generated && { generated }) },
  };
}
