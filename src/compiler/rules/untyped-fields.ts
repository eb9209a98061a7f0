import { isUntyped, keyColumns } from '../compile-transforms.js';
import { isExposedColumn } from '../exposed-properties.js';
import type { CompilerInput } from '../compiler-input.js';
import { declaredColumns } from '../property-names.js';

/** Warnings about fields whose transformer has no known type: one sentence for each model. */
export function untypedFields({ drafts }: CompilerInput): readonly string[] {
  return drafts.flatMap(({ declaration: { name, options }, entity }) => {
    const keys = keyColumns(entity);
    const within = { entity, options, isServed: () => true };
    const untyped = declaredColumns(entity).filter(
      (column) => isUntyped(column, options) && !keys.has(column.id) && isExposedColumn(column, within),
    );
    if (untyped.length === 0) return [];
    const paths = untyped.map(({ path }) => path);
    return [
      `${name}.${paths.join(`, ${name}.`)}: a transformer makes the values, and the class of the property does not say of which type,` +
        ` so that any JSON is taken and described. Name it: @Restify({ type: { ${paths.map((path) => `${propertyKey(path)}: 'string'`).join(', ')} } }).`,
    ];
  });
}

function propertyKey(path: string): string {
  return path.includes('.') ? `'${path}'` : path;
}
