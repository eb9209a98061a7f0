import { KEYS_PARAMETER, UPSERT_PARAMETER } from '../core/contracts/bulk.js';
import { COUNTS_MEMBER } from '../core/contracts/field-selection.js';
import type { Expandable, FieldSelection } from '../core/contracts/field-selection.js';
import { FORMAT_PARAMETER } from '../core/contracts/renderer.js';
import type { RouteAction } from '../core/schema/action.js';
import type { Field } from '../core/schema/field.js';
import { MAX_IDEMPOTENCY_KEY, MAX_PRECONDITION } from '../core/schema/limits.js';
import { LABELS_MEMBER } from '../core/schema/object-label.js';
import { parameterName } from '../core/schema/resource-schema.js';
import { resourceOf } from '../core/schema/resource.js';
import type { Resource } from '../core/schema/resource.js';
import { DELETED_ROWS } from '../core/schema/operation.js';
import { trashParameters } from '../core/schema/trash.js';
import type { Key } from '../core/schema/resource-schema.js';
import type { Route } from '../core/schema/route.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import { describeAggregateParameters } from './describe-aggregates.js';
import { describeList, filterParameters } from './describe-list.js';
import { exampleKey, keySchema, pathKeySchema } from './describe-value.js';
import { amountOf, formatsOf, isConditional, isRepeatable } from './described-route.js';
import type { DescribedPlace, DescribedRoute } from './described-route.js';
import { describeParameter } from './open-api-types.js';
import type { Parameter, Schema } from './open-api-types.js';

/** The parameters of one method of one URL: of the path, the query and the header. */
export function describeParameters(
  described: DescribedRoute,
  { listParameters: known }: Pick<DescribedPlace, 'listParameters'>,
): readonly Parameter[] {
  const { route, action, operation } = described;
  const { resource } = route;
  const isRead = operation === 'list' || operation === 'retrieve';
  return [
    ...pathParameters(route, action),
    ...(operation === 'list' ? listParameters(resource, known) : bulkParameters(described)),
    ...(operation && operation !== 'destroy' && operation !== 'purge' ? shapeParameters(resource) : []),
    ...(isRead ? [...addingParameters(resource), ...deletedParameters(resource)] : []),
    ...formatParameters(described),
    ...conditionParameters(described),
    ...keyParameters(described),
  ];
}

/** The parameters in the path: the key of the object, and that of a through object. */
export function pathParameters(
  { kind, resource, parent }: Route,
  action: RouteAction | undefined,
): readonly Parameter[] {
  if (kind === 'collection' || kind === 'collection-action') return [];
  const pk = pathParameter('pk', (parent ?? resource).key, `The key: ${(parent ?? resource).className}`);
  if (kind !== 'through-object') return [pk];
  const any = action !== undefined && action.operation === undefined;
  return [pk, pathParameter('childId', any ? undefined : resource.key, 'The key of the through object')];
}

/** `key` is undefined where any text names an object. */
function pathParameter(name: string, key: Pick<Key, 'columns'> | undefined, description: string): Parameter {
  const schema: Schema = key ? pathKeySchema(key) : { type: 'string' };
  return describeParameter('path', name, { description, schema, example: key ? exampleKey(key) : 'key' });
}

/** Described once for all URLs with rows of the resource. */
function listParameters(
  resource: Resource,
  described: DescribedPlace['listParameters'],
): readonly Parameter[] {
  const parameters = described.get(resource) ?? [
    ...filterParameters(resource),
    ...describeList(resource, {}).parameters,
    ...describeAggregateParameters(resource),
  ];
  described.set(resource, parameters);
  return parameters;
}

