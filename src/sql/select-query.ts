import { InvalidInput } from '../core/errors/http-exceptions.js';
import type { Json } from '../core/errors/rest-exception.js';
import { ownKey } from '../core/query/condition.js';
import type { Operand } from '../core/query/condition.js';
import type { ExistsPlan } from '../core/query/plan.js';
import type { Column } from '../core/schema/column.js';
import type { DataKind } from '../core/schema/data-type.js';
import type {
  CountsField,
  EmbeddedField,
  Field,
  KeysField,
  LabelsField,
  RelatedLabel,
} from '../core/schema/field.js';
import { fieldsOfLabel, formatLabel } from '../core/schema/object-label.js';
import { MAX_RELATED_KEYS } from '../core/schema/limits.js';
import { localKeyColumns, relatedKeyOperands } from '../core/schema/relation.js';
import type { ReverseOneRelation, ToOneRelation } from '../core/schema/relation.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import { exactInteger } from '../core/values/exact-numbers.js';
import { keyRepresentation } from '../core/values/keys.js';
import { compileWhere } from './compile-where.js';
import { CUT_LIST } from './dialects/dialect.js';
import type { Dialect } from './dialects/dialect.js';
import { decodeColumn, readColumns, Scope } from './query-scope.js';
import type { Statement } from './statement.js';
import type { TableRegistry } from './table-names.js';

/** The select list of a resource, and the conversion of its records to row values. */
export interface Selection {
  /** The expressions of the select list, without aliases. */
  expressions(scope: Scope): readonly string[];
  /** `record` holds the driver's values in the order of the expressions. */
  readKey(record: readonly unknown[]): readonly Json[];
  readIdentity(record: readonly unknown[]): readonly Json[];
  readValues(record: readonly unknown[]): readonly unknown[];
  /** Whether the expressions convert values at a cost that matters for rows outside of a page. */
  readonly isCostly: boolean;
}

interface Part {
  readonly width: number;
  sql(scope: Scope): readonly string[];
  read(record: readonly unknown[], at: number): unknown;
}

/** Selects the key, the identity if it differs, and every readable field, in order. Called once per resource. */
export function selectRows(resource: ResourceSchema, dialect: Dialect): Selection {
  const key = ownKey(resource.key).map((operand) => operandPart(operand, dialect));
  // Selected separately only if it differs from the key.
  const identity =
    resource.identity === resource.key.columns
      ? []
      : resource.identity.map((column) => columnPart(column, dialect));
  const parts = resource.fields.filter((field) => field.readable).map((field) => fieldPart(field, dialect));
  const valueStarts = startsOf([...key, ...identity, ...parts]).slice(key.length + identity.length);
  const readKey = (record: readonly unknown[]): readonly Json[] =>
    key.map((part, index) => part.read(record, index) as Json);
  return {
    expressions: (scope) => [...key, ...identity, ...parts].flatMap((part) => part.sql(scope)),
    readKey,
    readIdentity: (record) =>
      identity.length === 0
        ? readKey(record)
        : identity.map((part, index) => part.read(record, key.length + index) as Json),
    readValues: (record) => parts.map((part, index) => part.read(record, valueStarts[index] ?? 0)),
    isCostly: resource.fields.some(isCostly),
  };
}

const COSTLY_KINDS: ReadonlySet<DataKind> = new Set(['json', 'list', 'datetime', 'date', 'interval']);

function isCostly(field: Field): boolean {
  if (!field.readable) return false;
  if (field.kind === 'embedded') return field.fields.some(isCostly);
  return field.kind === 'keys' || (field.kind === 'column' && COSTLY_KINDS.has(field.column.type.kind));
}

function startsOf(parts: readonly Part[]): readonly number[] {
  let at = 0;
  return parts.map((part) => {
    const start = at;
    at += part.width;
    return start;
  });
}

function inSequence(parts: readonly Part[]): Pick<Part, 'width' | 'sql'> {
  return {
    width: parts.reduce((sum, part) => sum + part.width, 0),
    sql: (scope) => parts.flatMap((part) => part.sql(scope)),
  };
}

