import { isDeepStrictEqual } from 'node:util';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../core/errors/rest-exception.js';
import type { Transform } from '../../core/schema/column.js';
import type {
  ColumnField,
  EmbeddedField,
  Field,
  KeysField,
  LinkField,
  ReverseOneField,
} from '../../core/schema/field.js';
import { isAcceptedInBodies, isJson, isWithheldIn, isWritableIn } from '../../core/schema/field.js';
import type {
  ParseContext,
  ParsedBody,
  RepresentContext,
  Representation,
  Row,
  Serializer,
} from '../../core/contracts/serializer.js';
import { exactMember, isSameJson, plainValue, setMember } from '../../core/values/exact-numbers.js';
import { keyText, parseKeyValue } from '../../core/values/keys.js';
import { parseNested } from '../../core/values/nested-body.js';
import { invalid, valid } from '../../core/values/parse-result.js';
import type { Outcome } from '../../core/values/parse-result.js';
import { parseValue } from '../../core/values/parse-value.js';
import type { ListedKey } from '../../core/values/related-keys.js';
import { parseRelatedKeys } from '../../core/values/related-keys.js';
import { pythonTypeName } from '../../core/values/texts.js';

/** The default serializer, which follows the compiled model. Extend it to change the representation of one entity. */
export class ModelSerializer implements Serializer {
  /** The JSON object of a row, with its fields in the order of contract 2.2. */
  represent(row: Row, { resource, basePath }: RepresentContext): Representation {
    const body: Representation = {};
    let at = 0;
    for (const field of resource.fields) {
      if (!field.readable) continue;
      const value = row.values[at++];
      // More keys than a response to a write holds.
      if (field.kind === 'keys' && value === undefined) continue;
      setMember(body, field.name, representField(field, row, { value, basePath }));
    }
    return body;
  }

  /** Parses all fields that this operation writes, and collects all errors (contract 5.10). */
  parse(body: Readonly<Record<string, unknown>>, context: ParseContext): ParsedBody {
    const { fields, fieldsByName, strict } = context.resource;
    const errors = emptyFieldErrors();
    if (strict)
      addUnknownNames(errors, body, (name) => context.given.has(name) || isExposed(fieldsByName.get(name)));
    const open = context.given.size === 0 ? fields : fields.filter(({ name }) => !context.given.has(name));
    const values = new Map(parseMembers(body, { fields: open, errors }, context));
    const parsed = { values, errors, sent: body };
    const withheld = context.resource.strictWrites ? withheldIn(body, open, context) : [];
    if (withheld.length === 0) return parsed;
    if (context.operation !== 'create')
      return { ...parsed, errorsOfStored: (stored) => changesOf(body, withheld, { stored, context }) };
    for (const { name } of withheld) errors[name] = [WITHHELD];
    return parsed;
  }
}

const WITHHELD = 'You do not have permission to write this field.';

/** The fields in a body that the caller may read, and that the grant alone keeps the operation from writing. Others are unknown. */
function withheldIn(
  body: Readonly<Record<string, unknown>>,
  fields: readonly Field[],
  { operation }: ParseContext,
): readonly Field[] {
  return fields.filter(
    (field) => field.readable && isWithheldIn(field, operation) && hasMember(body, field.name),
  );
}

/** Refuses values that differ from the stored ones, so that an object may be sent back as it was read. */
function changesOf(
  body: Readonly<Record<string, unknown>>,
  withheld: readonly Field[],
  { stored, context }: { readonly stored: Row; readonly context: ParseContext },
): FieldErrors {
  const readable = context.resource.fields.filter((field) => field.readable);
  const values = Object.fromEntries(readable.map(({ name }, index) => [name, stored.values[index]]));
  return changedMembers(body, withheld, { values, context });
}

function changedMembers(
  body: Readonly<Record<string, unknown>>,
  fields: readonly Field[],
  { values, context }: { readonly values: Readonly<Record<string, unknown>>; readonly context: ParseContext },
): FieldErrors {
  const errors = emptyFieldErrors();
  for (const field of fields) {
    const { name } = field;
    const [input, stored] = [exactMember(body, name), exactMember(values, name) ?? null];
    if (isSameJson(input, stored)) continue;
    if (field.kind === 'embedded' && isObject(input) && isObject(stored)) {
      const inner = changedMembers(input, withheldIn(input, field.fields, context), {
        values: stored,
        context,
      });
      if (Object.keys(inner).length > 0) errors[name] = inner;
    } else if (isAsRead(input, field, context)) continue;
    else if (!isSameOutcome(parseMember(body, field, context), parseMember(values, field, context)))
      errors[name] = [WITHHELD];
  }
  return errors;
}

