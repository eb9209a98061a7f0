import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../core/errors/rest-exception.js';
import type { Transform } from '../../core/schema/column.js';
import type { ColumnField, EmbeddedField, Field } from '../../core/schema/field.js';
import { isAcceptedInBodies, isJson, isWritableIn } from '../../core/schema/field.js';
import type {
  ParseContext,
  ParsedBody,
  RepresentContext,
  Representation,
  Row,
  Serializer,
} from '../../core/contracts/serializer.js';
import { exactMember, plainValue, setMember } from '../../core/values/exact-numbers.js';
import { keyText, parseKeyValue } from '../../core/values/keys.js';
import { invalid, valid } from '../../core/values/parse-result.js';
import type { Outcome } from '../../core/values/parse-result.js';
import { parseValue } from '../../core/values/parse-value.js';
import { pythonTypeName } from '../../core/values/texts.js';

/** The default serializer, which follows the compiled model. Extend it to change the representation of one entity. */
export class ModelSerializer implements Serializer {
  /** The JSON object of a row, with its fields in the order of contract 2.2. */
  represent(row: Row, { resource, basePath }: RepresentContext): Representation {
    const body: Representation = {};
    let at = 0;
    for (const field of resource.fields) {
      if (field.readable)
        setMember(body, field.name, representField(field, row, { value: row.values[at++], basePath }));
    }
    return body;
  }

  /** Parses all fields that this operation writes, and collects all errors (contract 5.10). */
  parse(body: Readonly<Record<string, unknown>>, context: ParseContext): ParsedBody {
    const values = new Map<string, unknown>();
    const errors = context.resource.strict ? unknownFields(body, context) : emptyFieldErrors();
    for (const field of context.resource.fields) {
      if (context.given.has(field.name) || !isWritableIn(field, context.operation)) continue;
      const outcome = parseMember(body, field, context);
      if (outcome === undefined) continue;
      if ('nested' in outcome) {
        // Valid values are kept, so that the application's validators also check them.
        errors[field.name] = outcome.nested;
        values.set(field.name, outcome.validValues);
      } else if (outcome.errors) errors[field.name] = [...outcome.errors];
      else values.set(field.name, outcome.value);
    }
    return { values, errors, sent: body };
  }
}

function representField(
  field: Field,
  row: Row,
  { value, basePath }: { value: unknown; basePath: string },
): unknown {
  switch (field.kind) {
    case 'link':
      return `${basePath}/${keyText(row.identity ?? row.key)}/${field.relation.name}/`;
    case 'computed':
      return toJsonValue(row.entity ? field.compute(row.entity) : null);
    case 'embedded':
      return representEmbedded(field, row, { value: value as Readonly<Record<string, unknown>>, basePath });
    case 'column':
    case 'to-one':
    case 'reverse-one':
      return value ?? null;
    // Added to the representation of any serializer.
    case 'labels':
      return value;
    default:
      return field satisfies never;
  }
}

function representEmbedded(
  { fields }: EmbeddedField,
  row: Row,
  { value, basePath }: { value: Readonly<Record<string, unknown>>; basePath: string },
): unknown {
  const body: Representation = {};
  for (const field of fields)
    if (field.readable)
      setMember(body, field.name, representField(field, row, { value: value[field.name], basePath }));
  return body;
}

/** Converts values that JSON cannot represent. */
function toJsonValue(value: unknown): unknown {
  if (value === undefined) return null;
  return typeof value === 'bigint' ? value.toString() : value;
}

/** Reports unknown names: a hidden field is one of them. */
function unknownFields(
  body: Readonly<Record<string, unknown>>,
  { resource, given }: ParseContext,
): FieldErrors {
  const errors = emptyFieldErrors();
  for (const name of Object.keys(body)) {
    const field = resource.fieldsByName.get(name);
    const known = given.has(name) || (field !== undefined && isExposed(field));
    if (!known) errors[name] = ['Unknown field.'];
  }
  return errors;
}

