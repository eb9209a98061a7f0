import type { QueryRunner } from 'typeorm';
import { addErrors, emptyFieldErrors } from '../../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../../core/errors/rest-exception.js';
import { equals, NEVER } from '../../../core/query/condition.js';
import type { FieldValues, KeyCheck, NamedTwice, UpdatePlan } from '../../../core/query/plan.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { contradiction, isKeyOf, withoutValue } from '../../../core/values/named-rows.js';
import { selectForUpdate } from './select-for-update.js';
import type { KeyLookup } from './foreign-key-lookup.js';
import type { WriterTools } from './row-writer.js';
import { notFound, NO_ERRORS } from './write-step.js';
import type { PreparableWrite } from './write-step.js';

/** What is wrong with the rows that a new object names twice. One that is not there has its error already. */
export function differingRows(twice: readonly NamedTwice[], { referenced }: KeyLookup): FieldErrors {
  const errors = emptyFieldErrors();
  for (const named of twice) {
    const [one] = referenced.get(named.byRelation.path.join('.')) ?? [];
    const [other] = referenced.get(named.byColumn.path.join('.')) ?? [];
    if (one !== undefined && other !== undefined && one !== other) addErrors(errors, contradiction(named));
  }
  return errors;
}

/** Errors of one of the two properties that hold a foreign key stand under the name by which the body said it. */
export function underSentNames(
  errors: FieldErrors,
  { standIns }: Pick<Resource, 'standIns'>,
  plan: { readonly values: FieldValues; readonly errors: FieldErrors },
): FieldErrors {
  if (standIns.length === 0) return errors;
  // What could not be parsed is among the errors of the body alone.
  const isSent = (name: string): boolean => plan.values.has(name) || name in plan.errors;
  const told = emptyFieldErrors();
  const others = new Map(
    standIns.flatMap(({ within, names: [relation, column] }): [string, string][] =>
      within.length > 0
        ? []
        : [
            [relation, column],
            [column, relation],
          ],
    ),
  );
  for (const [name, messages] of Object.entries(errors)) {
    const other = others.get(name);
    addErrors(told, { [other !== undefined && isSent(other) && !isSent(name) ? other : name]: messages });
  }
  return told;
}

/** A change that names related rows twice: when the row is locked, the name that differs from what is stored is left, and checked. */
export function changeNamedOnce(
  plan: UpdatePlan,
  { tools, change }: { tools: WriterTools; change: (plan: UpdatePlan) => PreparableWrite<Row | undefined> },
): PreparableWrite<Row | undefined> {
  let step = change({ ...plan, twice: [] });
  return {
    errors: NO_ERRORS,
    prepare: async (runner) => {
      const named = await namedOnce(plan, runner, tools);
      if (!named) return notFound(undefined);
      step = change(named);
      return step.prepare(runner);
    },
    judged: (error) => step.judged(error),
  };
}

/** Undefined where the row is not there. */
async function namedOnce(
  plan: UpdatePlan,
  runner: QueryRunner,
  tools: WriterTools,
): Promise<UpdatePlan | undefined> {
  const { resource, where, twice = [] } = plan;
  const columns = twice.flatMap(({ relation: { on } }) => on.map(({ near }) => near));
  const stored = await selectForUpdate(resource, { columns, where }, { runner, tools });
  if (!stored) return undefined;
  let { values, keys } = plan;
  const errors = emptyFieldErrors();
  addErrors(errors, plan.errors);
  for (const [index, named] of twice.entries()) {
    const chosen = await chosenName(named, stored[index] ?? null, { runner, tools });
    if (!chosen) addErrors(errors, contradiction(named));
    for (const each of [named.byRelation, named.byColumn])
      if (each !== chosen) values = withoutValue(values, each.path);
    if (chosen?.check) keys = [...keys, chosen.check];
  }
  return { ...plan, values, keys, errors, twice: [] };
}

interface Within {
  readonly runner: QueryRunner;
  readonly tools: WriterTools;
}

/** Undefined where they mean different rows, of which neither is stored. */
async function chosenName(
  named: NamedTwice,
  stored: Json,
  within: Within,
): Promise<NamedTwice['byRelation'] | NamedTwice['byColumn'] | undefined> {
  const { byRelation, byColumn } = named;
  if (byColumn.told && byColumn.value === stored) return byRelation;
  if (byRelation.told && (await isStored(named, stored, within))) return byColumn;
  return (await mayBeSameRow(named, within)) ? byRelation : undefined;
}

/** Whether the key is what the relation shows. One that leads to no row shows null, unless it holds the key itself. */
async function isStored(
  { relation, byRelation: { value, rows } }: NamedTwice,
  stored: Json,
  within: Within,
): Promise<boolean> {
  if (stored === null) return value === null;
  const [pair] = relation.on;
  if (relation.byKey) return value !== null && isKeyOf(value, stored, relation);
  if (value !== null) return (await referredBy({ relation, where: rows }, within)) === stored;
  const where = pair ? equals(pair.far, stored) : NEVER;
  return (await referredBy({ relation, where }, within)) === undefined;
}

/** A key that the caller may not reference is not compared: its own check refuses it. */
async function mayBeSameRow(
  { relation, byRelation, byColumn }: NamedTwice,
  within: Within,
): Promise<boolean> {
  // Those that refer to a key have been compared before.
  if (relation.byKey || !byRelation.check || byColumn.value === null) return false;
  const value = await referredBy(byRelation.check, within);
  return value === undefined || value === byColumn.value;
}

/** The value by which the row of a condition is referred to; undefined where there is none. Never part of an answer. */
async function referredBy(
  check: Pick<KeyCheck, 'relation' | 'where'>,
  { runner, tools }: Within,
): Promise<Json | undefined> {
  const { referenced } = await tools.lookups.lookUp([{ ...check, path: ['key'], key: [] }], runner);
  return referenced.get('key')?.[0];
}
