import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { ColumnDescription, EntityDescription } from '../../core/schema/entity-metadata.js';
import { exposedMember } from '../exposed-properties.js';
import { declaredColumns, topName } from '../property-names.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';

/** Reports unsupported features of served entities, so that none is served incorrectly. */
export function verifySupported({ drafts }: CompilerInput): readonly DeclarationProblem[] {
  const registered = new Set(drafts.map(({ entity }) => entity.id));
  return drafts.flatMap((draft) => [
    ...entityProblems(draft),
    ...relationProblems(draft, registered),
    ...declaredColumns(draft.entity).flatMap((column) => [
      ...columnProblems(column, draft),
      ...keyProblems(column, draft),
    ]),
  ]);
}

function entityProblems({ declaration, entity }: EntityDeclaration): readonly DeclarationProblem[] {
  const read = declaration.options.operations?.every(
    (operation) => operation === 'list' || operation === 'retrieve',
  );
  return entity.unsupported
    .filter(({ readable }) => !(readable && read === true))
    .map(({ what, repair }) => ({ where: declaration.name, what, repair }));
}

/** Ignores relations to entities that are not registered, which have no field. */
function relationProblems(
  draft: EntityDeclaration,
  registered: ReadonlySet<string>,
): readonly DeclarationProblem[] {
  const { declaration, entity } = draft;
  return entity.unjoined
    .filter((relation) => registered.has(relation.target) && !isLeftOut(relation, draft))
    .map(({ path }) => ({
      where: `${declaration.name}.${path}`,
      what: 'neither side of this many-to-many has a join table',
      repair: `Write @JoinTable() on one side, or leave it out: exclude: ['${path}'].`,
    }));
}

function isLeftOut(
  { path, target }: EntityDescription['unjoined'][number],
  { declaration: { options }, entity }: EntityDeclaration,
): boolean {
  const relation = { kind: 'one-to-many', path, target, on: [] } as const;
  return !exposedMember(relation, { entity, options, isServed: () => true }).hasField;
}

function columnProblems(
  column: ColumnDescription,
  { declaration, entity }: EntityDeclaration,
): readonly DeclarationProblem[] {
  const name = topName(column);
  const { hasField } = exposedMember(column, {
    entity,
    options: declaration.options,
    isServed: () => true,
  });
  if (column.unsupported === undefined || !hasField || !column.selected) return [];
  if (column.unsupported === '')
    return [
      {
        where: `${declaration.name}.${column.path}`,
        what: 'the type of its column is unknown',
        repair: `Write @Column({ type: … }) in place of @ViewColumn(), or leave it out: exclude: ['${name}'].`,
      },
    ];
  if (column.unsupportedArray)
    return [
      {
        where: `${declaration.name}.${column.path}`,
        what: `TypeORM cannot write arrays of the type "${column.unsupported}" to this database`,
        repair: `Write @Column('simple-array') or @Column('simple-json') without array: true, or leave it out: exclude: ['${name}'].`,
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
  { declaration }: EntityDeclaration,
): readonly DeclarationProblem[] {
  if (unfitKey === undefined) return [];
  return [
    {
      where: `${declaration.name}.${path}`,
      what: `its key is ${unfitKey}`,
      repair:
        'Give it a key of whole numbers, texts or UUIDs, and make this column unique, or leave the entity out: do not register it.',
    },
  ];
}