function fieldPart(field: Field, dialect: Dialect): Part {
  switch (field.kind) {
    case 'column':
      return exactPart(field.column, dialect);
    case 'embedded':
      return embeddedPart(field, dialect);
    case 'to-one':
      return field.relation.byKey
        ? localKeyPart(field.relation, dialect)
        : remoteKeyPart(field.relation, dialect);
    case 'reverse-one':
      return remoteKeyPart(field.relation, dialect);
    case 'keys':
      return keysPart(field, dialect);
    case 'labels':
      return labelsPart(field, dialect);
    case 'counts':
      return countsPart(field);
    case 'link':
    case 'computed':
      return { width: 0, sql: () => [], read: () => undefined };
    default:
      return field satisfies never;
  }
}

function columnPart(column: Column, dialect: Dialect): Part {
  return operandPart({ joinPath: [], column }, dialect);
}

/** An integer of more than 53 bits, in a column that the entity declares with fewer, keeps its digits, as in rows that the database writes. */
function exactPart(column: Column, dialect: Dialect): Part {
  const part = columnPart(column, dialect);
  if (column.type.kind !== 'integer') return part;
  return {
    ...part,
    read: (record, at) => exactInteger(record[at]) ?? part.read(record, at),
  };
}

function operandPart(operand: Operand, dialect: Dialect): Part {
  const { column } = operand;
  return {
    width: 1,
    sql: (scope) => [dialect.read(scope.operand(operand), column.type)],
    read: (record, at) => decodeColumn(record[at], column, dialect),
  };
}

function embeddedPart(field: EmbeddedField, dialect: Dialect): Part {
  const inner = field.fields.filter((each) => each.readable);
  const parts = inner.map((each) => fieldPart(each, dialect));
  const starts = startsOf(parts);
  return {
    ...inSequence(parts),
    read: (record, at): unknown =>
      Object.fromEntries(
        parts.map((part, index) => [inner[index]?.name, part.read(record, at + (starts[index] ?? 0))]),
      ),
  };
}

/** The related key as foreign key columns of this row. */
function localKeyPart(relation: ToOneRelation, dialect: Dialect): Part {
  const columns = localKeyColumns(relation);
  return {
    width: columns.length,
    sql: (scope) => readColumns(columns, scope),
    read: keyReader(columns, dialect),
  };
}

/** The related key read from the other row, by one scalar subquery per key column. */
function remoteKeyPart(relation: ToOneRelation | ReverseOneRelation, dialect: Dialect): Part {
  const columns = relation.target.key.columns;
  return {
    width: columns.length,
    sql: (scope) =>
      columns.map((column) => {
        const target = scope.within(relation.target);
        // A local foreign key is included even if its row is soft-deleted; a key that has to be looked up likewise.
        const conditions = [
          scope.pairs(relation.on, scope, target),
          ...(relation.kind === 'to-one' ? target.table.rowsEvenDeleted(target.alias) : target.rows()),
        ];
        return `(SELECT ${dialect.read(target.own(column), column.type)} FROM ${target.from()} WHERE ${conditions.join(' AND ')})`;
      }),
    read: keyReader(columns, dialect),
  };
}

