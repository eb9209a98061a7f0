import type { RowSeparator } from '../core/data-adapter.js';
import type { ColumnField, EmbeddedField, Field, LinkField } from '../core/schema/field.js';
import type { ToOneRelation } from '../core/schema/relation.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import type { Dialect } from './dialects/dialect.js';
import { isPlainName } from './dialects/json-writer.js';
import type { JsonMember, JsonWriter } from './dialects/json-writer.js';
import type { Scope } from './query-scope.js';
import type { StoredJson } from './stored-json.js';

/** Serialization of the rows of a resource as JSON by the database. */
export interface JsonRowCompiler {
  /** SQL of a row's JSON object; NULL for a row that only the process can serialize. */
  sql(scope: Scope, basePath: string): string;
  /** The members that are `[]` in the rows from the database, in order; `insertStoredJson` writes their values. */
  readonly stored: readonly StoredJson[];
  /** Whether comma-separated rows from the database equal what the process would have serialized. */
  isValidJson(rows: string): boolean;
  /** Removes the first or the last of several comma-separated rows. */
  removeRow(end: 'first' | 'last', rows: string): string;
  /** Replaces the commas between rows. */
  separate(rows: string, separator: RowSeparator): string;
}

/** What keeps the database from writing the JSON of rows. */
export interface JsonObstacle {
  readonly kind:
    | 'database'
    | 'number-of-fields'
    | 'field-name'
    | 'column-type'
    | 'related-key'
    | 'one-to-one'
    | 'link'
    | 'made-value'
    | 'virtual-column';
  /** The database, the table or the field; of a column type, with the type. */
  readonly name: string;
}

/** Limits the arguments of one SQL function call; every build of SQLite admits at least 127. */
const MAX_FIELDS = 60;

/**
 * Compiles the serialization of a resource, with the same result as `ModelSerializer`; or says which of its fields the
 * database cannot serialize. Called once per resource.
 */
export function jsonRows(
  resource: ResourceSchema,
  { json: writer }: Dialect,
  databaseType: string,
): JsonRowCompiler | JsonObstacle {
  if (!writer) return { kind: 'database', name: databaseType };
  const members = membersOf(readable(resource.fields), resource, writer);
  if (isObstacle(members)) return members;
  return {
    sql: (scope, basePath) => {
      const { sql, guard } = writer.object(members.map((member) => member.sql(scope, basePath)));
      return guard === undefined ? sql : `CASE WHEN ${guard} THEN ${sql} END`;
    },
    stored: members.flatMap(({ stored }) => stored),
    isValidJson: patternTest(objectPattern(members)),
    ...boundariesOf(members[0]),
  };
}

/**
 * Splits rows at the boundary between two objects. The boundary cannot occur inside a row: rows hold no arrays but `[]`, inside a
 * string a quotation mark is escaped, and one that ends a string is not followed by a name.
 */
function boundariesOf(first: Member | undefined): Pick<JsonRowCompiler, 'removeRow' | 'separate'> {
  const begin = first ? `{"${first.name}":` : '{';
  const boundary = `},${begin}`;
  return {
    removeRow: (end, rows) =>
      end === 'first'
        ? rows.slice(rows.indexOf(boundary) + '},'.length)
        : rows.slice(0, rows.lastIndexOf(boundary) + '}'.length),
    separate: (rows, separator) =>
      separator === ',' ? rows : rows.replaceAll(boundary, `}${separator}${begin}`),
  };
}

/** Checks the whole text: one pass over a page costs less than a check of each value in the database. */
function patternTest(form: string | undefined): (rows: string) => boolean {
  if (form === undefined) return () => true;
  const rows = new RegExp(`^(?:${form}(?:,(?=\\{)|$))*$`);
  return (text) => {
    try {
      return rows.test(text);
    } catch {
      // A page with millions of escapes exceeds the backtracking stack of the regular expression.
      return false;
    }
  };
}

export function isObstacle(given: object): given is JsonObstacle {
  return 'kind' in given;
}

/** A member of the JSON object: its SQL, and the pattern of its serialized value. */
interface Member {
  readonly name: string;
  sql(scope: Scope, basePath: string): JsonMember;
  readonly form: string | undefined;
  /** The stored JSON that it is or contains. */
  readonly stored: readonly StoredJson[];
}

const NO_JSON: readonly StoredJson[] = [];