function isExposed(field: Field): boolean {
  return field.readable || isAcceptedInBodies(field);
}

type MemberOutcome =
  | Outcome<unknown>
  | { readonly nested: FieldErrors; readonly validValues: Readonly<Record<string, unknown>> }
  | undefined;

/** Undefined if the member is absent and optional. */
function parseMember(
  body: Readonly<Record<string, unknown>>,
  field: Field,
  context: ParseContext,
): MemberOutcome {
  if (!hasMember(body, field.name)) {
    return field.required && context.operation !== 'partialUpdate' && !isSetByForeignKey(field, body)
      ? invalid('This field is required.')
      : undefined;
  }
  const input = inputOf(body, field);
  if (input === null || (input === '' && field.kind === 'to-one')) return parseNull(field);
  switch (field.kind) {
    case 'column':
      return parseColumn(input, field);
    case 'embedded':
      return parseEmbedded(input, field, context);
    case 'to-one':
      return parseKeyValue(input, field.relation.target.key);
    default:
      return undefined;
  }
}

/** Only JSON has numbers with more digits than those of JavaScript. */
function inputOf(body: Readonly<Record<string, unknown>>, field: Field): unknown {
  return isJson(field) ? exactMember(body, field.name) : plainValue(body[field.name]);
}

function parseNull(field: Field): Outcome<null> {
  if (!field.nullable) return invalid('This field may not be null.');
  const transform = field.kind === 'column' ? field.column.transform : undefined;
  return transform ? storable(null, transform) : valid(null);
}

/** JSON has no undefined, but a body returned by a pipe or by the application may: it counts as absent. */
function hasMember(body: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(body, name) && body[name] !== undefined;
}

/** True if the body sets the relation by the plain column of its foreign key, which is writable if the relation is. */
function isSetByForeignKey(field: Field, body: Readonly<Record<string, unknown>>): boolean {
  return (
    field.kind === 'to-one' && field.foreignKeyAlias !== undefined && hasMember(body, field.foreignKeyAlias)
  );
}

function parseColumn(input: unknown, field: ColumnField): Outcome<Json> {
  const outcome = parseValue(input, field.type);
  if (!outcome.errors && outcome.value === '' && field.type.kind === 'string' && !field.blank)
    return invalid('This field may not be blank.');
  const { transform } = field.column;
  return transform && !outcome.errors ? storable(outcome.value, transform) : outcome;
}

/** A transformer may throw for a value: that is an error of the client, not of the server. */
function storable<Value extends Json>(value: Value, transform: Transform): Outcome<Value> {
  const outcome = transform.stored(value);
  return outcome.errors ? outcome : valid(value);
}

function unknownMembers(input: object, { fields }: EmbeddedField): FieldErrors {
  const errors = emptyFieldErrors();
  const known = new Set(fields.filter(isExposed).map(({ name }) => name));
  for (const name of Object.keys(input)) if (!known.has(name)) errors[name] = ['Unknown field.'];
  return errors;
}

function parseEmbedded(input: unknown, embedded: EmbeddedField, context: ParseContext): MemberOutcome {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return invalid(`Invalid data. Expected a dictionary, but got ${pythonTypeName(input)}.`);
  }
  const values: Record<string, unknown> = {};
  const errors = context.resource.strict ? unknownMembers(input, embedded) : emptyFieldErrors();
  for (const field of embedded.fields) {
    if (!isWritableIn(field, context.operation)) continue;
    const outcome = parseMember(input as Readonly<Record<string, unknown>>, field, context);
    if (outcome === undefined) continue;
    if ('nested' in outcome) {
      errors[field.name] = outcome.nested;
      values[field.name] = outcome.validValues;
    } else if (outcome.errors) errors[field.name] = [...outcome.errors];
    else values[field.name] = outcome.value;
  }
  return Object.keys(errors).length > 0 ? { nested: errors, validValues: values } : valid(values);
}
