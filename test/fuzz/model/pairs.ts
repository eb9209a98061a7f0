import type { Json } from '../schema.js';
import type { WriteContext } from './bodies.js';
import { fitsRows } from './conditions.js';
import { forbidden, refuse } from './expected.js';
import type { ThroughSide } from './resources.js';
import { keyJson } from './state.js';
import type { Pair, Row, State } from './state.js';
import { conflict } from './writes.js';

/** Pairs of a many-to-many relation: through objects without an entity (contract 2). */
export function createPair(
  context: WriteContext,
  through: ThroughSide,
  values: Readonly<Record<string, Json>>,
): Row {
  const row = pairRow(context.state, through, String(values[through.otherField]));
  checkGrant(context, row);
  refuseDouble(context.state, through, row.key);
  context.state.setPairs(through.relation, [
    ...context.state.pairs(through.relation),
    pairOf(through, row.key),
  ]);
  return row;
}

/** Changing the key of the other side replaces the pair. */
export function changePair(
  context: WriteContext,
  through: ThroughSide,
  { row, values }: { readonly row: Row; readonly values: Readonly<Record<string, Json>> },
): Row {
  const other = values[through.otherField];
  const changed = other === undefined ? row : pairRow(context.state, through, String(other));
  checkGrant(context, changed);
  if (changed.key === row.key) return row;
  refuseDouble(context.state, through, changed.key);
  destroyPair(context.state, through, row.key);
  context.state.setPairs(through.relation, [
    ...context.state.pairs(through.relation),
    pairOf(through, changed.key),
  ]);
  return changed;
}

export function destroyPair(state: State, through: ThroughSide, key: string): void {
  const gone = pairOf(through, key);
  state.setPairs(
    through.relation,
    state.pairs(through.relation).filter((pair) => pair.owner !== gone.owner || pair.other !== gone.other),
  );
}

function pairRow(state: State, through: ThroughSide, key: string): Row {
  const other = state.entity(through.relation.target);
  return {
    key,
    values: {
      id: keyJson(other, key),
      [through.parentField]: through.parentKey,
      [through.otherField]: key,
    },
  };
}

export function pairOf({ ownsIt, parentKey }: ThroughSide, key: string): Pair {
  return ownsIt ? { owner: parentKey, other: key } : { owner: key, other: parentKey };
}

function checkGrant({ state, resource, access }: WriteContext, row: Row): void {
  if (access.rows && !fitsRows(state, { entity: resource.entity, row: row }, access.rows)) throw forbidden();
}

function refuseDouble(state: State, through: ThroughSide, key: string): void {
  const { owner, other } = pairOf(through, key);
  if (!state.pairs(through.relation).some((pair) => pair.owner === owner && pair.other === other)) return;
  const names = [through.parentField, through.otherField];
  throw refuse(400, conflict(names), conflict(names.toReversed()));
}
