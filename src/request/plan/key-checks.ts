import { isDeepStrictEqual } from 'node:util';
import type { AccessControl } from '../../core/contracts/access-control.js';
import type { ParsedBody } from '../../core/contracts/serializer.js';
import { addErrors, emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import {
  conjunction,
  disjunction,
  equals,
  equalsAsKey,
  negation,
  NEVER,
} from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { HiddenKey, KeyCheck, DuplicateReference, ColumnValue } from '../../core/query/plan.js';
import { fieldColumns } from '../../core/query/readable-paths.js';
import type { Field } from '../../core/schema/field.js';
import type { ToOneRelation } from '../../core/schema/relation.js';
import type { ForeignKeyAlias, ResourceSchema } from '../../core/schema/resource-schema.js';
import { contradiction, isKeyOf, valueAt, withoutValue } from '../../core/values/duplicate-references.js';
import { parseValue } from '../../core/values/parse-value.js';
import type { RestContext } from '../rest-context.js';
import { keyCondition, referredCondition } from './row-conditions.js';

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
  return { body: { ...body, values, errors }, duplicateReferences };
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
  return relation.on[0]?.referencedColumn.type.kind === 'string' ? undefined : false;
}

/** A key in a body. */
interface BodyKey extends Omit<KeyCheck, 'where' | 'exact'> {
  readonly rows: NamedRows;
}

/** The rows that a key names; `NEVER` if it is invalid for the target. */
type NamedRows = Pick<KeyCheck, 'where' | 'exact'>;

/** The keys in a body, each with the rows to which the caller may refer. */
export function planKeyChecks(
  { resource, access }: RestContext,
  { values }: ParsedBody,
): MaybePromise<readonly KeyCheck[]> {
  return planRemainingChecks(findKeys(values, resource.fields), access, []);
}

/** In sequence, as permissions are evaluated. */
function planRemainingChecks(
  keys: readonly BodyKey[],
  access: AccessControl,
  checks: readonly KeyCheck[],
): MaybePromise<readonly KeyCheck[]> {
  const next = keys[checks.length];
  return next
    ? mapMaybe(access.readScope(next.relation.target), (rows) =>
        planRemainingChecks(keys, access, [...checks, planKeyCheck(next, rows)]),
      )
    : checks.filter(({ forbidden, where }) => !forbidden || where.kind !== 'never');
}

/** Restricts the rows to which a key in a body may refer. */
function planKeyCheck({ rows: { where, exact }, ...given }: BodyKey, visible: Condition): KeyCheck {
  const rows = given.forbidden ? negation(visible) : visible;
  return { where: conjunction([rows, where]), exact: conjunction([rows, exact]), ...given };
}

/** All keys in a body, by a relation or by its foreign key column, including those in embedded objects. */
function findKeys(
  values: ReadonlyMap<string, unknown>,
  fields: readonly Field[],
  within: readonly string[] = [],
): readonly BodyKey[] {
  const keys: BodyKey[] = [];
  for (const field of fields) {
    if (field.kind !== 'embedded' && field.kind !== 'to-one' && field.kind !== 'column') continue;
    const value = values.get(field.name);
    if (value === null || value === undefined) continue;
    const path = [...within, field.name];
    if (field.kind === 'embedded') keys.push(...findKeys(new Map(Object.entries(value)), field.fields, path));
    else if (field.kind === 'to-one')
      keys.push({
        relation: field.relation,
        path,
        key: value as readonly Json[],
        rows: rowsWithKey(value as readonly Json[], field.relation),
      });
    else if (field.refers)
      keys.push({
        relation: field.refers,
        path,
        key: [value as Json],
        rows: rowsWithReferredValue(value as Json, field.refers),
      });
    // A part of a key is checked with the others, when they are known.
    for (const relation of (field.kind === 'column' && field.polymorphic) || [])
      if (relation.on.length === 1)
        keys.push({
          relation,
          path,
          key: [value as Json],
          rows: everyRowWithReferredValue(value as Json, relation),
          forbidden: true,
        });
  }
  return keys;
}

