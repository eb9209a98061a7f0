import { emptyFieldErrors } from '../errors/rest-exception.js';
import type { FieldErrors } from '../errors/rest-exception.js';
import { NESTED_VERBS } from '../schema/field.js';
import type { NestedVerb, NestedWrites } from '../schema/field.js';
import { invalid, valid } from './parse-result.js';
import type { Outcome } from './parse-result.js';
import { parseKeys } from './related-keys.js';
import type { ListedKey } from './related-keys.js';
import { pythonTypeName } from './texts.js';

/** What a body says of the children of an object. Their own fields are not parsed yet. */
export interface NestedBody {
  readonly create: readonly unknown[];
  readonly update: readonly unknown[];
  readonly delete: readonly ListedKey[];
  /** Whether the only child is deleted, whatever its key. */
  readonly deletesOne: boolean;
  /** Whether it has the verbs as members, which are part of the paths of errors. */
  readonly isByVerbs: boolean;
}

type Members = Readonly<Record<string, unknown>>;
type NestedOutcome = Outcome<NestedBody> | { readonly nested: FieldErrors };

const NOTHING: NestedBody = { create: [], update: [], delete: [], deletesOne: false, isByVerbs: false };

const BARE_LIST =
  'Send an object with the members "create", "update" and "delete": a list would not say what becomes of the objects that it leaves out.';
const ONE_VERB = 'Send exactly one of "create", "update" and "delete".';

/** Parses the value of a field that writes children: those of a new object, or the verbs of a change. */
export function parseNested(input: unknown, nested: NestedWrites, isNew: boolean): NestedOutcome {
  if (isNew && !nested.verbs.has('create')) return invalid(notAllowed('create'));
  if (isNew) return nested.isOne ? parseOne(input) : parseList(input);
  if (Array.isArray(input) && !nested.isOne) return invalid(BARE_LIST);
  if (!isObject(input)) return noObject(input);
  return nested.isOne ? parseVerb(input, nested) : parseVerbs(input, nested);
}

function parseOne(input: unknown): NestedOutcome {
  return isObject(input) ? valid({ ...NOTHING, create: [input] }) : noObject(input);
}

function parseList(input: unknown): NestedOutcome {
  return Array.isArray(input) ? valid({ ...NOTHING, create: input as unknown[] }) : noList(input);
}

function parseVerbs(input: Members, nested: NestedWrites): NestedOutcome {
  const errors = memberErrors(input, nested);
  const listOf = (verb: 'create' | 'update'): readonly unknown[] => {
    const given = verb in errors || !Object.hasOwn(input, verb) ? [] : input[verb];
    const outcome = Array.isArray(given) ? undefined : noList(given);
    if (outcome?.errors) errors[verb] = [...outcome.errors];
    return Array.isArray(given) ? (given as unknown[]) : [];
  };
  const [create, update] = [listOf('create'), listOf('update')];
  const keys =
    'delete' in errors || !Object.hasOwn(input, 'delete')
      ? valid([])
      : parseKeys(input.delete, nested.relation.target.key);
  if (keys.errors) errors.delete = [...keys.errors];
  if (Object.keys(errors).length > 0) return { nested: errors };
  return valid({ ...NOTHING, create, update, delete: keys.errors ? [] : keys.value, isByVerbs: true });
}

function parseVerb(input: Members, nested: NestedWrites): NestedOutcome {
  const errors = memberErrors(input, nested);
  if (Object.keys(errors).length > 0) return { nested: errors };
  const [verb, ...more] = NESTED_VERBS.filter((each) => Object.hasOwn(input, each));
  if (verb === undefined || more.length > 0) return invalid(ONE_VERB);
  const value = input[verb];
  if (verb === 'delete')
    return value === true
      ? valid({ ...NOTHING, deletesOne: true, isByVerbs: true })
      : { nested: errorsOf('delete', 'Send true.') };
  if (!isObject(value)) return { nested: errorsOf(verb, ...(noObject(value).errors ?? [])) };
  return valid({ ...NOTHING, [verb]: [value], isByVerbs: true });
}

/** An error for each member that is no verb, or none of the model. */
function memberErrors(input: Members, { verbs }: NestedWrites): FieldErrors {
  const errors = emptyFieldErrors();
  for (const name of Object.keys(input)) {
    const verb = NESTED_VERBS.find((each) => each === name);
    if (verb === undefined) errors[name] = ['Unknown field.'];
    else if (!verbs.has(verb)) errors[name] = [notAllowed(verb)];
  }
  return errors;
}

const METHOD_OF_VERB: Readonly<Record<NestedVerb, string>> = {
  create: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
};

function notAllowed(verb: NestedVerb): string {
  return `Method "${METHOD_OF_VERB[verb]}" not allowed.`;
}

function errorsOf(name: string, ...messages: string[]): FieldErrors {
  const errors = emptyFieldErrors();
  errors[name] = messages;
  return errors;
}

function noObject(input: unknown): Outcome<never> {
  return invalid(`Invalid data. Expected a dictionary, but got ${pythonTypeName(input)}.`);
}

function noList(input: unknown): Outcome<never> {
  return invalid(`Expected a list of items but got type "${pythonTypeName(input)}".`);
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
