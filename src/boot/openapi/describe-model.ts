import type { Field, InnerField } from '../../model/field.js';
import type { Resource } from '../../model/resource.js';
import { isWritable } from '../../model/field.js';
import { bodySchema, exampleKey, exampleValue, keySchema, nullable, valueSchema } from './describe-value.js';
import { mayLack, orExpanded } from './describe-shape.js';
import type { Schema } from './open-api-types.js';

/** What is described of a model: `base` is the path of its collection, where its links stand. */
export interface ModelView {
  readonly resource: Resource;
  readonly base: string;
  /** Whether every caller sees every field. */
  readonly allFields: boolean;
}

/** An object of an answer. A field that some callers may not see need not be there. */
export function representationSchema({ resource, base, allFields }: ModelView): Schema {
  const shown = resource.fields.filter((field) => field.readable);
  const link = `${base}/${encodeURI(String(exampleKey(resource.key)))}`;
  const whole = !mayLack(resource.shape);
  const properties = shown.map((field): readonly [string, Schema] => [field.name, orExpanded(shownField(field, { link, whole }), field, resource.shape)]);
  return objectOf(properties, { title: resource.label, required: allFields && whole ? shown.map(({ name }) => name) : [] });
}

/** The path of the object, and whether all of its fields are always there. */
interface Shown {
  readonly link: string;
  readonly whole: boolean;
}

function shownField(field: Field, object: Shown): Schema {
  const readOnly = isWritable(field) ? {} : { readOnly: true };
  return { title: field.label, ...shownValue(field, object), ...readOnly };
}

function shownValue(field: Field, object: Shown): Schema {
  switch (field.kind) {
    case 'column':
      return { ...orNull(valueSchema(field.type), field), ...examples(exampleValue(field.type, field.label)) };
    case 'embedded': {
      const shown = field.fields.filter((inner) => inner.readable);
      return objectOf(shown.map((inner) => [inner.name, shownField(inner, object)]), { required: object.whole ? shown.map(({ name }) => name) : [] });
    }
    case 'to-one':
    case 'reverse-one':
      return { ...orNull(keySchema(field.relation.target.key), field), ...examples(exampleKey(field.relation.target.key)) };
    case 'link':
      return { type: 'string', format: 'uri-reference', ...examples(`${object.link}/${field.relation.name}/`) };
    case 'computed':
      return {};
    default:
      return field satisfies never;
  }
}

/** The body of a POST, PUT or PATCH. `given` are fields that the URL fills. */
export function requestSchema({ resource }: ModelView, operation: 'create' | 'update' | 'partialUpdate', given: ReadonlySet<string>): Schema {
  const open = resource.fields.filter((field) => !given.has(field.name) && isOpen(field, operation));
  return { ...bodyOf(open, operation), title: `${resource.label}, ${TITLES[operation]}`, ...(resource.strict ? { additionalProperties: false } : {}) };
}

const TITLES = { create: 'to create', update: 'to replace', partialUpdate: 'to change' } as const;

type Writing = keyof typeof TITLES;

function isOpen(field: Field, operation: Writing): boolean {
  return operation === 'create' ? field.insertable : field.updatable;
}

function bodyOf(fields: readonly Field[], operation: Writing): Schema {
  const required = operation === 'partialUpdate' ? [] : fields.filter((field) => field.required).map(({ name }) => name);
  return objectOf(fields.map((field) => [field.name, sentField(field, operation)]), { required });
}

function sentField(field: Field, operation: Writing): Schema {
  return { title: field.label, ...sentValue(field, operation), ...(field.readable ? {} : { writeOnly: true }) };
}

function sentValue(field: Field, operation: Writing): Schema {
  switch (field.kind) {
    case 'column':
      return { ...orNull(bodySchema(field.type, field.blank), field), ...examples(exampleValue(field.type, field.label)) };
    case 'embedded':
      return bodyOf(field.fields.filter((inner: InnerField) => isOpen(inner, operation)), operation);
    case 'to-one':
      return { ...orNull(keySchema(field.relation.target.key), field), ...examples(exampleKey(field.relation.target.key)) };
    case 'reverse-one':
    case 'link':
    case 'computed':
      return {};
    default:
      return field satisfies never;
  }
}

function orNull(schema: Schema, field: Field): Schema {
  return field.nullable ? nullable(schema) : schema;
}

function examples(value: unknown): Schema {
  return { examples: [value] };
}

function objectOf(properties: readonly (readonly [string, Schema])[], { title, required }: { readonly title?: string; readonly required: readonly string[] }): Schema {
  return { type: 'object', ...(title === undefined ? {} : { title }), properties: Object.fromEntries(properties), ...(required.length > 0 ? { required } : {}) };
}