function rowsWithKey(key: readonly Json[], { target }: ToOneRelation): NamedRows {
  return { where: referredCondition(key, target), exact: keyCondition(key, target) };
}

/** For a relation of one column, whose type may differ from that of the referring column. */
function rowsWithReferredValue(value: Json, { on: [pair] }: ToOneRelation): NamedRows {
  const outcome = pair && parseValue(value, pair.referencedColumn.type);
  if (!pair || !outcome || outcome.errors) return { where: NEVER, exact: NEVER };
  return {
    where: equalsAsKey(pair.referencedColumn, outcome.value),
    exact: equals(pair.referencedColumn, outcome.value),
  };
}

/** The same whatever the form of a text: none of the rows may be hidden. */
function everyRowWithReferredValue(value: Json, relation: ToOneRelation): NamedRows {
  const { where } = rowsWithReferredValue(value, relation);
  return { where, exact: where };
}

/**
 * The keys of several columns and tables that a body writes in part or as a whole: those of the written row may refer to no row that is
 * hidden from the caller.
 */
export function planHiddenKeys(
  { resource, access }: RestContext,
  { values }: ParsedBody,
): MaybePromise<readonly HiddenKey[]> {
  const written = writtenParts(values, resource.fields);
  const relations = [...new Set(written.flatMap(({ relations: each }) => each))];
  return relations.reduce<MaybePromise<readonly HiddenKey[]>>(
    (keys, relation) =>
      mapMaybe(keys, (before) =>
        mapMaybe(access.readScope(relation.target), (visible) => {
          const hidden = negation(visible);
          if (hidden.kind === 'never') return before;
          const parts = written.filter(({ relations: each }) => each.includes(relation));
          const where: Condition = { kind: 'related', joinPath: [], relation, condition: hidden };
          return [...before, { where, parts }];
        }),
      ),
    [],
  );
}

interface WrittenPart {
  readonly path: readonly string[];
  readonly value: Json;
  readonly relations: readonly ToOneRelation[];
}

function writtenParts(
  values: ReadonlyMap<string, unknown>,
  fields: readonly Field[],
  within: readonly string[] = [],
): readonly WrittenPart[] {
  return fields.flatMap((field): readonly WrittenPart[] => {
    const value = values.get(field.name);
    if (value === undefined || value === null) return [];
    const path = [...within, field.name];
    if (field.kind === 'embedded') return writtenParts(new Map(Object.entries(value)), field.fields, path);
    const relations = (field.kind === 'column' && field.polymorphic) || [];
    const composite = relations.filter(({ on }) => on.length > 1);
    return composite.length > 0 ? [{ path, value: value as Json, relations: composite }] : [];
  });
}

/** The condition that the row must meet after the write. */
export function conditionAfterWrite(
  { resource, scope, access }: RestContext,
  { values }: Pick<ParsedBody, 'values'>,
  set: readonly ColumnValue[] = [],
): MaybePromise<Condition> {
  const written = new Set([
    ...resource.fields.filter(({ name }) => values.has(name)).flatMap(fieldColumns),
    ...set.map(({ column }) => column.id),
  ]);
  const moved = resource.overlapping.filter(({ on }) =>
    on.some(({ localColumn }) => written.has(localColumn.id)),
  );
  return moved.reduce<MaybePromise<Condition>>(
    (rows, relation) =>
      mapMaybe(rows, (before) =>
        mapMaybe(access.readScope(relation.target), (target) =>
          conjunction([before, refersOnlyTo(relation, target)]),
        ),
      ),
    scope,
  );
}

/**
 * The condition that an overlapping relation, which shares a column with a written one, does not refer to a row that the
 * caller may not refer to.
 */
function refersOnlyTo(relation: ToOneRelation, rows: Condition): Condition {
  const empty = relation.on.map(({ localColumn }): Condition => ({
    kind: 'compare',
    operand: { joinPath: [], column: localColumn },
    lookup: 'isnull',
    value: true,
  }));
  return disjunction([...empty, { kind: 'related', joinPath: [], relation, condition: rows }]);
}
