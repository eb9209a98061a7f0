import type { CompilerInput } from '../compiler-input.js';
import { polymorphicColumns } from '../polymorphic-columns.js';
import type { PolymorphicColumn } from '../polymorphic-columns.js';

/** Warnings about relations that are read-only because they have the same columns: one for each key. */
export function polymorphicColumnWarnings({ drafts }: CompilerInput): readonly string[] {
  const served = new Set(drafts.map(({ entity }) => entity.id));
  return drafts.flatMap(({ declaration: { name, options }, entity }) =>
    keysOf(polymorphicColumns(entity, options)).flatMap(({ columns, relations }) => {
      const shown = relations.filter(({ target }) => served.has(target));
      if (shown.length === 0) return [];
      const paths = shown.map(({ path }) => `${name}.${path}`).join(', ');
      const several = columns.length > 1 ? 's' : '';
      return (
        `${paths} have the same column${several} and no foreign key constraint: they are read-only, and bodies write ${columns.map(({ path }) => `${name}.${path}`).join(', ')}.` +
        ` To write the relations, which then must agree, list ${columns.map(({ path }) => `'${path}'`).join(', ')} in readOnly.`
      );
    }),
  );
}

interface PolymorphicKey {
  readonly columns: readonly PolymorphicColumn['column'][];
  readonly relations: PolymorphicColumn['relations'];
}

function keysOf(columns: readonly PolymorphicColumn[]): readonly PolymorphicKey[] {
  const keys = new Map<string, PolymorphicKey>();
  for (const { column, relations } of columns) {
    const name = relations.map(({ path }) => path).join();
    keys.set(name, { columns: [...(keys.get(name)?.columns ?? []), column], relations });
  }
  return [...keys.values()];
}
