import type { ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { Column } from '../../../core/schema/column.js';
import { fromProperty, toKeyProperty } from './property-values.js';

/** What is stored for a property of the key. One without a value is generated. */
export function storedKey(entity: ObjectLiteral, column: ColumnMetadata): unknown {
  const value: unknown = column.getEntityValue(entity);
  return value === null || value === undefined ? value : converted(value, column, 'to');
}

/** The property of a stored key, of which TypeORM's conditions make that key again: usually the key itself. */
export function propertyOfKey(value: Json, { type }: Column, column: ColumnMetadata): unknown {
  const stored = toKeyProperty(value, type, column);
  if (column.transformer === undefined) return stored;
  const makesKey = (property: unknown): boolean =>
    fromProperty(converted(property, column, 'to'), type) === value;
  for (const property of [() => stored, () => converted(stored, column, 'from')])
    try {
      if (makesKey(property())) return property();
    } catch {
      // It converts no such value.
    }
  return stored;
}

function converted(value: unknown, { transformer = [] }: ColumnMetadata, by: 'to' | 'from'): unknown {
  const all = [transformer].flat();
  return (by === 'to' ? all : all.reverse()).reduce<unknown>((each, one) => one[by](each), value);
}
