import type { CompilerInput } from '../compiler-input.js';
import { polymorphicColumns } from '../polymorphic-columns.js';

/** Warnings about relations that are read-only because they have one column: one sentence for each column. */
export function polymorphicColumnWarnings({ drafts }: CompilerInput): readonly string[] {
  const served = new Set(drafts.map(({ entity }) => entity.id));
  return drafts.flatMap(({ declaration: { name, options }, entity }) =>
    polymorphicColumns(entity, options).flatMap(({ column, relations }) => {
      const shown = relations.filter(({ target }) => served.has(target));
      if (shown.length === 0) return [];
      const paths = shown.map(({ path }) => `${name}.${path}`).join(', ');
      return (
        `${paths} have the same column and no foreign key constraint: they are read-only, and bodies write ${name}.${column.path}.` +
        ` To write the relations, which then must agree, list '${column.path}' in readOnly.`
      );
    }),
  );
}
