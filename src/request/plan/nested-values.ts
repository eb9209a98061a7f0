import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../core/errors/rest-exception.js';
import { isNested } from '../../core/schema/field.js';
import type { Field, NestedField } from '../../core/schema/field.js';
import { MAX_NESTED_WRITES } from '../../core/schema/limits.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Route } from '../../core/schema/route.js';
import type { JsonObject } from '../request-input.js';

/** An error for each value of a body that would write children; undefined if there is none. */
export function refuseNested(
  { fields }: Pick<Resource, 'fields'>,
  body: JsonObject,
  message: string,
): FieldErrors | undefined {
  const found = fields.filter((field): field is NestedField => isNested(field) && namesChildren(body, field));
  if (found.length === 0) return undefined;
  const errors = emptyFieldErrors();
  for (const { name } of found) errors[name] = [message];
  return errors;
}

/** Whether the value is no link or key, which a client sends back as it has read it. */
function namesChildren(body: JsonObject, { name }: NestedField): boolean {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  return typeof value === 'object' && value !== null;
}

/** Throws 400 for children in a body from which several rows, or one that may not be there, are written. */
export function rejectNested({ resource }: Pick<Route, 'resource'>, body: JsonObject, message: string): void {
  const errors = resource.hasNestedWrites ? refuseNested(resource, body, message) : undefined;
  if (errors) throw new InvalidInput(errors);
}

/** Throws 400 where a request with children writes too many rows, before anything of it is validated. */
export function assertFewWrites({ resource }: Pick<Route, 'resource'>, items: readonly unknown[]): void {
  if (!resource.hasNestedWrites) return;
  const counts = items.map((item) => countWrites(item, resource));
  const children = counts.reduce((sum, count) => sum + count.children, 0);
  const others = counts.reduce((sum, count) => sum + count.keys, items.length);
  if (children > 0 && children + others > MAX_NESTED_WRITES) throw InvalidInput.ofNoField(TOO_MANY);
}

const TOO_MANY = `Ensure that the request writes no more than ${MAX_NESTED_WRITES} objects and related keys in all.`;

interface WriteCount {
  readonly children: number;
  readonly keys: number;
}

const NO_WRITES: WriteCount = { children: 0, keys: 0 };

function countWrites(body: unknown, { fields }: Pick<Resource, 'fields'>): WriteCount {
  if (!isObject(body)) return NO_WRITES;
  return fields.reduce((sum, field) => {
    const value = Object.hasOwn(body, field.name) ? body[field.name] : undefined;
    if (typeof value !== 'object' || value === null) return sum;
    if (field.kind === 'keys') return { ...sum, keys: sum.keys + listsIn(value).length };
    if (!isNested(field)) return sum;
    const model = resourceOf(field.nested.relation.target);
    const children = field.nested.isOne ? [value] : listsIn(value);
    // The only child of an object that is changed stands below its verb.
    const below: readonly unknown[] = field.nested.isOne ? Object.values(value) : [];
    const keys = [...children, ...below].reduce<number>((count, child) => count + countKeys(child, model), 0);
    return { children: sum.children + children.length, keys: sum.keys + keys };
  }, NO_WRITES);
}

/** The related keys of one child. */
function countKeys(body: unknown, { fields }: Pick<Resource, 'fields'>): number {
  if (!isObject(body)) return 0;
  return fields.reduce((sum, { kind, name }) => {
    const value = kind === 'keys' && Object.hasOwn(body, name) ? body[name] : undefined;
    return typeof value === 'object' && value !== null ? sum + listsIn(value).length : sum;
  }, 0);
}

/** The items of a list, or of the lists of all members. */
function listsIn(value: object): readonly unknown[] {
  return Array.isArray(value) ? value : Object.values(value).filter(Array.isArray).flat();
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const WITHOUT_NESTED = new WeakMap<Resource, Resource>();

/** The view in which bodies write no children: nested bodies are one level deep. */
export function withoutNested(view: Resource): Resource {
  if (!view.hasNestedWrites) return view;
  const known = WITHOUT_NESTED.get(view);
  if (known) return known;
  const fields = view.fields.map((field): Field => {
    if (!isNested(field)) return field;
    const { nested: _, ...rest } = field;
    return { ...rest, insertable: false, updatable: false };
  });
  const own: Resource = Object.freeze({
    ...view,
    fields,
    fieldsByName: new Map(fields.map((field) => [field.name, field])),
    hasNestedWrites: false,
  });
  WITHOUT_NESTED.set(view, own);
  return own;
}
