import type { DeclarationProblem } from '../../errors/declaration-error.js';
import type { ColumnDescription } from '../../model/entity-description.js';
import { declaredColumns, topName } from '../compiling/property-names.js';
import type { Blueprint, Draft } from '../compiling/draft.js';

/** What cannot be served is said, and never served wrong. */
export function verifySupported({ drafts }: Blueprint): readonly DeclarationProblem[] {
  return drafts.flatMap((draft) => [
    ...entityProblems(draft),
    ...declaredColumns(draft.entity).flatMap((column) => [
      ...columnProblems(column, draft),
      ...keyProblems(column, draft),
    ]),
  ]);
}

function entityProblems({ declaration, entity }: Draft): readonly DeclarationProblem[] {
  return entity.unsupported.map(({ what, repair }) => ({ where: declaration.name, what, repair }));
}

function columnProblems(column: ColumnDescription, { declaration }: Draft): readonly DeclarationProblem[] {
  const name = topName(column);
  const left =
    (declaration.options.exclude ?? []).includes(name) ||
    (declaration.options.fields !== undefined && !declaration.options.fields.includes(name));
  if (column.unsupported === undefined || left || !column.selected) return [];
  if (column.unsupported === '')
    return [
      {
        where: `${declaration.name}.${column.path}`,
        what: 'nobody says the type of its column',
        repair: `Write @Column({ type: … }) in place of @ViewColumn(), or leave it out: exclude: ['${name}'].`,
      },
    ];
  return [
    {
      where: `${declaration.name}.${column.path}`,
      what: `its column type "${column.unsupported}" has no form in JSON`,
      repair: `Leave it out: exclude: ['${name}'].`,
    },
  ];
}

function keyProblems(
  { path, unfitKey }: ColumnDescription,
  { declaration }: Draft,
): readonly DeclarationProblem[] {
  if (unfitKey === undefined) return [];
  return [
    {
      where: `${declaration.name}.${path}`,
      what: `its key is ${unfitKey}`,
      repair: 'Give it a key of whole numbers, texts or UUIDs, and make this column unique.',
    },
  ];
}
