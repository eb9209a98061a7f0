import type { EntityMetadata } from 'typeorm';
import { DatabaseAway, InvalidInput } from '../../../errors/request-errors.js';
import type { RestError } from '../../../errors/rest-error.js';
import { isWritable } from '../../../model/field.js';
import type { Field } from '../../../model/field.js';
import type { Resource } from '../../../model/resource.js';
import type { DatabaseRefusal } from '../dialects/dialect.js';

/**
 * What the client is told of a write that the database refused (contract 5 and 6). Undefined for a foreign key, which
 * needs a look at the rows. Nothing of the database's own text gets out, and no name of a hidden column.
 */
export function refusedWrite(refusal: DatabaseRefusal, resource: Resource, metadata: EntityMetadata): RestError | undefined {
  switch (refusal.kind) {
    case 'unique':
      return duplicate(uniqueColumns(refusal, metadata), resource);
    case 'not-null':
      return atField(fieldOfColumn(refusal.column, resource), 'This field may not be null.', 'A value that the database requires is missing.');
    case 'data':
      return atField(fieldOfColumn(refusal.column, resource), 'The database cannot hold this value.', 'The database cannot hold one of these values.');
    case 'check':
      return InvalidInput.ofNoField('These values break a rule of the database.');
    case 'conflict':
    case 'unprepared':
    case 'timeout':
    case 'away':
      return new DatabaseAway();
    case 'foreign-key':
      return undefined;
    default:
      return refusal satisfies never;
  }
}

function atField(field: Field | undefined, message: string, otherwise: string): InvalidInput {
  return field ? InvalidInput.of(field.name, message) : InvalidInput.ofNoField(otherwise);
}

/** By the constraint's name where the model knows it, else the columns that the database named. */
function uniqueColumns(refusal: Extract<DatabaseRefusal, { kind: 'unique' }>, metadata: EntityMetadata): readonly string[] {
  const { constraint, columns } = refusal;
  if (constraint !== undefined) {
    // TypeORM keeps those of a child entity's relations with the base.
    const sharing = [metadata, ...(metadata.tableType === 'entity-child' ? [metadata.parentEntityMetadata] : [])];
    const found = sharing.flatMap(({ uniques, indices }) => [...uniques, ...indices]).find((each) => each.name === constraint || each.givenName === constraint);
    if (found) return found.columns.map((column) => column.databaseName);
    if (constraint === 'PRIMARY') return metadata.primaryColumns.map((column) => column.databaseName);
    const foreignKey = metadata.columns.find((column) => column.databaseName === constraint);
    if (!columns && foreignKey) return [foreignKey.databaseName];
  }
  return columns ?? [];
}

function duplicate(columns: readonly string[], resource: Resource): InvalidInput {
  const fields = columns.map((column) => fieldOfColumn(column, resource));
  const names = [...new Set(fields.flatMap((field) => field?.name ?? []))];
  if (names.length === 1 && fields.every(Boolean) && names[0] !== undefined) return InvalidInput.of(names[0], 'This field must be unique.');
  if (fields.length === 0 || !fields.every(Boolean)) return InvalidInput.ofNoField('An object with these values exists already.');
  return InvalidInput.ofNoField(`The fields ${names.join(', ')} must make a unique set.`);
}

/** The field that a client knows the column by: a relation rather than the plain column that shares it. */
function fieldOfColumn(column: string | undefined, resource: Resource): Field | undefined {
  const shown = resource.fields.filter((field) => field.readable || isWritable(field));
  const relation = shown.find((field) => field.kind === 'to-one' && field.relation.on.some((pair) => pair.near.id === column));
  return relation ?? shown.find((field) => holdsColumn(field, column));
}

function holdsColumn(field: Field, column: string | undefined): boolean {
  if (field.kind === 'column') return field.column.id === column;
  if (field.kind === 'to-one') return field.relation.on.some((pair) => pair.near.id === column);
  return field.kind === 'embedded' && field.fields.some((inner) => holdsColumn(inner, column));
}
