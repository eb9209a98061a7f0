import type { ColumnDescription, EntityDescription } from '../core/schema/entity-metadata.js';

/** The property that holds a column or a relation, or the embedded object that does. */
export function topName({ path }: { readonly path: string }): string {
  return path.split('.')[0] ?? path;
}

/** Columns that the entity declares a property for. */
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