/** The query parameters that select the objects of a bulk write. */
function bulkParameters(described: DescribedRoute): readonly Parameter[] {
  const { resource } = described.route;
  const amount = amountOf(described);
  if (amount === 'many') return [keysParameter(resource), ...filterParameters(resource).map(notEmpty)];
  const upsert = resource.bulk?.upsert ?? [];
  if (amount === 'one' || described.operation !== 'create' || upsert.length === 0) return [];
  return [
    describeParameter('query', parameterName(UPSERT_PARAMETER, resource), {
      schema: { type: 'boolean' },
      description: `An object with the same ${upsert.map((name) => `\`${name}\``).join(' and ')} is updated if it exists.`,
    }),
  ];
}

/** Requires a value: elsewhere an empty parameter is ignored, but here that would select all objects. Applies to each value of a repeated parameter. */
function notEmpty(parameter: Parameter): Parameter {
  const { schema } = parameter;
  const { items } = schema;
  if (schema.type === 'array' && isTextSchema(items))
    return { ...parameter, schema: { ...schema, items: { minLength: 1, ...items } } };
  return isTextSchema(schema) ? { ...parameter, schema: { minLength: 1, ...schema } } : parameter;
}

function isTextSchema(schema: unknown): schema is Schema {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'string';
}

/** A key in a comma-separated list. */
function listedKeySchema(key: Resource['key']): Schema {
  const schema = keySchema(key);
  const isFree = schema.type === 'string' && schema.format === undefined && schema.pattern === undefined;
  return isFree ? { ...schema, pattern: '^[^,]+$' } : schema;
}

function keysParameter(resource: Resource): Parameter {
  const { key, bulk } = resource;
  const isSingle = key.columns.length === 1;
  return {
    name: parameterName(KEYS_PARAMETER, resource),
    in: 'query',
    description: isSingle
      ? 'The keys of the objects, with commas between them.'
      : 'The keys of the objects, as they stand in their URLs, with semicolons between them.',
    schema: isSingle
      ? { type: 'array', items: listedKeySchema(key), minItems: 1, ...(bulk ? { maxItems: bulk.max } : {}) }
      : { type: 'string' },
    ...(isSingle ? { style: 'form', explode: false } : {}),
    required: false,
  };
}

/** The query parameters for field selection and expansion. */
function shapeParameters(resource: Resource): readonly Parameter[] {
  const { fieldSelection } = resource;
  if (!fieldSelection) return [];
  const known = fieldNamesSchema(resource);
  const parameters: readonly (readonly [string | undefined, string, Schema])[] = [
    [
      fieldSelection.fieldsParameter,
      'Only these fields; a dotted path selects a field of a nested object.',
      known,
    ],
    [
      fieldSelection.omitParameter,
      'All fields except these; a dotted path selects a field of a nested object.',
      known,
    ],
    [
      fieldSelection.expandParameter,
      'Related objects in place of their keys and links, if the caller may see them.',
      { enum: expandablePaths(fieldSelection.expandable) },
    ],
  ];
  return parameters
    .flatMap(([name, description, names]) => {
      const schema: Schema = { type: 'array', items: { type: 'string', ...names } };
      return name === undefined ? [] : [describeParameter('query', name, { description, schema })];
    })
    .concat(expansionParameters(resource, fieldSelection, ''));
}

/** The parameters of expanded lists: those of the lists themselves, and a limit, behind the path. */
function expansionParameters(
  owner: Resource,
  selection: Pick<FieldSelection, 'limitParameter' | 'expandable' | 'maxChildren'>,
  within: string,
): readonly Parameter[] {
  const { limitParameter, expandable, maxChildren } = selection;
  if (limitParameter === undefined) return [];
  return [...expandable].flatMap(([name, nested]) => {
    const field = owner.fieldsByName.get(name);
    if (!field?.readable || !('relation' in field)) return [];
    const { relation } = field;
    const target = resourceOf(relation.kind === 'many-to-many' ? relation.through.resource : relation.target);
    const path = `${within}${name}.`;
    const isList = relation.kind === 'one-to-many' || relation.kind === 'many-to-many';
    const own = isList ? filterParameters(target).map((each) => ({ ...each, name: path + each.name })) : [];
    const limit = describeParameter('query', path + limitParameter, {
      description: `How many objects \`${path.slice(0, -1)}\` has at most, where it is expanded; more than ${maxChildren} are reduced to it.`,
      schema: { type: 'integer', minimum: 1 },
    });
    return [
      ...(isList ? [...own, limit] : []),
      ...expansionParameters(target, { ...selection, expandable: nested }, path),
    ];
  });
}

/** A strict model rejects unknown names, unless a custom serializer has names of its own. */
function fieldNamesSchema({ strict, fields, serializer }: Resource): Schema {
  if (!strict || serializer.represent !== ModelSerializer.prototype.represent) return {};
  return { pattern: `^${patternOf(fields)}$` };
}

