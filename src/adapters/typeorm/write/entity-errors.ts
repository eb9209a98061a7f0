import type { ObjectLiteral } from 'typeorm';
import { addErrors, emptyFieldErrors } from '../../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../../core/errors/rest-exception.js';
import type { CreatePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { underSentNames } from './duplicate-references.js';
import type { WriterTools } from './row-writer.js';

/** The errors of a body, of its keys and of the application's validators together. */
export async function entityErrors(
  entity: ObjectLiteral,
  plan: Pick<CreatePlan, 'errors' | 'values' | 'sent'>,
  {
    ofKeys,
    resource,
    tools,
  }: {
    readonly ofKeys: readonly FieldErrors[];
    readonly resource: ResourceSchema;
    readonly tools: WriterTools;
  },
): Promise<FieldErrors> {
  const errors = emptyFieldErrors();
  for (const each of [plan.errors, ...ofKeys]) addErrors(errors, each);
  const invalid = await tools.validate?.(entity, resource, plan);
  if (invalid) addErrors(errors, underSentNames(invalid, resource, plan));
  return errors;
}
