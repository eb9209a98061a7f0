import type { ColumnDescription, EntityDescription } from '../core/schema/entity-metadata.js';

/** The human-readable label of a field, as in DRF: `question_text` is `Question text`, `id` is `ID`. */
export function labelOf(name: string): string {
  if (name === 'id') return 'ID';
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .split(/[_.\s]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

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
