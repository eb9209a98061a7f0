import type { Actor } from './access.js';
import { decideAll } from './access.js';
import { refuse } from './expected.js';
import { deletionOf } from '../schema.js';
import type { EntitySpec } from '../schema.js';
import type { Placed, Row, State } from './state.js';

const OTHERS = 'other objects';

interface Doomed {
  readonly entity: string;
  readonly key: string;
}

/** A deletion in which a cascaded row is restricted by another cascaded row: databases differ. */
export class AmbiguousDeletion extends Error {}

/** Deletes a row as DELETE does: softly where the entity has a date for it. */
export function destroy(state: State, placed: Placed, actor: Actor): void {
  const column = deletionOf(placed.entity);
  if (!column) purge(state, placed, actor);
  else state.put(placed.entity.name, withDeletion(placed, state.nextDeletion()));
}

/** The row with the date of its deletion, or without one, as a new version. */
export function withDeletion({ entity, row }: Placed, date: string | null): Row {
  const version = entity.columns.find(({ kind }) => kind === 'version');
  const next = version ? { [version.name]: Number(row.values[version.name]) + 1 } : {};
  return { ...row, values: { ...row.values, ...next, [deletionOf(entity)?.name ?? '']: date } };
}

/** Deletes a row for good, with its cascades; throws the 409 if another row restricts it. */
export function purge(state: State, { entity, row }: Placed, actor: Actor): void {
  const doomed = cascade(state, { entity: entity.name, key: row.key });
  const [direct = [], ...indirect] = doomed.map((each) => keepersOf(state, each, doomed));
  if (direct.length > 0) throw refuse(409, ...direct.map((each) => keptBy(each, actor)));
  // Rows that refer to a cascaded row are not named in the message.
  if (indirect.flat().length > 0) throw refuse(409, kept(OTHERS));
  for (const each of doomed) remove(state, each);
}

/** The entities with a row that restricts the deletion of another one. */
function keepersOf(state: State, each: Doomed, doomed: readonly Doomed[]): EntitySpec[] {
  const keepers = state
    .referrers(each.entity)
    .filter(({ relation }) => relation.onDelete === 'NO ACTION' && !relation.unbound)
    .flatMap(({ entity, relation }) =>
      state
        .allRows(entity.name)
        .filter((row) => row.values[relation.name] === each.key)
        .map((row) => ({ entity, key: row.key })),
    );
  const isDoomed = (keeper: (typeof keepers)[number]): boolean =>
    doomed.some((other) => other.entity === keeper.entity.name && other.key === keeper.key);
  const isItself = (keeper: (typeof keepers)[number]): boolean =>
    keeper.key === each.key && keeper.entity.name === each.entity;
  if (keepers.some((keeper) => isDoomed(keeper) && !isItself(keeper))) throw new AmbiguousDeletion();
  return keepers.filter((keeper) => !isDoomed(keeper)).map(({ entity }) => entity);
}

/** The message contains only models that the caller may view. */
function keptBy(entity: EntitySpec, actor: Actor): { detail: string } {
  const access = decideAll(entity.options.permissions, { entity, actor, method: 'GET' });
  const who =
    access.kind === 'grant' && entity.registered ? `objects of "${entity.app}.${entity.model}"` : OTHERS;
  return kept(who);
}

function kept(who: string): { detail: string } {
  return { detail: `This object cannot be deleted: ${who} still refer to it.` };
}

function cascade(state: State, first: Doomed): Doomed[] {
  const doomed: Doomed[] = [first];
  const isDoomed = ({ entity, key }: Doomed): boolean =>
    doomed.some((other) => other.entity === entity && other.key === key);
  // The list grows during the iteration.
  for (const each of doomed)
    doomed.push(...followersOf(state, each).filter((follower) => !isDoomed(follower)));
  return doomed;
}

function followersOf(state: State, { entity: name, key }: Doomed): Doomed[] {
  return state
    .referrers(name)
    .filter(({ relation }) => relation.onDelete === 'CASCADE')
    .flatMap(({ entity, relation }) =>
      state
        .allRows(entity.name)
        .filter((row) => row.values[relation.name] === key)
        .map((row) => ({ entity: entity.name, key: row.key })),
    );
}

function remove(state: State, { entity, key }: Doomed): void {
  state.remove(entity, key);
  for (const { entity: referrer, relation } of state.referrers(entity)) {
    if (relation.onDelete !== 'SET NULL') continue;
    const rows = state.allRows(referrer.name).filter((row) => row.values[relation.name] === key);
    for (const row of rows)
      state.put(referrer.name, { ...row, values: { ...row.values, [relation.name]: null } });
  }
  for (const relation of state.plainJunctions()) {
    const kept = state
      .pairs(relation)
      .filter(
        (pair) =>
          !(relation.owner === entity && pair.owner === key) &&
          !(relation.target === entity && pair.other === key),
      );
    state.setPairs(relation, kept);
  }
}