/** Names after a relation are not restricted. */
function patternOf(fields: readonly Field[]): string {
  const patterns = fields
    .filter(({ readable }) => readable)
    .map((field) => {
      const name = field.name.replaceAll('$', '\\$');
      if ('relation' in field) return `${name}(\\..+)?`;
      return field.kind === 'embedded' ? `${name}(\\.${patternOf(field.fields)})?` : name;
    });
  return `(${patterns.join('|')})`;
}

function expandablePaths(expandable: Expandable, within = ''): readonly string[] {
  return [...expandable].flatMap(([name, nested]) => [
    within + name,
    ...expandablePaths(nested, `${within}${name}.`),
  ]);
}

/** The query parameter that adds the labels of related objects, their numbers, or both. */
function addingParameters({ labelsParameter, counts }: Resource): readonly Parameter[] {
  const labels = `\`${LABELS_MEMBER}\` adds the labels of related objects that the caller may see.`;
  if (!counts)
    return labelsParameter === undefined
      ? []
      : [
          describeParameter('query', labelsParameter, {
            description: labels,
            schema: { type: 'string', enum: [LABELS_MEMBER] },
          }),
        ];
  const numbers = `\`${COUNTS_MEMBER}\` adds the numbers of related objects that the caller may see.`;
  const values = labelsParameter === undefined ? [COUNTS_MEMBER] : [LABELS_MEMBER, COUNTS_MEMBER];
  return [
    describeParameter('query', counts.parameter, {
      description: labelsParameter === undefined ? numbers : `${labels} ${numbers}`,
      schema: { type: 'array', items: { type: 'string', enum: values } },
    }),
  ];
}

/** The query parameter that shows deleted objects. */
function deletedParameters(resource: Resource): readonly Parameter[] {
  return trashParameters(resource).map((name) =>
    describeParameter('query', name, {
      description:
        'Deleted objects: `only` these, or `with` the others. It needs a right of its own; each object has the date of its deletion.',
      schema: { type: 'string', enum: [...DELETED_ROWS] },
    }),
  );
}

function formatParameters(described: DescribedRoute): readonly Parameter[] {
  const formats = formatsOf(described).map(({ format }) => format);
  if (formats.length === 0) return [];
  return [
    describeParameter('query', parameterName(FORMAT_PARAMETER, described.route.resource), {
      schema: { type: 'string', enum: ['json', ...formats] },
      description: 'The format of the response; it has precedence over the Accept header.',
    }),
  ];
}

/** The header parameters of conditional requests. */
function conditionParameters(described: DescribedRoute): readonly Parameter[] {
  const { operation, route } = described;
  if (!isConditional(described) || operation === 'create') return [];
  const required = route.resource.conditional?.require === true ? ' One of the conditions must be said.' : '';
  const conditions: Readonly<Record<string, string>> =
    operation === 'retrieve'
      ? { 'If-None-Match': 'An ETag that the caller has: 304 where the object is still in that state.' }
      : {
          'If-Match': `The ETag of the state that is meant: 412 where the object is in another one.${required}`,
          'If-Unmodified-Since':
            'A date behind which the object was not changed, where If-Match is left out: else 412.',
        };
  const schema: Schema = { type: 'string', maxLength: MAX_PRECONDITION };
  return Object.entries(conditions).map(([name, description]) =>
    describeParameter('header', name, { schema, description }),
  );
}

/** The idempotency key. With quotes it is longer, and each character may be escaped. */
function keyParameters(described: DescribedRoute): readonly Parameter[] {
  if (!isRepeatable(described)) return [];
  const creates = described.operation === 'create';
  const parameter = describeParameter('header', 'Idempotency-Key', {
    schema: { type: 'string', minLength: 1, maxLength: 2 * MAX_IDEMPOTENCY_KEY + 2 },
    description: creates
      ? 'A unique key for each new object, such as a UUID. A repeated request with the same key does not create the object again.'
      : 'A unique key, such as a UUID. A repeated request with the same key gets the response of the first one.',
  });
  return [{ ...parameter, required: creates && described.route.resource.idempotency?.require === true }];
}
