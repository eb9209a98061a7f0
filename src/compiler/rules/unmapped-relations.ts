import type { CompilerInput } from '../compiler-input.js';
import { topName } from '../property-names.js';

/** Warnings about declared relations that TypeORM does not map: one sentence for each. */
export function unmappedRelationWarnings({ drafts }: CompilerInput): readonly string[] {
  return drafts.flatMap(({ declaration: { name, options }, entity: { unmapped = [] } }) => {
    const { fields, exclude = [] } = options;
    return unmapped
      .filter((path) => !exclude.includes(path) && !exclude.includes(topName({ path })))
      .filter((path) => fields === undefined || fields.includes(topName({ path })))
      .map(
        (path) =>
          `${name}.${path} is left out: of an entity that extends another in its table, TypeORM neither reads nor writes relations of embedded objects.` +
          ' Declare the relation in the class itself, or leave it out by exclude.',
      );
  });
}
