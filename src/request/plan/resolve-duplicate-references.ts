import { isDeepStrictEqual } from 'node:util';
import { addErrors, emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { NEVER } from '../../core/query/condition.js';
import type { Field } from '../../core/schema/field.js';
import type { DuplicateReference, KeyCheck } from '../../core/query/plan.js';
import type { ForeignKeyAlias, ResourceSchema } from '../../core/schema/resource-schema.js';
import type { ParsedBody } from '../../core/contracts/serializer.js';
import { contradiction, isKeyOf, valueAt, withoutValue } from '../../core/values/duplicate-references.js';
import { referredCondition } from './row-conditions.js';

/** A body, and the related rows that it references twice, by keys that may differ. */
export interface ResolvedReferences {
  readonly body: ParsedBody;
  readonly duplicateReferences: readonly DuplicateReference[];
}

/**
 * Keeps one reference to each related row that a body references both by the relation and by the plain column of its
 * foreign key (contract 5.13), if the body alone determines it. The adapter checks what depends on rows.
 */
export function resolveDuplicateReferences(
  body: ParsedBody,
  resource: ResourceSchema,
  kind: 'create' | 'change',
): ResolvedReferences {
  let { values, errors } = body;
  const duplicateReferences: DuplicateReference[] = [];
  for (const alias of resource.foreignKeyAliases) {
    const reference = findDuplicateReference(alias, values, resource);
    if (!reference) continue;
    const { byRelation, byColumn } = reference;
    const same = isSameRow(reference);
    const isReadable = byRelation.isReadable || byColumn.isReadable;
    if (same === true) values = withoutValue(values, byColumn.path);
    else if (same === undefined || (kind === 'change' && isReadable)) duplicateReferences.push(reference);
    else {
      const all = emptyFieldErrors();
      for (const each of [errors, contradiction(reference)]) addErrors(all, each);
      errors = all;
      for (const { path } of [byRelation, byColumn]) values = withoutValue(values, path);
    }
  }
  return { body: { values, errors, sent: body.sent }, duplicateReferences };
}

/**
 * Assigns the key checks to duplicate references. A change writes only one of the two, and checks only that one.
 */
export function assignKeyChecks(
  checks: readonly KeyCheck[],
  duplicateReferences: readonly DuplicateReference[],
): { readonly keys: readonly KeyCheck[]; readonly duplicateReferences: readonly DuplicateReference[] } {
  if (duplicateReferences.length === 0) return { keys: checks, duplicateReferences };
  const checkOf = (path: readonly string[]): KeyCheck | undefined =>
    checks.find((check) => isDeepStrictEqual(check.path, path));
  const checked = duplicateReferences.map((reference) => ({
    ...reference,
    byRelation: { ...reference.byRelation, check: checkOf(reference.byRelation.path) },
    byColumn: { ...reference.byColumn, check: checkOf(reference.byColumn.path) },
  }));
  const assigned = new Set(checked.flatMap(({ byRelation, byColumn }) => [byRelation.check, byColumn.check]));
  return { keys: checks.filter((check) => !assigned.has(check)), duplicateReferences: checked };
}

function findDuplicateReference(
  { within, relation, names }: ForeignKeyAlias,
  values: ParsedBody['values'],
  { fields }: ResourceSchema,
): DuplicateReference | undefined {
  const [byRelation, byColumn] = names.map((name) => {
    const path = [...within, name];
    return { path, value: valueAt(values, path), isReadable: fieldAt(fields, path)?.readable === true };
  });
  if (!byRelation || !byColumn || byRelation.value === undefined || byColumn.value === undefined)
    return undefined;
  const key = byRelation.value as readonly Json[] | null;
  return {
    relation,
    byRelation: { ...byRelation, value: key, rows: key ? referredCondition(key, relation.target) : NEVER },
    byColumn: { ...byColumn, value: byColumn.value as Json },
  };
}

function fieldAt(fields: readonly Field[], [name, ...rest]: readonly string[]): Field | undefined {
  const field = fields.find((each) => each.name === name);
  return rest.length > 0 && field?.kind === 'embedded' ? fieldAt(field.fields, rest) : field;
}

/**
 * Undefined if only the related row determines it: the relation refers to a column other than its key, or the database may
 * take different texts for the same key.
 */
function isSameRow({ relation, byRelation, byColumn }: DuplicateReference): boolean | undefined {
  if (byRelation.value === null || byColumn.value === null) return byRelation.value === byColumn.value;
  if (!relation.byKey) return undefined;
  if (isKeyOf(byRelation.value, byColumn.value, relation)) return true;
  return relation.on[0]?.far.type.kind === 'string' ? undefined : false;
}
