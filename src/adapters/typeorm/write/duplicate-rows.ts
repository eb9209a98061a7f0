import type { QueryRunner } from 'typeorm';
import { addErrors, emptyFieldErrors } from '../../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../../core/errors/rest-exception.js';
import { equals, NEVER } from '../../../core/query/condition.js';
import type { FieldValues, KeyCheck, NamedTwice, UpdatePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { contradiction, isKeyOf, withoutValue } from '../../../core/values/named-rows.js';
import { selectForUpdate } from './select-for-update.js';
import type { KeyLookup } from './foreign-key-lookup.js';
import { NO_ERRORS, notFound } from './row-writer.js';
import type { PreparableWrite, WriterTools } from './row-writer.js';

/**
 * The errors of a new object that refers to a row by two names, with different rows. A row that does not exist has its
 * error already.
 */
export function contradictionErrors(twice: readonly NamedTwice[], { referenced }: KeyLookup): FieldErrors {
  const errors = emptyFieldErrors();
  for (const named of twice) {
    const [one] = referenced.get(named.byRelation.path.join('.')) ?? [];
    const [other] = referenced.get(named.byColumn.path.join('.')) ?? [];
    if (one !== undefined && other !== undefined && one !== other) addErrors(errors, contradiction(named));
  }
  return errors;
}

/** Maps errors of a foreign key with two names to the name that the body contains. */
export function underSentNames(
  errors: FieldErrors,
  { standIns }: Pick<ResourceSchema, 'standIns'>,
  plan: { readonly values: FieldValues; readonly errors: FieldErrors },
): FieldErrors {
  if (standIns.length === 0) return errors;
  // A value that could not be parsed is only in the errors of the body.
  const isSent = (name: string): boolean => plan.values.has(name) || name in plan.errors;
  const renamed = emptyFieldErrors();
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
    addErrors(renamed, { [other !== undefined && isSent(other) && !isSent(name) ? other : name]: messages });
  }
  return renamed;
}

/**
 * An update that refers to a related row by two names: once the row is locked, the name that differs from the stored
 * value is kept and checked.
 */
export function prepareUpdateByOneName(
  plan: UpdatePlan,
  { tools, change }: { tools: WriterTools; change: (plan: UpdatePlan) => PreparableWrite<Row | undefined> },
): PreparableWrite<Row | undefined> {
  let step = change({ ...plan, twice: [] });
  return {
    errors: NO_ERRORS,
    prepare: async (runner) => {
      const named = await planWithOneName(plan, runner, tools);
      if (!named) return notFound(undefined);
      step = change(named);
      return step.prepare(runner);
    },
    translateError: (error) => step.translateError(error),
  };
}

/** The plan with one name for each relation; undefined if the row does not exist. */
async function planWithOneName(
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

/**
 * The name that changes the stored value; undefined if the two refer to different rows, and neither to the stored one.
 */
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

/**
 * Whether the key is the relation's stored value. A dangling reference reads as null, unless the relation itself holds
 * the key.
 */
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

/**
 * Whether both names refer to the same row. A key that the caller must not reference is not compared: its own check
 * rejects it.
 */
async function mayBeSameRow(
  { relation, byRelation, byColumn }: NamedTwice,
  within: Within,
): Promise<boolean> {
  // A key that is the foreign key itself has already been compared.
  if (relation.byKey || !byRelation.check || byColumn.value === null) return false;
  const value = await referredBy(byRelation.check, within);
  return value === undefined || value === byColumn.value;
}

/**
 * The referenced value of the row that matches a condition; undefined if there is no such row. It never becomes part of
 * a response.
 */
async function referredBy(
  check: Pick<KeyCheck, 'relation' | 'where'>,
  { runner, tools }: Within,
): Promise<Json | undefined> {
  const { referenced } = await tools.lookups.lookUp([{ ...check, path: ['key'], key: [] }], runner);
  return referenced.get('key')?.[0];
}
