import type { DeclarationProblem } from '../../errors/declaration-error.js';
import type { ColumnDescription } from '../../model/entity-description.js';
import { declaredColumns, topName } from '../compiling/property-names.js';
import type { Blueprint, Draft } from '../compiling/draft.js';

/** What cannot be served is said, and never served wrong. */
export function verifySupported({ drafts }: Blueprint): readonly DeclarationProblem[] {
  return drafts.flatMap((draft) => [...entityProblems(draft), ...embeddedRelationProblems(draft), ...declaredColumns(draft.entity).flatMap((column) => [...columnProblems(column, draft), ...keyProblems(column, draft)])]);
}

function entityProblems({ declaration, entity }: Draft): readonly DeclarationProblem[] {
  if (entity.unsupported === undefined) return [];
  return [{ where: declaration.name, what: `${entity.unsupported} is not supported yet`, repair: 'Take @Restify off, and serve it with a controller of your own.' }];
}

function embeddedRelationProblems({ declaration, entity }: Draft): readonly DeclarationProblem[] {
  return entity.relations
    .filter(({ path }) => path.includes('.') && !(declaration.options.exclude ?? []).includes(path) && (declaration.options.fields === undefined || declaration.options.fields.includes(path)))
    .map(({ path }) => ({ where: `${declaration.name}.${path}`, what: 'a relation in an embedded object is not supported yet', repair: `Leave it out: exclude: ['${path}'].` }));
}

function columnProblems(column: ColumnDescription, { declaration }: Draft): readonly DeclarationProblem[] {
  const name = topName(column);
  const left = (declaration.options.exclude ?? []).includes(name) || (declaration.options.fields !== undefined && !declaration.options.fields.includes(name));
  if (column.unsupported === undefined || left || !column.selected) return [];
  return [{ where: `${declaration.name}.${column.path}`, what: `its column type "${column.unsupported}" has no form in JSON`, repair: `Leave it out: exclude: ['${name}'].` }];
}

function keyProblems({ path, unfitKey }: ColumnDescription, { declaration }: Draft): readonly DeclarationProblem[] {
  if (unfitKey === undefined) return [];
  return [{ where: `${declaration.name}.${path}`, what: `its key is ${unfitKey}`, repair: 'Give it a key of whole numbers, texts or UUIDs, and make this column unique.' }];
}
