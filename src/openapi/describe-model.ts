import type { ColumnField, Field, InnerField } from '../core/schema/field.js';
import { resourceOf } from '../core/schema/resource.js';
import type { Resource } from '../core/schema/resource.js';
import { isNested, isWritableIn, isWritable } from '../core/schema/field.js';
import {
  bodySchema,
  exampleKey,
  exampleValue,
  givenKeySchema,
  keySchema,
  nullableSchema,
  valueSchema,
} from './describe-value.js';
import { fieldColumns } from '../core/query/readable-paths.js';
import { moreMember } from '../core/contracts/field-selection.js';
import type { Expandable } from '../core/contracts/field-selection.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import { childrenBody, relatedKeysBody } from './describe-related.js';
import type { ChildSchema } from './describe-related.js';
import { constrainSchema } from './constrain-schema.js';
import { countsProperty, labelsProperty } from './describe-additions.js';
import type { Schema } from './open-api-types.js';

/** The view of a model that is described; `base` is the path of its collection in links. */
export interface ModelView {
  readonly resource: Resource;
  readonly base: string;
  /** Whether every caller may read all fields. */
  readonly allFields: boolean;
}

/** An object of a response. A field is optional if some callers may not read it. */
export function representationSchema({ resource, base, allFields }: ModelView): Schema {
  const readable = resource.fields.filter((field) => field.readable);
  // Field selection may omit any field.
  const whole = resource.fieldSelection?.fieldsParameter === undefined;
  const properties = readableProperties(resource, {
    base,
    whole,
    expandable: resource.fieldSelection?.expandable ?? NOTHING,
    mayBeCut: resource.fieldSelection?.limitParameter !== undefined,
  });
  return buildObjectSchema(
    [...properties, ...deletionProperty(resource), ...countsProperty(resource), ...labelsProperty(resource)],
    {
      title: resource.className,
      // Keys are left out where the caller may not view the pairs.
      required:
        allFields && whole ? readable.filter(({ kind }) => kind !== 'keys').map(({ name }) => name) : [],
    },
  );
}

/** The date of the deletion, where only deleted objects have it. */
function deletionProperty({ trash, fieldsByName }: Resource): readonly (readonly [string, Schema])[] {
  return (trash?.with.fields ?? []).flatMap((field): readonly (readonly [string, Schema])[] =>
    field.kind === 'column' && fieldsByName.get(field.name)?.readable !== true && field.readable
      ? [[field.name, fieldSchema(field, { link: '', whole: false })]]
      : [],
  );
}

const NOTHING: Expandable = new Map();

/** The representation of an object: its path, whether all fields are present, and the expandable relations. */
interface ObjectSchemaOptions {
  readonly base: string;
  readonly whole: boolean;
  readonly expandable: Expandable;
  /** Whether expanded lists take a limit. */
  readonly mayBeCut: boolean;
}

function readableProperties(
  resource: Resource,
  { base, whole, expandable, mayBeCut }: ObjectSchemaOptions,
): readonly (readonly [string, Schema])[] {
  const link = `${base}/${encodeURI(String(exampleKey(resource.key)))}`;
  return resource.fields
    .filter((field) => field.readable)
    .flatMap((field): readonly (readonly [string, Schema])[] => {
      const schema = fieldSchema(field, { link, whole });
      const nested = expandable.get(field.name);
      const target = nested && expandedTo(field);
      if (!target) return [[field.name, schema]];
      const object = expandedObject(target, {
        base: base.slice(0, -`${resource.app}/${resource.model}`.length) + `${target.app}/${target.model}`,
        expandable: nested,
        mayBeCut,
      });
      return [
        [field.name, orExpanded(schema, field, object)],
        ...(mayBeCut && isList(field) ? [[moreMember(field.name), CUT] as const] : []),
      ];
    });
}

const CUT: Schema = {
  const: true,
  readOnly: true,
  description: 'The expanded list is cut: there are more objects than its limit.',
};

function isList({ kind }: Field): boolean {
  return kind === 'link' || kind === 'keys';
}

