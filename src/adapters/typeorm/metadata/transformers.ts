import type { DataSource, ValueTransformer } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { DataType } from '../../../core/schema/data-type.js';
import type { ColumnDescription, TransformerDescription } from '../../../core/schema/entity-metadata.js';
import { plainNumberText } from '../../../core/values/numbers.js';
import { fromProperty, toProperty } from '../write/property-values.js';
import { designType } from './column-data-type.js';

/** Describes the application's transformers of a column, if it has any. `type` is the type of the stored value. */
export function describeTransformer(
  column: ColumnMetadata,
  type: DataType,
): Pick<ColumnDescription, 'transformer'> {
  if (column.transformer === undefined) return {};
  const transformers = [column.transformer].flat();
  return {
    transformer: {
      declared: declaredBy(column, type),
      convert: (value, as) => {
        try {
          const property = toProperty(structuredClone(value), as, column);
          return storedForm(
            transformers.reduce<unknown>((each, transformer) => transformer.to(each), property),
            type,
          );
        } catch {
          return undefined;
        }
      },
    },
  };
}

function declaredBy(column: ColumnMetadata, type: DataType): TransformerDescription['declared'] {
  switch (designType(column)) {
    case Array:
      return 'list';
    case String:
      return 'string';
    case Number:
      return 'number';
    case Boolean:
      return 'boolean';
    case Date:
      return 'date';
    case BigInt:
      return type.kind === 'bigint' ? 'own' : 'unknown';
    case Buffer:
    case Uint8Array:
      return type.kind === 'binary' ? 'own' : 'unknown';
    default:
      return 'unknown';
  }
}

/** The canonical form of the value that a transformer returned; undefined if no column can store it, or if it is SQL. */
function storedForm(value: unknown, type: DataType): Json | undefined {
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (value instanceof Date && Number.isNaN(value.getTime())) return undefined;
  if (typeof value === 'number' && type.kind === 'decimal') return plainNumberText(value);
  const isFlag = typeof value === 'boolean' && type.kind !== 'boolean' && type.kind !== 'json';
  return fromProperty(isFlag ? Number(value) : value, type) as Json;
}

/** The column whose transformer has thrown an error, and its function. */
export interface FailedConversion {
  readonly column: ColumnMetadata;
  readonly by: 'to' | 'from';
}

/** The errors themselves reach the application unchanged. */
const FAILED = new WeakMap<object, FailedConversion>();

/** Remembers which column an error of a transformer belongs to. TypeORM does not say so. */
export function traceTransformers({ entityMetadatas }: DataSource): void {
  for (const { columns } of entityMetadatas)
    for (const column of columns)
      if (column.transformer !== undefined) column.transformer = traced([column.transformer].flat(), column);
}

/** Undefined if no transformer has thrown the error. */
export function failedConversion(error: unknown): FailedConversion | undefined {
  return isObject(error) ? FAILED.get(error) : undefined;
}

function traced(transformers: readonly ValueTransformer[], column: ColumnMetadata): ValueTransformer {
  const trace = (by: FailedConversion['by'], convert: () => unknown): unknown => {
    try {
      return convert();
    } catch (error) {
      if (isObject(error)) FAILED.set(error, { column, by });
      throw error;
    }
  };
  return {
    to: (value) =>
      trace('to', () => transformers.reduce<unknown>((each, transformer) => transformer.to(each), value)),
    from: (value) =>
      trace('from', () =>
        transformers.reduceRight<unknown>((each, transformer) => transformer.from(each), value),
      ),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
