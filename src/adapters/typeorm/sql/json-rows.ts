import type { ColumnField, EmbeddedField, Field, LinkField } from '../../../model/field.js';
import type { ToOneRelation } from '../../../model/relation.js';
import type { Resource } from '../../../model/resource.js';
import type { Dialect } from '../dialects/dialect.js';
import { isPlainName } from '../dialects/json-writer.js';
import type { JsonMember, JsonWriter } from '../dialects/json-writer.js';
import type { Scope } from './scope.js';

/** SQL of a row's whole JSON object; NULL for a row that only the process can write. */
export type JsonRows = (scope: Scope, basePath: string) => string;

/** A function of SQL has a bounded number of arguments, in every build at least 127. */
const MAX_FIELDS = 60;

/**
 * The rows of a resource as the database itself writes them, as `ModelSerializer` would. Undefined where one of its
 * fields has no such form; made once a resource.
 */
export function jsonRows(resource: Resource, dialect: Dialect): JsonRows | undefined {
  const writer = dialect.json;
  if (!writer) return undefined;
  const fields = readable(resource.fields).map((field) => memberOf(field, resource, writer));
  if (fields.length > MAX_FIELDS || !fields.every((field) => field !== undefined)) return undefined;
  return (scope, basePath) => {
    const { sql, guard } = writer.object(fields.map((field) => field(scope, basePath)));
    return guard === undefined ? sql : `CASE WHEN ${guard} THEN ${sql} END`;
  };
}

type MemberSql = (scope: Scope, basePath: string) => JsonMember;

function readable<Each extends Field>(fields: readonly Each[]): readonly Each[] {
  return fields.filter((field) => field.readable);
}

function memberOf(field: Field, resource: Resource, writer: JsonWriter): MemberSql | undefined {
  if (!isPlainName(field.name)) return undefined;
  switch (field.kind) {
    case 'column':
      return columnMember(field.name, field.column, writer);
    case 'embedded':
      return embeddedMember(field, resource, writer);
    case 'to-one':
      return keyMember(field.name, field.relation, writer);
    case 'link':
      return linkMember(field, resource, writer);
    // Their values stand in other rows, or are the application's.
    case 'reverse-one':
    case 'computed':
      return undefined;
    default:
      return field satisfies never;
  }
}

function columnMember(name: string, column: ColumnField['column'], writer: JsonWriter): MemberSql | undefined {
  const sqlOf = writer.columnOf(column.type);
  return sqlOf && ((scope) => ({ name, ...sqlOf(scope.own(column)) }));
}

function embeddedMember(field: EmbeddedField, resource: Resource, writer: JsonWriter): MemberSql | undefined {
  const inner = readable(field.fields).map((each) => memberOf(each, resource, writer));
  if (inner.length > MAX_FIELDS || !inner.every((each) => each !== undefined)) return undefined;
  return (scope, basePath) => ({ name: field.name, ...writer.object(inner.map((each) => each(scope, basePath))) });
}

/** The related key, where it stands in this row and is one column. */
function keyMember(name: string, relation: ToOneRelation, writer: JsonWriter): MemberSql | undefined {
  const [key, ...more] = relation.target.key.columns;
  const near = relation.on.find((pair) => pair.far.id === key?.id)?.near;
  if (!relation.byKey || more.length > 0 || !near) return undefined;
  return columnMember(name, near, writer);
}

function linkMember({ name, relation }: LinkField, resource: Resource, writer: JsonWriter): MemberSql | undefined {
  const [key, ...more] = resource.identity;
  const textOf = key && writer.keyTextOf(key.type);
  const sqlOf = key && writer.columnOf(key.type);
  if (!textOf || !sqlOf || more.length > 0 || !isPlainName(relation.name)) return undefined;
  // Whatever keeps the key from being written keeps its link, too.
  return (scope, basePath) => ({ ...sqlOf(scope.own(key)), name, sql: writer.link(scope.bindText(writer.textBegin(`${basePath}/`)), textOf(scope.own(key)), `/${relation.name}/`) });
}