/** A key or link, or the expanded object or array of objects. */
function orExpanded(schema: Schema, field: Field, object: Schema): Schema {
  const { title, readOnly, examples, ...plain } = schema;
  const outer = Object.fromEntries(
    Object.entries({ title, readOnly, examples }).filter(([, value]) => value !== undefined),
  );
  return { ...outer, anyOf: [plain, isList(field) ? { type: 'array', items: object } : object] };
}

/** An expanded object, in which any field may be missing. The schema of a custom serializer is unknown. */
function expandedObject(target: Resource, options: Omit<ObjectSchemaOptions, 'whole'>): Schema {
  if (target.serializer.represent !== ModelSerializer.prototype.represent) return { type: 'object' };
  return buildObjectSchema(readableProperties(target, { ...options, whole: false }), { required: [] });
}

/** The resource of an expanded field: for a many-to-many the through objects. */
function expandedTo(field: Field): Resource | undefined {
  if (field.kind === 'to-one' || field.kind === 'reverse-one') return resourceOf(field.relation.target);
  if (field.kind !== 'link' && field.kind !== 'keys') return undefined;
  return resourceOf(
    field.relation.kind === 'one-to-many' ? field.relation.target : field.relation.through.resource,
  );
}

/** The path of the object, and whether all fields are always present. */
interface FieldOptions {
  readonly link: string;
  readonly whole: boolean;
}

function fieldSchema(field: Field, object: FieldOptions): Schema {
  const readOnly = isWritable(field) ? {} : { readOnly: true };
  return { title: field.label, ...fieldValueSchema(field, object), ...readOnly };
}

function fieldValueSchema(field: Field, object: FieldOptions): Schema {
  switch (field.kind) {
    case 'column':
      return {
        ...(isNullable(field) ? nullableSchema(valueSchema(field.type)) : valueSchema(field.type)),
        ...examples(exampleValue(field.type, field.label)),
      };
    case 'embedded': {
      const readable = field.fields.filter((inner) => inner.readable);
      return buildObjectSchema(
        readable.map((inner) => [inner.name, fieldSchema(inner, object)]),
        { required: object.whole ? readable.map(({ name }) => name) : [] },
      );
    }
    case 'to-one':
    case 'reverse-one':
      return {
        ...(isNullable(field)
          ? nullableSchema(keySchema(field.relation.target.key))
          : keySchema(field.relation.target.key)),
        ...examples(exampleKey(field.relation.target.key)),
      };
    case 'link':
      return {
        type: 'string',
        format: 'uri-reference',
        ...examples(`${object.link}/${field.relation.name}/`),
      };
    case 'keys':
      return { type: 'array', items: keySchema(field.relation.target.key) };
    case 'computed':
    case 'labels':
    case 'counts':
      return {};
    default:
      return field satisfies never;
  }
}

/** A foreign key with two properties may be nullable in only one of them: bodies follow the stricter one, existing rows the other. */
function isNullable(field: Field): boolean {
  if (field.nullable) return true;
  if (field.kind === 'column') return field.aliasOf !== undefined && field.column.nullable;
  return (
    field.kind === 'to-one' &&
    field.foreignKeyAlias !== undefined &&
    field.relation.on.some(({ localColumn }) => localColumn.nullable)
  );
}

/** The body of a POST, PUT or PATCH. `given` are fields that the URL sets. */
export function requestSchema(
  resource: Resource,
  operation: Writing,
  { given, childSchema = () => ({ type: 'object' }) }: BodyOptions,
): Schema {
  const open = resource.fields.filter((field) => !given.has(field.name) && isWritableIn(field, operation));
  const children = open
    .filter(isNested)
    .map((field) => [field.name, childrenBody(field, operation, childSchema)] as const);
  const body = bodyFieldsSchema(open, operation);
  return {
    ...body,
    ...(children.length > 0
      ? {
          properties: {
            ...(body.properties as Readonly<Record<string, Schema>>),
            ...Object.fromEntries(children),
          },
        }
      : {}),
    title: `${resource.className}, ${TITLES[operation]}`,
    ...(resource.strict ? { additionalProperties: false } : {}),
  };
}

