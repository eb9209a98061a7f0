import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { RestifyOptions } from '../../decorators/model-options.js';
import { declaredColumns, propertyNames, topName } from '../property-names.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';

const LISTS = [
  'fields',
  'exclude',
  'readOnly',
  'writeOnly',
  'optional',
] as const satisfies readonly (keyof RestifyOptions)[];

/** Verifies that options refer to existing properties of the entity which can be exposed. */
export function verifyPropertyNames({ drafts }: CompilerInput): readonly DeclarationProblem[] {
  return drafts.flatMap((draft) => [
    ...LISTS.flatMap((option) =>
      (draft.declaration.options[option] ?? []).flatMap((name, index) =>
        propertyNameProblem(name, `${option}[${index}]`, draft),
      ),
    ),
    ...Object.keys(draft.declaration.options.trim ?? {}).flatMap((name) =>
      propertyNameProblem(name, `trim.${name}`, draft),
    ),
    ...readAndWriteOnly(draft),
  ]);
}

function propertyNameProblem(
  name: string,
  option: string,
  { declaration, entity }: EntityDeclaration,
): readonly DeclarationProblem[] {
  const known = propertyNames(entity);
  const where = `${declaration.name}.${option}`;
  if (!known.has(name))
    return [
      { where, what: `"${name}" is not a field of ${declaration.name}`, repair: didYouMean(name, known) },
    ];
  const hidden = declaredColumns(entity).some((column) => topName(column) === name && !column.selected);
  if (!hidden || !option.startsWith('fields') || (declaration.options.writeOnly ?? []).includes(name))
    return [];
  return [
    {
      where,
      what: `"${name}" is a column with select: false, and is never shown`,
      repair: `Take it out, or name it in writeOnly to let clients set it.`,
    },
  ];
}

function readAndWriteOnly({ declaration }: EntityDeclaration): readonly DeclarationProblem[] {
  const { readOnly = [], writeOnly = [] } = declaration.options;
  return readOnly
    .filter((name) => writeOnly.includes(name))
    .map((name) => ({
      where: `${declaration.name}.readOnly`,
      what: `"${name}" is writeOnly as well`,
      repair: `Name it in one of the two, or in exclude to leave it out.`,
    }));
}
