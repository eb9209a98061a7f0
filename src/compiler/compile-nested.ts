import type { LinkField, NestedVerb, NestedWrites, ReverseOneField } from '../core/schema/field.js';
import { NESTED_VERBS } from '../core/schema/field.js';
import type { OperationName } from '../core/schema/operation.js';
import type { EffectiveOptions } from './effective-options.js';
import { setFields } from './resource-builder.js';
import type { ResourceBuilder } from './resource-builder.js';

/** The operation of the child by which it is written. */
export const OPERATION_OF_VERB: Readonly<Record<NestedVerb, OperationName>> = {
  create: 'create',
  update: 'partialUpdate',
  delete: 'destroy',
};

/**
 * Makes the fields of the relations that `nested` names accept children. Called once all models have their operations. What it leaves as it
 * is, is reported by `verifyNested`.
 */
export function completeNested(shell: ResourceBuilder, options: EffectiveOptions | undefined): void {
  const { nested, readOnly = [] } = options ?? {};
  if (nested === undefined) return;
  const fields = shell.fields.map((field) => {
    if ((field.kind !== 'link' && field.kind !== 'reverse-one') || readOnly.includes(field.name))
      return field;
    const writes = nestedWrites(field, verbsIn(nested, field.name));
    if (!writes) return field;
    return { ...field, nested: writes, insertable: true, updatable: true };
  });
  if (fields.every((field, index) => field === shell.fields[index])) return;
  setFields(shell, fields);
  shell.hasNestedWrites = true;
}

/** The verbs that the option gives a relation: all, if it is a list with its name; undefined if it does not name it. */
export function verbsIn(
  nested: NonNullable<EffectiveOptions['nested']>,
  name: string,
): readonly NestedVerb[] | undefined {
  if (Array.isArray(nested)) return nested.includes(name) ? NESTED_VERBS : undefined;
  const given = nested as Readonly<Record<string, Partial<Record<NestedVerb, boolean>> | undefined>>;
  const own = Object.hasOwn(given, name) ? given[name] : undefined;
  return own && NESTED_VERBS.filter((verb) => own[verb] === true);
}

function nestedWrites(
  field: LinkField | ReverseOneField,
  named: readonly NestedVerb[] | undefined,
): NestedWrites | undefined {
  const { relation } = field;
  if (relation.kind === 'many-to-many') return undefined;
  const { operations } = relation.target;
  const verbs = new Set(named?.filter((verb) => operations.has(OPERATION_OF_VERB[verb])));
  if (verbs.size === 0) return undefined;
  return { relation: { ...relation, kind: 'one-to-many' }, verbs, isOne: relation.kind === 'reverse-one' };
}
