import type { ColumnValue } from '../../core/query/plan.js';
import { fieldColumns } from '../../core/query/readable-paths.js';
import { isWritableIn } from '../../core/schema/field.js';
import type { Field, ToOneField } from '../../core/schema/field.js';
import type { OneToManyRelation, Through } from '../../core/schema/relation.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { Route } from '../../core/schema/route.js';
import type { JsonObject } from '../request-input.js';
import type { RestContext } from '../rest-context.js';
import { joiningPairs } from './row-conditions.js';

/**
 * The relations, and columns of the key, that a body does not name because their columns have a value already: from the URL or the
 * application, or from a relation of the body that has all of them (contract 5.17).
 */
export function suppliedFields(
  { fields, overlapping, identity }: ResourceSchema,
  body: JsonObject,
  { operation, set }: { readonly operation: 'create' | 'update'; readonly set: readonly ColumnValue[] },
): readonly string[] {
  const isOfKey = (field: Field): boolean =>
    field.kind === 'column' && identity.some(({ id }) => id === field.column.id);
  const composite = fields.some((field) => field.kind === 'to-one' && field.relation.on.length > 1);
  if (overlapping.length === 0 && set.length === 0 && !composite) return [];
  const isSent = ({ name }: Field): boolean => Object.hasOwn(body, name) && body[name] !== undefined;
  const sent = fields.filter(
    (field): field is ToOneField =>
      field.kind === 'to-one' &&
      isWritableIn(field, operation) &&
      isSent(field) &&
      body[field.name] !== null &&
      body[field.name] !== '',
  );
  const isSet = (id: string): boolean => set.some(({ column }) => column.id === id);
  const isSupplied = (field: Field): boolean => {
    const columns = fieldColumns(field);
    return (
      columns.every(isSet) ||
      sent.some(({ relation: { on } }) =>
        columns.every((id) => on.some(({ localColumn }) => localColumn.id === id)),
      )
    );
  };
  return fields
    .filter((field) => (field.kind === 'to-one' || isOfKey(field)) && !isSent(field) && isSupplied(field))
    .map(({ name }) => name);
}

const NO_FIELDS: ReadonlySet<string> = new Set();

export function withSupplied(given: ReadonlySet<string>, supplied: readonly string[]): ReadonlySet<string> {
  return supplied.length === 0 ? given : new Set([...given, ...supplied]);
}

/** The fields that the URL sets, and those of `added`. */
export function givenFieldsWith(
  { resource, route }: RestContext,
  added: readonly string[],
): ReadonlySet<string> {
  const given = givenFields(route);
  return added.length === 0 ? given : withAliases([...given, ...added], resource);
}

const GIVEN = new WeakMap<Through | OneToManyRelation, ReadonlySet<string>>();

/** The fields that the URL sets: the parent's side of a through object or a child, and other fields on the same columns only. */
export function givenFields({ relation }: Pick<Route, 'relation'>): ReadonlySet<string> {
  if (!relation) return NO_FIELDS;
  const key = relation.kind === 'many-to-many' ? relation.through : relation;
  const known = GIVEN.get(key);
  if (known) return known;
  const columns = new Set(joiningPairs(relation).map(({ referencedColumn }) => referencedColumn.id));
  const isGiven = (field: Field): boolean =>
    (field.kind === 'column' && columns.has(field.column.id)) ||
    (field.kind === 'to-one' && field.relation.on.every(({ localColumn }) => columns.has(localColumn.id)));
  const { fields } = relation.kind === 'many-to-many' ? relation.through.resource : relation.target;
  const given = new Set(fields.filter(isGiven).map(({ name }) => name));
  GIVEN.set(key, given);
  return given;
}

/** A given relation includes the plain column of its foreign key, and vice versa. */
export function withAliases(
  names: readonly string[],
  { foreignKeyAliases }: ResourceSchema,
): ReadonlySet<string> {
  const given = new Set(names);
  for (const { within, names: both } of foreignKeyAliases)
    if (within.length === 0 && both.some((name) => given.has(name))) for (const name of both) given.add(name);
  return given;
}
