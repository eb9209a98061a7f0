import { DatabaseUnavailable, InvalidInput, PermissionDenied } from '../../../core/errors/http-exceptions.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import type { RestException } from '../../../core/errors/rest-exception.js';
import type { FieldValues } from '../../../core/query/plan.js';
import { isAcceptedInBodies } from '../../../core/schema/field.js';
import type { Field } from '../../../core/schema/field.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import type { DatabaseError } from '../../../sql/dialects/dialect.js';
import type { WriterTools } from './row-writer.js';

const BROKEN_RULE = 'These values break a rule of the database.';
const FORBIDDEN_DELETION = 'A rule of the database forbids this deletion.';

/** The write that the database has rejected. */
export interface RefusedWrite {
  readonly resource: ResourceSchema;
  readonly sent: FieldValues;
  readonly triggerMessages: boolean;
}

/**
 * Maps a constraint violation to the error that the client receives (contract 5.11 and contract 6.1). Undefined for a
 * foreign key, which requires a lookup of the rows. It contains no text of the database and no name of a hidden column.
 */
export function constraintError(
  rejection: DatabaseError,
  { resource, sent, triggerMessages }: RefusedWrite,
): RestException | undefined {
  if (isTemporary(rejection)) return new DatabaseUnavailable();
  switch (rejection.kind) {
    case 'unique':
      return duplicate(rejection.columns ?? [], resource, sent);
    case 'not-null':
      return atField(
        fieldOfColumn(rejection.column, resource, sent),
        'This field may not be null.',
        'A value that the database requires is missing.',
      );
    case 'data':
    case 'pattern':
      return atField(
        fieldOfColumn(rejection.kind === 'data' ? rejection.column : undefined, resource, sent),
        'The database cannot hold this value.',
        'The database cannot hold one of these values.',
      );
    case 'check':
      return InvalidInput.ofNoField(BROKEN_RULE);
    case 'raised':
      return InvalidInput.ofNoField(triggerMessages ? rejection.message : BROKEN_RULE);
    case 'denied':
      return new PermissionDenied();
    case 'foreign-key':
      return undefined;
    default:
      return rejection satisfies never;
  }
}

/** The error of a deletion that the database forbids by another rule than a foreign key; undefined if it is no such error. */
export function forbiddenDeletion(
  rejection: DatabaseError,
  triggerMessages: boolean,
): RestException | undefined {
  switch (rejection.kind) {
    case 'raised':
      return InvalidInput.ofNoField(triggerMessages ? rejection.message : FORBIDDEN_DELETION);
    case 'check':
      return InvalidInput.ofNoField(FORBIDDEN_DELETION);
    case 'denied':
      return new PermissionDenied();
    default:
      return undefined;
  }
}

function atField(field: Field | undefined, message: string, otherwise: string): InvalidInput {
  return field ? InvalidInput.of(field.name, message) : InvalidInput.ofNoField(otherwise);
}

function duplicate(columns: readonly string[], resource: ResourceSchema, sent: FieldValues): InvalidInput {
  const fields = columns.map((column) => fieldOfColumn(column, resource, sent));
  const names = [...new Set(fields.flatMap((field) => field?.name ?? []))];
  if (names.length === 1 && fields.every(Boolean) && names[0] !== undefined)
    return InvalidInput.of(names[0], 'This field must be unique.');
  if (fields.length === 0 || !fields.every(Boolean))
    return InvalidInput.ofNoField('An object with these values exists already.');
  return InvalidInput.ofNoField(`The fields ${names.join(', ')} must make a unique set.`);
}

/**
 * The client's field for a column: the relation rather than the plain column that shares it, unless the body contains
 * the plain one.
 */
function fieldOfColumn(
  column: string | undefined,
  resource: ResourceSchema,
  sent: FieldValues,
): Field | undefined {
  const exposed = resource.fields.filter((field) => field.readable || isAcceptedInBodies(field));
  const holding = exposed.filter((field) => holdsColumn(field, column));
  return (
    holding.find((field) => field.kind === 'column' && isAcceptedInBodies(field) && sent.has(field.name)) ??
    holding.find((field) => field.kind === 'to-one') ??
    holding[0]
  );
}

function holdsColumn(field: Field, column: string | undefined): boolean {
  if (field.kind === 'column') return field.column.id === column;
  if (field.kind === 'to-one') return field.relation.on.some((pair) => pair.localColumn.id === column);
  return field.kind === 'embedded' && field.fields.some((inner) => holdsColumn(inner, column));
}

/** What a statement reads fails for another reason than the values of the body. */
const ERRORS_OF_READS: ReadonlySet<DatabaseError['kind']> = new Set(['data', 'pattern', 'raised', 'check']);

/**
 * The constraint of the model's table that a write violates. Undefined if the database has not reported the error, or if it is
 * not that of the request: if the row could not be read, or a trigger or a subscriber has written another table.
 */
export async function violatedConstraint(
  error: unknown,
  resource: ResourceSchema,
  { dialect, tables, constraints }: WriterTools,
): Promise<DatabaseError | undefined> {
  const reported = isRestException(error) ? undefined : dialect.errorFor(error);
  if (!reported) return undefined;
  const { query } = error as { readonly query?: unknown };
  if (ERRORS_OF_READS.has(reported.kind) && typeof query === 'string' && /^\s*SELECT\b/i.test(query))
    return undefined;
  return constraints.resolve(reported, tables.of(resource).metadata);
}
