import type { ColumnField, EmbeddedField, Field, LinkField } from '../core/schema/field.js';
import type { ToOneRelation } from '../core/schema/relation.js';
import type { Resource } from '../core/schema/resource.js';
import type { Dialect } from './dialects/dialect.js';
import { isPlainName } from './dialects/json-writer.js';
import type { JsonMember, JsonWriter } from './dialects/json-writer.js';
import type { Scope } from './query-scope.js';

/** The rows of a resource as JSON, by the database. */
export interface JsonRows {
  /** SQL of a row's whole object; NULL for a row that only the process can write. */
  sql(scope: Scope, basePath: string): string;
  /** Whether rows that were written so, with commas between, are what the process would have written. */
  isValidJson(rows: string): boolean;
  /** Several such rows without one at an end. */
  removeRow(end: 'first' | 'last', rows: string): string;
}

/** A function of SQL has a bounded number of arguments, in every build at least 127. */
const MAX_FIELDS = 60;

/**
 * The rows of a resource as the database itself writes them, as `ModelSerializer` would. Undefined where one of its
 * fields has no such form; made once a resource.
 */
export function jsonRows(resource: Resource, dialect: Dialect): JsonRows | undefined {
  const writer = dialect.json;
  if (!writer) return undefined;
  const members = membersOf(readable(resource.fields), resource, writer);
  if (!members) return undefined;
  return {
    sql: (scope, basePath) => {
      const { sql, guard } = writer.object(members.map((member) => member.sql(scope, basePath)));
      return guard === undefined ? sql : `CASE WHEN ${guard} THEN ${sql} END`;
    },
    isValidJson: patternTest(objectPattern(members)),
    removeRow: rowRemover(members[0]),
  };
}

/**
 * Where one row ends and the next begins. Inside a row no such text can stand: rows hold no arrays, and inside a string a
 * quotation mark is escaped; one that ends a string is not followed by a name.
 */
function rowRemover(first: Member | undefined): JsonRows['removeRow'] {
  const boundary = first ? `},{"${first.name}":` : '},{}';
  return (end, rows) =>
    end === 'first'
      ? rows.slice(rows.indexOf(boundary) + '},'.length)
      : rows.slice(0, rows.lastIndexOf(boundary) + '}'.length);
}

/** Looked at as a whole: one pass over the text of a page costs less than a look of the database's at each value. */
function patternTest(form: string | undefined): (rows: string) => boolean {
  if (form === undefined) return () => true;
  const rows = new RegExp(`^(?:${form}(?:,(?=\\{)|$))*$`);
  return (text) => {
    try {
      return rows.test(text);
    } catch {
      // A page with millions of escapes is more than it can go back over.
      return false;
    }
  };
}

/** A member whose SQL stands in an object, and what it looks like there. */
interface Member {
  readonly name: string;
  sql(scope: Scope, basePath: string): JsonMember;
  readonly form: string | undefined;
}

function membersOf(
  fields: readonly Field[],
  resource: Resource,
  writer: JsonWriter,
): readonly Member[] | undefined {
  const members = fields.map((field) => memberOf(field, resource, writer));
  return members.length <= MAX_FIELDS && members.every((member) => member !== undefined)
    ? members
    : undefined;
}

/** Undefined where the database vouches for all of it. */
function objectPattern(members: readonly Member[]): string | undefined {
  if (members.some(({ form }) => form === undefined)) return undefined;
  return `\\{${members.map(({ name, form }) => `"${name}":${String(form)}`).join(',')}\\}`;
}

function readable<Each extends Field>(fields: readonly Each[]): readonly Each[] {
  return fields.filter((field) => field.readable);
}

function memberOf(field: Field, resource: Resource, writer: JsonWriter): Member | undefined {
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

function columnMember(name: string, column: ColumnField['column'], writer: JsonWriter): Member | undefined {
  const written = writer.columnOf(column.type);
  return (
    written && { name, form: written.pattern, sql: (scope) => ({ name, ...written.of(scope.own(column)) }) }
  );
}

function embeddedMember(field: EmbeddedField, resource: Resource, writer: JsonWriter): Member | undefined {
  const { name } = field;
  const inner = membersOf(readable(field.fields), resource, writer);
  return (
    inner && {
      name,
      form: objectPattern(inner),
      sql: (scope, basePath) => ({ name, ...writer.object(inner.map((each) => each.sql(scope, basePath))) }),
    }
  );
}

/** The related key, where it stands in this row and is one column. */
function keyMember(name: string, relation: ToOneRelation, writer: JsonWriter): Member | undefined {
  const [key, ...more] = relation.target.key.columns;
  const near = relation.on.find((pair) => pair.far.id === key?.id)?.near;
  if (!relation.byKey || more.length > 0 || !near) return undefined;
  return columnMember(name, near, writer);
}

function linkMember(
  { name, relation }: LinkField,
  resource: Resource,
  writer: JsonWriter,
): Member | undefined {
  const [key, ...more] = resource.identity;
  const keyText =
    key &&
    writer.keyTextOf(
      key.type,
      resource.fields.some(
        (field) => field.kind === 'column' && field.readable && field.column.id === key.id,
      ),
    );
  if (!keyText || more.length > 0 || !isPlainName(relation.name)) return undefined;
  const end = `/${relation.name}/`;
  return {
    name,
    form:
      keyText.pattern === undefined ? undefined : `"[^"\\\\]*(?:\\\\.[^"\\\\]*)*/${keyText.pattern}${end}"`,
    sql: (scope, basePath) => {
      const begin = scope.bindText(writer.linkPrefix(`${basePath}/`));
      // Whatever keeps the key from being written keeps its link, too.
      const { sql, ...kept } = keyText.of(scope.own(key));
      return { ...kept, name, sql: writer.link(begin, sql, end) };
    },
  };
}
