import type { ColumnDescription, EntityDescription } from '../core/schema/entity-metadata.js';

/** The top-level property of a column or relation, which may be an embedded object. */
export function topName({ path }: { readonly path: string }): string {
  return path.split('.')[0] ?? path;
}

/** Columns for which the entity declares a property. */
export function declaredColumns(entity: EntityDescription): readonly ColumnDescription[] {
  return entity.columns.filter((column) => !column.internal);
}

/** Names that the options of an entity may use: its columns, embedded objects and relations. */
export function propertyNames(entity: EntityDescription): ReadonlySet<string> {
  return new Set(
    [...declaredColumns(entity), ...entity.relations, ...entity.unjoined].flatMap((each) => [
      topName(each),
      ...('kind' in each ? [each.path] : []),
    ]),
  );
}
