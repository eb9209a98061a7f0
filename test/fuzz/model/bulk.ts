import type { Json, JsonObject } from '../schema.js';
import { asObject, parseBody } from './bodies.js';
import type { Parsed, WriteContext, WriteKind } from './bodies.js';
import { invalid, refuse, Refusal } from './expected.js';
import type { ErrorFields } from './expected.js';
import { refusedChildren } from './nested.js';
import type { ChildChange } from './nested.js';
import type { KeyChange } from './related-keys.js';
import { keyOfSegment } from './state.js';
import type { Row } from './state.js';

/** The write of one object of a list. */
export interface Item {
  readonly kind: WriteKind;
  readonly values: Readonly<Record<string, Json>>;
  readonly keys: readonly KeyChange[];
  readonly children: readonly ChildChange[];
  /** The row to change. */
  readonly row: Row | undefined;
}

interface Planned {
  readonly item?: Item;
  readonly errors: ErrorFields;
}

export function checkLength(list: readonly Json[], max: number): void {
  if (list.length > max)
    throw invalid({ non_field_errors: [`Ensure this field has no more than ${max} elements.`] });
}

/** Parses the objects of a list, or returns the errors of each (docs/reference/bulk-writes.md). */
export function planItems(
  context: WriteContext,
  list: readonly Json[],
  plan: (context: WriteContext, body: JsonObject) => Planned,
): Item[] {
  checkLength(list, context.resource.options.bulk?.max ?? 100);
  const planned = list.map((each) => {
    try {
      return plan(context, asObject(each));
    } catch (error) {
      if (!(error instanceof Refusal) || error.expected.status !== 400) throw error;
      return { errors: (error.expected.bodies[0] ?? {}) as ErrorFields };
    }
  });
  if (planned.some(({ errors }) => Object.keys(errors).length > 0))
    throw refuse(
      400,
      planned.map(({ errors }) => errors),
    );
  return planned.flatMap(({ item }) => item ?? []);
}

function itemOf(parsed: Parsed, kind: WriteKind, row: Row | undefined): Planned {
  return 'errors' in parsed
    ? { errors: parsed.errors }
    : {
        errors: {},
        item: { kind, values: parsed.values, keys: parsed.keys, children: parsed.children, row },
      };
}

export function planCreate(context: WriteContext, body: JsonObject): Planned {
  return itemOf(parseBody(context, body, { kind: 'create' }), 'create', undefined);
}

/** An object with its key in the body. */
export function planChange(context: WriteContext, body: JsonObject): Planned {
  const { entity } = context.resource;
  const name = entity.key.columns[0]?.name ?? 'id';
  const key = body[name] ?? null;
  if (key === null) return { errors: { [name]: ['This field is required.'] } };
  const row = context.resource.rows().find((each) => each.key === String(key));
  if (!row) {
    // A denial of its children precedes the errors of a list (contract 25.7).
    parseBody(context, body, { kind: 'partialUpdate' });
    return { errors: { [name]: [noObject(String(key))] } };
  }
  return itemOf(parseBody(context, body, { kind: 'partialUpdate', row }), 'partialUpdate', row);
}

/**
 * An object that updates a row, as by PUT, if its upsert fields identify one, and otherwise creates it. `named` has the rows of the
 * preceding objects: a second object for the same row is not validated further (contract 14.7).
 */
export function planUpsert(context: WriteContext, body: JsonObject, named: Set<string>): Planned {
  const refused = refusedChildren(
    context.resource.entity,
    body,
    'Objects are not written by an upsert of the object that has them.',
  );
  if (Object.keys(refused).length > 0) return { errors: refused };
  const names = context.resource.options.bulk?.upsert ?? [];
  const create = parseBody(context, body, { kind: 'create' });
  const values = 'errors' in create ? create.others : create.values;
  const isNamed = names.every((name) => (values[name] ?? null) !== null);
  const text = JSON.stringify(names.map((name) => values[name] ?? null));
  if (isNamed && named.has(text))
    return { errors: { [names[0] ?? '']: ['This object is in the list already.'] } };
  if (isNamed) named.add(text);
  const row = context.resource
    .rows()
    .find((each) => isNamed && names.every((name) => each.values[name] === values[name]));
  return row
    ? itemOf(parseBody(context, body, { kind: 'update', row, isUpsert: true }), 'update', row)
    : itemOf(create, 'create', undefined);
}

/** The rows with these keys, all of which must exist. `checkBody` throws what comes before a key of no object (contract 25.7). */
export function rowsOfKeys(context: WriteContext, keys: string, checkBody?: () => void): Row[] {
  const { resource } = context;
  const texts = [...new Set(keys.split(','))];
  const max = resource.options.bulk?.max ?? 100;
  if (keys.split(',').length > max)
    throw invalid({ keys: [`Ensure this field has no more than ${max} elements.`] });
  const rows = texts.map((text) => {
    const key = keyOfSegment(resource.entity, text);
    return resource.rows().find((row) => row.key === key);
  });
  const missing = texts.filter((_, index) => rows[index] === undefined);
  if (missing.length > 0) {
    checkBody?.();
    throw invalid({ keys: missing.map(noObject) });
  }
  return rows.filter((row) => row !== undefined);
}

function noObject(key: string): string {
  return `Invalid pk "${key}" - object does not exist.`;
}