/** The keys of the related rows whose pairs the caller may see, by one scalar subquery for each column of the key. */
function keysPart({ name, relation, other, granted }: KeysField, dialect: Dialect): Part {
  if (!granted) return { width: 0, sql: () => [], read: () => [] };
  const { resource, parent } = relation.through;
  const operands = relatedKeyOperands(other);
  const columns = operands.map(({ column }) => column);
  return {
    width: operands.length,
    sql: (scope) =>
      operands.map((operand) => {
        const target = scope.within(resource);
        const order = operands.map((each) => target.operand(each)).join(', ');
        const value = dialect.read(target.operand(operand), operand.column.type);
        const where = [scope.pairs(parent, scope, target), compileWhere(granted.shown, target)].join(' AND ');
        return dialect.listOf({ value, order, from: target.from(), where, limit: MAX_RELATED_KEYS + 1 });
      }),
    read: (record, at) => {
      const values = columns.map((column, index) =>
        textsIn(record[at + index]).map((text) => decodeColumn(text, column, dialect)),
      );
      const count = values[0]?.length ?? 0;
      if (count <= MAX_RELATED_KEYS)
        return Array.from({ length: count }, (_, place) =>
          keyRepresentation(values.map((each) => each[place] ?? null)),
        );
      if (granted.leavesOut) return undefined;
      throw InvalidInput.of(
        name,
        `There are more than ${MAX_RELATED_KEYS} keys. Leave the field out, or read the pairs at their own URL.`,
      );
    },
  };
}

/** The texts of a JSON array; null without any. */
function textsIn(raw: unknown): readonly string[] {
  if (raw === null || raw === undefined) return [];
  if (raw === CUT_LIST)
    throw new Error(
      'MariaDB cuts a list of related keys: raise group_concat_max_len, whose default is 1048576.',
    );
  return (typeof raw === 'string' ? JSON.parse(raw) : raw) as readonly string[];
}

/** The labels of related rows, by one scalar subquery for each of their fields, under the caller's grants. */
function labelsPart({ labels }: LabelsField, dialect: Dialect): Part {
  const parts = labels.map((label) => labelPart(label, dialect));
  const starts = startsOf(parts);
  return {
    ...inSequence(parts),
    read: (record, at): unknown =>
      Object.fromEntries(
        parts.flatMap((part, index) => {
          const text = part.read(record, at + (starts[index] ?? 0));
          return text === undefined ? [] : [[labels[index]?.name, text]];
        }),
      ),
  };
}

function labelPart({ relation, label, grantCondition }: RelatedLabel, dialect: Dialect): Part {
  const columns = fieldsOfLabel(label).map(({ column }) => column);
  return {
    width: columns.length,
    sql: (scope) =>
      columns.map((column) => {
        const target = scope.within(relation.target);
        const conditions = [scope.pairs(relation.on, scope, target), compileWhere(grantCondition, target)];
        return `(SELECT ${dialect.read(target.own(column), column.type)} FROM ${target.from()} WHERE ${conditions.join(' AND ')})`;
      }),
    read: (record, at) =>
      formatLabel(
        label,
        columns.map((column, index) => decodeColumn(record[at + index], column, dialect)),
      ),
  };
}

/** The numbers of related rows, by one scalar subquery for each list, under the caller's grants. */
function countsPart({ lists }: CountsField): Part {
  return {
    width: lists.length,
    sql: (scope) =>
      lists.map(({ resource, on, where }) => {
        const target = scope.within(resource);
        const conditions = [scope.pairs(on, scope, target), compileWhere(where, target)];
        return `(SELECT COUNT(*) FROM ${target.from()} WHERE ${conditions.join(' AND ')})`;
      }),
    read: (record, at) =>
      Object.fromEntries(lists.map(({ name }, index) => [name, Number(record[at + index])])),
  };
}

function keyReader(columns: readonly Column[], dialect: Dialect): Part['read'] {
  return (record, at) =>
    keyOrNull(columns.map((column, index) => decodeColumn(record[at + index], column, dialect)));
}

function keyOrNull(values: readonly Json[]): Json {
  return values.some((value) => value === null) ? null : keyRepresentation(values);
}

/** A statement that returns one record if a matching row exists, otherwise none. */
export function existsStatement(
  { resource, where }: ExistsPlan,
  dialect: Dialect,
  tables: TableRegistry,
): Statement {
  const scope = Scope.begin(dialect, tables, resource);
  const condition = compileWhere(where, scope);
  return {
    sql: `SELECT 1 AS c0 FROM ${scope.from()} WHERE ${condition} LIMIT 1`,
    parameters: scope.parameters,
  };
}