/** Whether two forms of a value, such as `1.50` and `"1.5"`, are the same one. */
function isSameOutcome(one: MemberOutcome, other: MemberOutcome): boolean {
  if (!one || !other || 'nested' in one || 'nested' in other || one.errors || other.errors) return false;
  return isDeepStrictEqual(unordered(one.value), unordered(other.value));
}

/** Related keys in one order. */
function unordered(value: unknown): unknown {
  const keys =
    isObject(value) && value.kind === 'set' ? (value as { keys: readonly ListedKey[] }).keys : undefined;
  return keys ? keys.map(({ key }) => keyText(key)).sort() : value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Yields the values of all fields that the operation writes, and adds the errors of the others. */
function* parseMembers(
  body: Readonly<Record<string, unknown>>,
  { fields, errors }: { readonly fields: readonly Field[]; readonly errors: FieldErrors },
  context: ParseContext,
): Iterable<readonly [string, unknown]> {
  for (const field of fields) {
    const { name } = field;
    const outcome = isWritableIn(field, context.operation) ? parseMember(body, field, context) : undefined;
    if (outcome === undefined) continue;
    if ('nested' in outcome) {
      // Valid values are kept, so that the application's validators also check them.
      errors[name] = outcome.nested;
      yield [name, outcome.validValues];
    } else if (outcome.errors) errors[name] = [...outcome.errors];
    else yield [name, outcome.value];
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
    case 'keys':
      return value ?? null;
    // Added to the representation of any serializer.
    case 'labels':
    case 'counts':
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

/** Adds an error for each unknown name: a hidden field is one of them. */
function addUnknownNames(errors: FieldErrors, body: object, isKnown: (name: string) => boolean): void {
  for (const name of Object.keys(body)) if (!isKnown(name)) errors[name] = ['Unknown field.'];
}

function isExposed(field: Field | undefined): boolean {
  return field !== undefined && (field.readable || isAcceptedInBodies(field));
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
  // Only JSON has numbers with more digits than those of JavaScript.
  const input = isJson(field) ? exactMember(body, field.name) : plainValue(body[field.name]);
  if (input === null || (input === '' && field.kind === 'to-one')) return parseNull(field);
  switch (field.kind) {
    case 'column':
      return parseColumn(input, field);
    case 'embedded':
      return parseEmbedded(input, field, context);
    case 'to-one':
      return parseKeyValue(input, field.relation.target.key);
    case 'keys':
      return parseKeys(input, field, context);
    case 'link':
    case 'reverse-one':
      return parseChildren(input, field, context);
    default:
      return undefined;
  }
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

/** Whether it is what a client reads, or has read before the field had keys: a link, or the key of the only child. It is ignored. */
function isAsRead(input: unknown, field: Field, { resource: { app, model } }: ParseContext): boolean {
  if (field.kind === 'reverse-one')
    return input === null || typeof input === 'string' || typeof input === 'number';
  return (
    (field.kind === 'keys' || field.kind === 'link') &&
    typeof input === 'string' &&
    input.includes(`/${app}/${model}/`) &&
    input.endsWith(`/${field.relation.name}/`)
  );
}

function parseKeys(input: unknown, field: KeysField, context: ParseContext): MemberOutcome {
  if (isAsRead(input, field, context)) return undefined;
  const outcome = parseRelatedKeys(input, field.relation.target.key, context.operation !== 'create');
  return 'nested' in outcome ? { ...outcome, validValues: {} } : outcome;
}

function parseChildren(
  input: unknown,
  field: LinkField | ReverseOneField,
  context: ParseContext,
): MemberOutcome {
  if (!field.nested || isAsRead(input, field, context)) return undefined;
  const outcome = parseNested(input, field.nested, context.operation === 'create');
  return 'nested' in outcome ? { ...outcome, validValues: {} } : outcome;
}

function parseEmbedded(input: unknown, embedded: EmbeddedField, context: ParseContext): MemberOutcome {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return invalid(`Invalid data. Expected a dictionary, but got ${pythonTypeName(input)}.`);
  }
  const { fields } = embedded;
  const errors = emptyFieldErrors();
  if (context.resource.strict)
    addUnknownNames(errors, input, (name) => isExposed(fields.find((each) => each.name === name)));
  const members = input as Readonly<Record<string, unknown>>;
  const values = Object.fromEntries(parseMembers(members, { fields, errors }, context));
  return Object.keys(errors).length > 0 ? { nested: errors, validValues: values } : valid(values);
}
