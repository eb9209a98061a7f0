import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { ColumnDescription, EntityDescription } from '../../core/schema/entity-metadata.js';
import { exposedMember } from '../exposed-properties.js';
import { declaredColumns, topName } from '../property-names.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';

/** Reports unsupported features of served entities, so that none is served incorrectly. */
export function verifySupported({ drafts }: CompilerInput): readonly DeclarationProblem[] {
  const registered = new Map(drafts.map(({ entity }) => [entity.id, entity]));
  return drafts.flatMap((draft) => [
    ...entityProblems(draft),
    ...relationProblems(draft, registered),
    ...foreignKeyProblems(draft, registered),
    ...declaredColumns(draft.entity).flatMap((column) => [
      ...columnProblems(column, draft),
      ...keyProblems(column, draft),
    ]),
  ]);
}

function entityProblems(draft: EntityDeclaration): readonly DeclarationProblem[] {
  return draft.entity.unsupported
    .filter(({ readable }) => !(readable && isOnlyRead(draft)))
    .map(({ what, repair }) => ({ where: draft.declaration.name, what, repair }));
}

function isOnlyRead({ declaration: { options } }: EntityDeclaration): boolean {
  return options.operations?.every((operation) => operation === 'list' || operation === 'retrieve') === true;
}

/** Ignores relations to entities that are not registered, which have no field. */
function relationProblems(
  draft: EntityDeclaration,
  registered: ReadonlyMap<string, EntityDescription>,
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
  draft: EntityDeclaration,
): readonly DeclarationProblem[] {
  const { name, options } = draft.declaration;
  if (unfitKey === undefined) return [];
  const canBeRead = unfitKey.isReadable && Object.keys(options.computed ?? {}).length === 0;
  if (canBeRead && isOnlyRead(draft)) return [];
  const reading = canBeRead
    ? "Serve it for reading only, with operations: ['list', 'retrieve'], or give"
    : 'Give';
  return [
    {
      where: `${name}.${path}`,
      what: `its key is ${unfitKey.what}`,
      repair: `${reading} it a key of whole numbers, texts or UUIDs, and make this column unique, or leave the entity out: do not register it.`,
    },
  ];
}

/** Foreign keys that TypeORM would not write exactly. */
function foreignKeyProblems(
  draft: EntityDeclaration,
  byId: ReadonlyMap<string, EntityDescription>,
): readonly DeclarationProblem[] {
  const { declaration, entity } = draft;
  if (isOnlyRead(draft)) return [];
  return entity.relations.flatMap((relation) => {
    const target = byId.get(relation.target);
    const isExact = (id: string): boolean =>
      target?.columns.find((column) => column.id === id)?.unfitKey === undefined;
    const exposed = exposedMember(relation, { entity, options: declaration.options, isServed: () => true });
    if (
      !target ||
      relation.kind !== 'to-one' ||
      !exposed.writable ||
      relation.on.every(({ far }) => isExact(far))
    )
      return [];
    const name = topName(relation);
    return [
      {
        where: `${declaration.name}.${relation.path}`,
        what: 'it refers to a key that TypeORM does not write exactly',
        repair: `Let it be read only: readOnly: ['${name}'].`,
      },
    ];
  });
}
