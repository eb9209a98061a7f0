import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { FIELD_TYPES } from '../../core/schema/field-type.js';
import { keyColumns } from '../compile-transforms.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { declaredColumns } from '../property-names.js';

/** Verifies that `type` has known types, and only for columns with a transformer: others have the type of the column. */
export function verifyFieldTypes({ drafts }: CompilerInput): readonly DeclarationProblem[] {
  return drafts.flatMap((draft) =>
    Object.entries((draft.declaration.options.type ?? {}) as Readonly<Record<string, unknown>>).flatMap(
      ([path, given]): readonly DeclarationProblem[] => {
        const problem = given === undefined ? undefined : fieldTypeProblem(path, given, draft);
        return problem ? [{ where: `${draft.declaration.name}.type.${path}`, ...problem }] : [];
      },
    ),
  );
}

function fieldTypeProblem(
  path: string,
  given: unknown,
  { entity, declaration }: EntityDeclaration,
): Omit<DeclarationProblem, 'where'> | undefined {
  const columns = declaredColumns(entity);
  const column = columns.find((each) => each.path === path);
  if (!column)
    return {
      what: `"${path}" is not a column of ${declaration.name}`,
      repair: didYouMean(
        path,
        columns.flatMap((each) => (each.transformer ? [each.path] : [])),
      ),
    };
  if (!column.transformer)
    return {
      what: 'its column has no transformer, so its type is known',
      repair: 'Take it out, or write @Column({ transformer: … }).',
    };
  if (keyColumns(entity).has(column.id))
    return {
      what: 'its column is part of a key, whose values are shown as they are stored',
      repair: 'Take it out.',
    };
  if (typeof given === 'string' && FIELD_TYPES.includes(given)) return undefined;
  return {
    what: `${JSON.stringify(given)} is not a type`,
    repair: didYouMean(String(given), FIELD_TYPES),
  };
}
