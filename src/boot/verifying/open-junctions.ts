import type { Blueprint, Draft } from '../compiling/draft.js';

/**
 * Many-to-many relations whose pairs everybody may add and remove, although a side of them has permissions. That is what
 * the declarations say, and seldom what is meant: each is a sentence for the log.
 */
export function openJunctions({ drafts, defaults }: Blueprint): readonly string[] {
  if (defaults.permissions) return [];
  const byEntity = new Map(drafts.map((draft) => [draft.entity.id, draft]));
  return drafts.flatMap((draft) => draft.entity.relations.flatMap((relation) => (relation.kind === 'many-to-many' && relation.junction.fromOwner ? (warningOf(relation, { draft, byEntity }) ?? []) : [])));
}

type ManyToMany = Extract<Draft['entity']['relations'][number], { kind: 'many-to-many' }>;

function warningOf({ path, target, junction }: ManyToMany, { draft, byEntity }: { draft: Draft; byEntity: ReadonlyMap<string, Draft> }): string | undefined {
  const other = byEntity.get(target);
  const mapped = junction.mappedBy === undefined ? undefined : byEntity.get(junction.mappedBy);
  if (!other || mapped) return undefined;
  const isGuarded = draft.declaration.options.permissions !== undefined || other.declaration.options.permissions !== undefined;
  const said = saysPermissions(draft, path) || (junction.inverse !== undefined && saysPermissions(other, junction.inverse));
  if (!isGuarded || said) return undefined;
  return `${draft.declaration.name}.${path}: everybody may add and remove its pairs, though its models have permissions. Write through: { ${path}: { permissions: […] } }, or RestifyModule.forRoot(prefix, { permissions: […] }).`;
}

function saysPermissions({ declaration }: Draft, relation: string): boolean {
  const options = (declaration.options.through as Readonly<Record<string, { permissions?: unknown }>> | undefined)?.[relation];
  return options?.permissions !== undefined;
}
