import { isDeepStrictEqual } from 'node:util';
import { addErrors, emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { NEVER } from '../../core/query/condition.js';
import type { Field } from '../../core/schema/field.js';
import type { KeyCheck, NamedTwice } from '../../core/query/plan.js';
import type { Placeholder, ResourceSchema } from '../../core/schema/resource-schema.js';
import type { ParsedBody } from '../../core/contracts/serializer.js';
import { contradiction, isKeyOf, valueAt, withoutValue } from '../../core/values/named-rows.js';
import { keyCondition } from './plan-read.js';

/** A body, and the related rows that it sets by two names, which may differ. */
export interface OnceNamed {
  readonly body: ParsedBody;
  readonly twice: readonly NamedTwice[];
}

/**
 * Keeps one name for each related row that a body sets both by the relation and by the plain column of its foreign key
 * (contract 5.13), as far as the body alone determines it. What depends on rows is checked by the adapter.
 */
export function nameOnce(body: ParsedBody, resource: ResourceSchema, kind: 'create' | 'change'): OnceNamed {
  if (resource.standIns.length === 0) return { body, twice: [] };
  let { values, errors } = body;
  const twice: NamedTwice[] = [];
  for (const standIn of resource.standIns) {
    const named = namedTwice(standIn, values, resource);
    if (!named) continue;
    const same = isSameRow(named);
    const told = named.byRelation.told || named.byColumn.told;
    if (same === true) values = withoutValue(values, named.byColumn.path);
    else if (same === undefined || (kind === 'change' && told)) twice.push(named);
    else {
      const all = emptyFieldErrors();
      for (const each of [errors, contradiction(named)]) addErrors(all, each);
      errors = all;
      for (const { path } of [named.byRelation, named.byColumn]) values = withoutValue(values, path);
    }
  }
  return { body: { values, errors }, twice };
}

/**
 * Assigns the checks to keys that are set twice. In a change only one of the two is written, and only that one is
 * checked.
 */
export function divideChecks(
  checks: readonly KeyCheck[],
  twice: readonly NamedTwice[],
): { readonly keys: readonly KeyCheck[]; readonly twice: readonly NamedTwice[] } {
  if (twice.length === 0) return { keys: checks, twice };
  const checkOf = (path: readonly string[]): KeyCheck | undefined =>
    checks.find((check) => isDeepStrictEqual(check.path, path));
  const checked = twice.map((named) => ({
    ...named,
    byRelation: { ...named.byRelation, check: checkOf(named.byRelation.path) },
    byColumn: { ...named.byColumn, check: checkOf(named.byColumn.path) },
  }));
  const divided = new Set(checked.flatMap(({ byRelation, byColumn }) => [byRelation.check, byColumn.check]));
  return { keys: checks.filter((check) => !divided.has(check)), twice: checked };
}

function namedTwice(
  { within, relation, names }: Placeholder,
  values: ParsedBody['values'],
  { fields }: ResourceSchema,
): NamedTwice | undefined {
  const [byRelation, byColumn] = names.map((name) => {
    const path = [...within, name];
    return { path, value: valueAt(values, path), told: fieldAt(fields, path)?.readable === true };
  });
  if (!byRelation || !byColumn || byRelation.value === undefined || byColumn.value === undefined)
    return undefined;
  const key = byRelation.value as readonly Json[] | null;
  return {
    relation,
    byRelation: { ...byRelation, value: key, rows: key ? keyCondition(key, relation.target) : NEVER },
    byColumn: { ...byColumn, value: byColumn.value as Json },
  };
}

function fieldAt(fields: readonly Field[], [name, ...rest]: readonly string[]): Field | undefined {
  const field = fields.find((each) => each.name === name);
  return rest.length > 0 && field?.kind === 'embedded' ? fieldAt(field.fields, rest) : field;
}

/** Undefined if only the related row determines it, because the relation refers to a column other than its key. */
function isSameRow({ relation, byRelation, byColumn }: NamedTwice): boolean | undefined {
  if (byRelation.value === null || byColumn.value === null) return byRelation.value === byColumn.value;
  return relation.byKey ? isKeyOf(byRelation.value, byColumn.value, relation) : undefined;
}