/** What is known of a body beside its model. */
export interface BodyOptions {
  /** The fields that the URL sets. */
  readonly given: ReadonlySet<string>;
  /** The schema of a child in it. */
  readonly childSchema?: ChildSchema;
}

const TITLES = { create: 'to create', update: 'to replace', partialUpdate: 'to change' } as const;

type Writing = keyof typeof TITLES;

function bodyFieldsSchema(fields: readonly Field[], operation: Writing): Schema {
  const needed = operation === 'partialUpdate' ? [] : fields.filter((field) => field.required);
  const others = new Map(
    needed.flatMap((field): readonly [Field, readonly string[]][] => {
      const names = substitutes(field, fields);
      return names.length > 0 ? [[field, names]] : [];
    }),
  );
  return {
    ...buildObjectSchema(
      fields.map((field) => [field.name, bodyFieldSchema(field, operation)]),
      { required: needed.filter((field) => !others.has(field)).map(({ name }) => name) },
    ),
    ...(others.size > 0
      ? {
          allOf: [...others].map(([{ name }, names]) => ({
            anyOf: [name, ...names].map((each) => ({ required: [each], properties: { [each]: {} } })),
          })),
        }
      : {}),
  };
}

/**
 * The fields that a body may have in the place of a relation, or of a column of a relation and the key: the plain column, and relations
 * that have all of its columns.
 */
function substitutes(field: Field, fields: readonly Field[]): readonly string[] {
  if (field.kind !== 'to-one' && field.kind !== 'column') return [];
  const columns = fieldColumns(field);
  const containing = fields.filter(
    (other) =>
      other !== field && other.kind === 'to-one' && columns.every((id) => fieldColumns(other).includes(id)),
  );
  return [
    ...(field.kind === 'column' || field.foreignKeyAlias === undefined ? [] : [field.foreignKeyAlias]),
    ...containing.map(({ name }) => name),
  ];
}

function bodyFieldSchema(field: Field, operation: Writing): Schema {
  const alias = field.kind === 'column' ? field.aliasOf : undefined;
  return {
    title: field.label,
    ...bodyValueSchema(field, operation),
    ...(alias ? { readOnly: true, description: `May be sent in the place of \`${alias.relation}\`.` } : {}),
    ...(field.readable || alias ? {} : { writeOnly: true }),
  };
}

function bodyValueSchema(field: Field, operation: Writing): Schema {
  switch (field.kind) {
    case 'column':
      return {
        ...orNull(constrainedBody(field), { nullable: field.nullable && field.rules?.refusesNull !== true }),
        ...(field.rules ? {} : examples(exampleValue(field.type, field.label))),
      };
    case 'embedded':
      return bodyFieldsSchema(
        field.fields.filter((inner: InnerField) => isWritableIn(inner, operation)),
        operation,
      );
    case 'to-one':
      return {
        ...orNull(givenKeySchema(field.relation.target.key), field),
        ...examples(exampleKey(field.relation.target.key)),
      };
    case 'keys':
      return relatedKeysBody(field, operation);
    case 'reverse-one':
    case 'link':
    case 'computed':
    case 'labels':
    case 'counts':
      return {};
    default:
      return field satisfies never;
  }
}

function constrainedBody({ type, blank, rules }: ColumnField): Schema {
  const schema = bodySchema(type, blank);
  return rules ? constrainSchema(schema, type, rules) : schema;
}

function orNull(schema: Schema, field: Pick<Field, 'nullable'>): Schema {
  return field.nullable ? nullableSchema(schema) : schema;
}

function examples(value: unknown): Schema {
  return { examples: [value] };
}

function buildObjectSchema(
  properties: readonly (readonly [string, Schema])[],
  { title, required }: { readonly title?: string; readonly required: readonly string[] },
): Schema {
  return {
    type: 'object',
    ...(title === undefined ? {} : { title }),
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
  };
}
