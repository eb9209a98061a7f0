import { emptyFieldErrors } from '../../../core/errors/rest-exception.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { CreatePlan, KeyCheck, UpdatePlan } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import { isKeptAsGiven } from './column-values.js';
import type { KeyLookup } from '../read/key-lookups.js';

/**
 * What a lookup of the keys of a body will find if a row exists for each of them, and none that is forbidden. A statement that writes only if the rows exist
 * then needs no lookup before it. Undefined if the body has no keys, or if only the database knows the referenced values.
 */
export function expectedKeys({
  keys,
  duplicateReferences,
}: Pick<CreatePlan | UpdatePlan, 'keys' | 'duplicateReferences'>): KeyLookup | undefined {
  if (keys.length === 0 || (duplicateReferences && duplicateReferences.length > 0)) return undefined;
  const referenced = new Map<string, readonly Json[]>();
  for (const check of keys) {
    if (check.forbidden) continue;
    const values: Json[] = [];
    for (const { far } of check.relation.on) {
      const value = valueOf(far, check);
      if (value === undefined) return undefined;
      values.push(value);
    }
    referenced.set(check.path.join('.'), values);
  }
  return { referenced, errors: emptyFieldErrors() };
}

/** The value of a referenced column, if the body has it in the form in which it is stored. */
function valueOf(far: Column, { relation, key }: KeyCheck): Json | undefined {
  if (!relation.byKey || key.length !== relation.on.length) return undefined;
  if (!isKeptAsGiven(far) || far.type.kind === 'enum') return undefined;
  return key[relation.target.key.columns.findIndex(({ id }) => id === far.id)];
}
