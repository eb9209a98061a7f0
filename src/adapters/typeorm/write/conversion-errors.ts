import type { EntityMetadata } from 'typeorm';
import { InvalidInput } from '../../../core/errors/http-exceptions.js';
import { errorAt } from '../../../core/errors/rest-exception.js';
import type { CreatePlan, FieldValues, UpdatePlan } from '../../../core/query/plan.js';
import { isWritableIn } from '../../../core/schema/field.js';
import type { Field } from '../../../core/schema/field.js';
import { toFieldValues } from '../../../core/values/duplicate-references.js';
import { failedConversion } from '../metadata/transformer-errors.js';
import type { FailedConversion } from '../metadata/transformer-errors.js';
import { underSentNames } from './duplicate-references.js';
import { writtenIds } from './entity-values.js';

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