function membersOf(
  fields: readonly Field[],
  resource: ResourceSchema,
  writer: JsonWriter,
): readonly Member[] | JsonObstacle {
  const members: Member[] = [];
  for (const field of fields) {
    const member = memberOf(field, resource, writer);
    if (isObstacle(member)) return member;
    members.push(member);
  }
  return members.length <= MAX_FIELDS
    ? members
    : { kind: 'number-of-fields', name: `${members.length} of at most ${MAX_FIELDS}` };
}

/** The pattern of an object; undefined if the column types guarantee its form. */
function objectPattern(members: readonly Member[]): string | undefined {
  if (members.some(({ form }) => form === undefined)) return undefined;
  return `\\{${members.map(({ name, form }) => `"${name}":${String(form)}`).join(',')}\\}`;
}

function readable<Each extends Field>(fields: readonly Each[]): readonly Each[] {
  return fields.filter((field) => field.readable);
}

function memberOf(field: Field, resource: ResourceSchema, writer: JsonWriter): Member | JsonObstacle {
  if (!isPlainName(field.name)) return { kind: 'field-name', name: field.name };
  switch (field.kind) {
    case 'column':
      return columnMember(field.name, field.column, writer);
    case 'embedded':
      return embeddedMember(field, resource, writer);
    case 'to-one':
      return keyMember(field.name, field.relation, writer);
    case 'link':
      return linkMember(field, resource, writer);
    // Its value comes from another row.
    case 'reverse-one':
      return { kind: 'one-to-one', name: field.name };
    case 'keys':
    case 'computed':
    case 'labels':
    case 'counts':
      return { kind: 'made-value', name: field.name };
    default:
      return field satisfies never;
  }
}

function columnMember(
  name: string,
  column: ColumnField['column'],
  writer: JsonWriter,
): Member | JsonObstacle {
  const written = writer.columnOf(column.type);
  if (!written) return { kind: 'column-type', name: `${name}, ${column.type.kind}` };
  const { pattern, stored } = written;
  return {
    name,
    form: pattern,
    sql: (scope) => ({ name, ...written.of(scope.own(column)) }),
    stored: stored ? [{ name, sql: (scope) => stored(scope.own(column)) }] : NO_JSON,
  };
}

function embeddedMember(
  field: EmbeddedField,
  resource: ResourceSchema,
  writer: JsonWriter,
): Member | JsonObstacle {
  const { name } = field;
  const inner = membersOf(readable(field.fields), resource, writer);
  if (isObstacle(inner)) return { ...inner, name: `${name}.${inner.name}` };
  return {
    name,
    form: objectPattern(inner),
    sql: (scope, basePath) => ({ name, ...writer.object(inner.map((each) => each.sql(scope, basePath))) }),
    stored: inner.flatMap(({ stored }) => stored),
  };
}

/** The related key, if it is a single foreign key column of this row. */
function keyMember(name: string, relation: ToOneRelation, writer: JsonWriter): Member | JsonObstacle {
  const [key, ...more] = relation.target.key.columns;
  const localColumn = relation.on.find((pair) => pair.referencedColumn.id === key?.id)?.localColumn;
  if (!relation.byKey || more.length > 0 || !localColumn) return { kind: 'related-key', name };
  return columnMember(name, localColumn, writer);
}

function linkMember(
  { name, relation }: LinkField,
  resource: ResourceSchema,
  writer: JsonWriter,
): Member | JsonObstacle {
  const [key, ...more] = resource.identity;
  const keyText =
    key &&
    writer.keyTextOf(
      key.type,
      resource.fields.some(
        (field) => field.kind === 'column' && field.readable && field.column.id === key.id,
      ),
    );
  if (!keyText || more.length > 0 || !isPlainName(relation.name)) return { kind: 'link', name };
  const end = `/${relation.name}/`;
  return {
    name,
    form:
      keyText.pattern === undefined ? undefined : `"[^"\\\\]*(?:\\\\.[^"\\\\]*)*/${keyText.pattern}${end}"`,
    sql: (scope, basePath) => {
      const begin = scope.bindText(writer.linkPrefix(`${basePath}/`));
      // The guards of the key apply to its link too.
      const { sql, ...kept } = keyText.of(scope.own(key));
      return { ...kept, name, sql: writer.link(begin, sql, end) };
    },
    stored: NO_JSON,
  };
}
