import type { ObjectLiteral, EntityMetadata, QueryRunner } from 'typeorm';
import { InvalidInput } from '../../../core/errors/http-exceptions.js';
import { addErrors, emptyFieldErrors, errorAt } from '../../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../../core/errors/rest-exception.js';
import { mapMaybe, settleMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import { conjunction } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { CreatePlan, FieldValues, UpdatePlan, HiddenKey } from '../../../core/query/plan.js';
import { isWritableIn } from '../../../core/schema/field.js';
import type { Field } from '../../../core/schema/field.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { toFieldValues } from '../../../core/values/duplicate-references.js';
import { noSuchKey } from '../../../core/values/keys.js';
import { failedConversion } from '../metadata/transformers.js';
import type { FailedConversion } from '../metadata/transformers.js';
import { underSentNames } from './duplicate-references.js';
import { setRelation, writtenIds } from './entity-values.js';
import { hasErrors } from './row-writer.js';
import type { WriterTools } from './row-writer.js';

/** The errors of a body, of its keys and of the application's validators together. */
export function entityErrors(
  entity: ObjectLiteral,
  plan: Pick<CreatePlan, 'errors' | 'values' | 'sent' | 'pending'>,
  {
    ofKeys,
    resource,
    tools,
  }: {
    readonly ofKeys: readonly FieldErrors[];
    readonly resource: ResourceSchema;
    readonly tools: WriterTools;
  },
): MaybePromise<FieldErrors> {
  const errors = mergeErrors([plan.errors, ...ofKeys]);
  const { validate } = tools;
  if (!validate) return errors;
  const { metadata } = tools.tables.of(resource);
  const found = belowPending({ entity, metadata, pending: plan.pending }, () =>
    validate(entity, resource, plan),
  );
  return mapMaybe(found, (invalid) => {
    if (hasErrors(invalid)) addErrors(errors, underSentNames(invalid, resource, plan));
    return errors;
  });
}

interface PendingChild extends Pick<CreatePlan, 'pending'> {
  readonly entity: ObjectLiteral;
  readonly metadata: EntityMetadata;
}

/** Runs validators while the entity of a child has that of its parent in the place of its key. */
function belowPending<Result>(
  { entity, metadata, pending }: PendingChild,
  run: () => MaybePromise<Result>,
): MaybePromise<Result> {
  const ids = pending?.on.map(({ referencedColumn }) => referencedColumn.id);
  const relation =
    ids &&
    metadata.relations.find(
      ({ joinColumns, isWithJoinColumn }) =>
        isWithJoinColumn &&
        joinColumns.length === ids.length &&
        joinColumns.every(({ databaseName }) => ids.includes(databaseName)),
    );
  if (!relation) return run();
  const key: unknown = relation.getEntityValue(entity);
  setRelation(entity, relation, pending?.entity);
  const restore = (): void => {
    setRelation(entity, relation, key);
  };
  return settleMaybe(
    run,
    (result) => {
      restore();
      return result;
    },
    (error) => {
      restore();
      throw error;
    },
  );
}

export function mergeErrors(found: readonly FieldErrors[]): FieldErrors {
  const errors = emptyFieldErrors();
  for (const each of found) addErrors(errors, each);
  return errors;
}

/** The errors of a body that depend on the row, which is locked. */
export async function storedErrors(
  { resource, where, errorsOfStored }: Pick<UpdatePlan, 'resource' | 'where' | 'errorsOfStored'>,
  runner: QueryRunner,
  tools: Pick<WriterTools, 'readerOf'>,
): Promise<FieldErrors> {
  if (!errorsOfStored) return emptyFieldErrors();
  const row = await tools.readerOf(resource).retrieveLocked(where, runner);
  return row ? errorsOfStored(row) : emptyFieldErrors();
}

/** Where a written row is read in its transaction. */
export interface StoredRow {
  readonly stored: Condition;
  readonly reader: Pick<WriterTools['reader'], 'retrieveWithin'>;
  readonly runner: QueryRunner;
}

/** @throws InvalidInput if the written row has a key of several tables that refers to a hidden row in one of them. */
export async function rejectHiddenKeys(
  keys: readonly HiddenKey[],
  { stored, reader, runner }: StoredRow,
): Promise<void> {
  const errors = emptyFieldErrors();
  const named = new Set<string>();
  for (const { where, parts } of keys) {
    if (!(await reader.retrieveWithin(conjunction([stored, where]), runner))) continue;
    for (const { path, value } of parts) {
      if (!named.has(path.join('.'))) addErrors(errors, errorAt(path, noSuchKey(String(value))));
      named.add(path.join('.'));
    }
  }
  if (named.size > 0) throw new InvalidInput(errors);
}

/**
 * Runs a step of a write. What `from` throws on a value of the body, and `to` on a field that the body may have, is an
 * error of the field (contract 5.12).
 * @throws InvalidInput in the place of the transformer's error.
 */
export async function convertingValues<Result>(
  plan: CreatePlan | UpdatePlan,
  { tablePath }: EntityMetadata,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const failed = failedConversion(error);
    const path = failed?.column.entityMetadata.tablePath === tablePath && pathOf(failed, plan);
    if (!path) throw error;
    throw new InvalidInput(underSentNames(errorAt(path, 'Not a valid value.'), plan.resource, plan));
  }
}

/** The path of the field that writes the column; undefined if there is none, or if it is not to blame. */
function pathOf(
  { column: { databaseName: id }, by }: FailedConversion,
  { kind: operation, resource, values }: CreatePlan | UpdatePlan,
): readonly string[] | undefined {
  const isToBlame = (field: Field, sent: FieldValues): boolean =>
    isWritableIn(field, operation) && (by === 'to' || sent.has(field.name));
  const find = (fields: readonly Field[], sent: FieldValues): readonly string[] | undefined => {
    for (const field of fields.filter((each) => isToBlame(each, sent))) {
      if (field.kind === 'embedded') {
        const inner = find(field.fields, toFieldValues(sent.get(field.name)));
        if (inner) return [field.name, ...inner];
      } else if (writtenIds(field, undefined).includes(id)) return [field.name];
    }
    return undefined;
  };
  return find(resource.fields, values);
}
