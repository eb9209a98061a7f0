import type { QueryRunner } from 'typeorm';
import { addErrors, emptyFieldErrors } from '../../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../../core/errors/rest-exception.js';
import { equalsAsKey, NEVER } from '../../../core/query/condition.js';
import type { DuplicateReference, FieldValues, UpdatePlan } from '../../../core/query/plan.js';
import type { ToOneRelation } from '../../../core/schema/relation.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { contradiction, isKeyOf, withoutValue } from '../../../core/values/duplicate-references.js';
import { selectForUpdate } from './row-locks.js';
import type { KeyLookup, LookedUpKey } from '../../../execution/read/key-lookups.js';
import { NO_ERRORS, notFound } from './row-writer.js';
import type { PreparableWrite, WriterTools } from './row-writer.js';

/**
 * The errors of a new object whose duplicate references lead to different rows. A row that does not exist has its error
 * already.
 */
export function contradictionErrors(
  duplicateReferences: readonly DuplicateReference[],
  { referenced }: KeyLookup,
): FieldErrors {
  const errors = emptyFieldErrors();
  for (const reference of duplicateReferences) {
    const [one] = referenced.get(reference.byRelation.path.join('.')) ?? [];
    const [other] = referenced.get(reference.byColumn.path.join('.')) ?? [];
    if (one !== undefined && other !== undefined && one !== other)
      addErrors(errors, contradiction(reference));
  }
  return errors;
}

/** Maps errors of a foreign key with two names to the name that the body contains. */
export function underSentNames(
  errors: FieldErrors,
  { foreignKeyAliases }: Pick<ResourceSchema, 'foreignKeyAliases'>,
  plan: { readonly values: FieldValues; readonly errors: FieldErrors },
): FieldErrors {
  if (foreignKeyAliases.length === 0) return errors;
  // A value that could not be parsed is only in the errors of the body.
  const isSent = (name: string): boolean => plan.values.has(name) || name in plan.errors;
  const renamed = emptyFieldErrors();
  const others = new Map(
    foreignKeyAliases.flatMap(({ within, names: [relation, column] }): [string, string][] =>
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
 * An update with duplicate references: once the row is locked, the reference that differs from the stored value is kept
 * and checked.
 */
export function prepareUpdateByOneReference(
  plan: UpdatePlan,
  { tools, change }: { tools: WriterTools; change: (plan: UpdatePlan) => PreparableWrite<Row | undefined> },
): PreparableWrite<Row | undefined> {
  let step = change({ ...plan, duplicateReferences: [] });
  return {
    errors: NO_ERRORS,
    prepare: async (runner) => {
      const resolved = await planWithOneReference(plan, runner, tools);
      if (!resolved) return notFound(undefined);
      step = change(resolved);
      return step.prepare(runner);
    },
    translateError: (error) => step.translateError(error),
  };
}

/** The plan with one reference for each relation; undefined if the row does not exist. */
async function planWithOneReference(
  plan: UpdatePlan,
  runner: QueryRunner,
  tools: WriterTools,
): Promise<UpdatePlan | undefined> {
  const { resource, where, duplicateReferences = [] } = plan;
  const columns = duplicateReferences.flatMap(({ relation: { on } }) =>
    on.map(({ localColumn }) => localColumn),
  );
  const stored = await selectForUpdate(resource, { columns, where }, { runner, tools });
  if (!stored) return undefined;
  let { values, keys } = plan;
  const errors = emptyFieldErrors();
  addErrors(errors, plan.errors);
  for (const [index, reference] of duplicateReferences.entries()) {
    const chosen = await chooseReference(reference, stored[index] ?? null, { runner, tools });
    if (!chosen) addErrors(errors, contradiction(reference));
    for (const each of [reference.byRelation, reference.byColumn])
      if (each !== chosen) values = withoutValue(values, each.path);
    if (chosen?.check) keys = [...keys, chosen.check];
  }
  return { ...plan, values, keys, errors, duplicateReferences: [] };
}

interface Within {
  readonly runner: QueryRunner;
  readonly tools: WriterTools;
}

/**
 * The reference that changes the stored value; undefined if the two refer to different rows, and neither to the stored one.
 */
async function chooseReference(
  reference: DuplicateReference,
  stored: Json,
  within: Within,
): Promise<DuplicateReference['byRelation'] | DuplicateReference['byColumn'] | undefined> {
  const { relation, byRelation, byColumn } = reference;
  if (byColumn.isReadable && (await refersToSame(relation, [byColumn.value, stored], within)))
    return byRelation;
  if (byRelation.isReadable && (await isStored(reference, stored, within))) return byColumn;
  return (await mayBeSameRow(reference, within)) ? byRelation : undefined;
}

/**
 * Whether the key is the relation's stored value. A dangling reference reads as null, unless the relation itself holds
 * the key.
 */
async function isStored(
  { relation, byRelation: { value, rows } }: DuplicateReference,
  stored: Json,
  within: Within,
): Promise<boolean> {
  if (stored === null) return value === null;
  const [pair] = relation.on;
  if (relation.byKey)
    return (
      value !== null &&
      (isKeyOf(value, stored, relation) || refersToSame(relation, [value[0] ?? null, stored], within))
    );
  if (value !== null) {
    const referred = await referredBy({ relation, where: rows }, within);
    return referred !== undefined && refersToSame(relation, [referred, stored], within);
  }
  const where = pair ? equalsAsKey(pair.referencedColumn, stored) : NEVER;
  return (await referredBy({ relation, where }, within)) === undefined;
}

/**
 * Whether both references lead to the same row. A key that the caller must not reference is not compared: its own check
 * rejects it.
 */
async function mayBeSameRow(
  { relation, byRelation, byColumn }: DuplicateReference,
  within: Within,
): Promise<boolean> {
  // A key that is the foreign key itself has already been compared, unless the database decides which texts are equal.
  const isCompared = relation.byKey && !hasTextKey(relation);
  if (isCompared || !byRelation.check || byColumn.value === null) return false;
  const value = await referredBy(byRelation.check, within);
  return value === undefined || refersToSame(relation, [value, byColumn.value], within);
}

/** Whether two values of a foreign key are equal; different texts may be, as the database compares them. */
async function refersToSame(
  relation: ToOneRelation,
  [one, other]: readonly [Json, Json],
  within: Within,
): Promise<boolean> {
  if (one === other) return true;
  const [pair] = relation.on;
  if (!pair || !hasTextKey(relation) || one === null || other === null) return false;
  const row = await referredBy({ relation, where: equalsAsKey(pair.referencedColumn, one) }, within);
  return (
    row !== undefined &&
    row === (await referredBy({ relation, where: equalsAsKey(pair.referencedColumn, other) }, within))
  );
}

function hasTextKey({ on: [pair] }: ToOneRelation): boolean {
  return pair?.referencedColumn.type.kind === 'string';
}

/**
 * The referenced value of the row that matches a condition; undefined if there is no such row. It never becomes part of
 * a response.
 */
async function referredBy(
  check: Pick<LookedUpKey, 'relation' | 'where'>,
  { runner, tools }: Within,
): Promise<Json | undefined> {
  const { referenced } = await tools.lookups.lookUp([{ ...check, path: ['key'], key: [] }], runner);
  return referenced.get('key')?.[0];
}
