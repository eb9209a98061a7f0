import type { DataSource, ValueTransformer } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

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
