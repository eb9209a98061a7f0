import type { ModelLabels } from '../core/schema/object-label.js';
import type { FieldDescription, ChoiceDescription } from '../core/contracts/field-description.js';
import { DESCRIPTION_MEDIA_TYPE } from '../core/contracts/route-description.js';
import type {
  AggregatesDescription,
  ActionDescription,
  BulkDescription,
  ChildrenDescription,
  ConditionalDescription,
  DeletionDescription,
  FilterDescription,
  IndexDescription,
  IndexedModel,
  NestedDescription,
  OrderingDescription,
  PaginationParameters,
  ParentDescription,
  ReadableFieldDescription,
  RelationDescription,
  RouteDescription,
  SearchDescription,
  ShapeDescription,
  TrashDescription,
} from '../core/contracts/route-description.js';
import type { Route } from '../core/schema/route.js';
import { knownAccess, securityOf } from './describe-access.js';
import { ALLOW, errorReferences } from './describe-errors.js';
import type { PossibleErrors } from './describe-errors.js';
import { operationIdOfOptions, tagOf } from './describe-operation.js';
import { pathParameters } from './describe-parameters.js';
import { accessErrors } from './describe-responses.js';
import { JSON_TYPE } from './described-route.js';
import type { DescribedPlace } from './described-route.js';
import type { OperationObject, Reference, Response, Schema } from './open-api-types.js';

const ROUTE: Reference = { $ref: '#/components/schemas/RestifyRouteDescription' };
const FIELD: Reference = { $ref: '#/components/schemas/RestifyFieldDescription' };
const READABLE: Reference = { $ref: '#/components/schemas/RestifyReadableField' };
const CHOICE: Reference = { $ref: '#/components/schemas/RestifyChoice' };

/** Describes OPTIONS of one URL. */
export function describeOptions(route: Route, place: DescribedPlace): OperationObject {
  const { resource } = route;
  const access = knownAccess(resource.permission, 'OPTIONS');
  const security = securityOf(resource, access, place.hasSecurity);
  const parameters = pathParameters(route, undefined);
  const errors: PossibleErrors = {
    ...accessErrors({ route, method: 'GET', operation: 'retrieve', action: undefined }, access),
    // The text of a key may be invalid, though no row is read.
    404: parameters.length > 0,
    406: true,
    500: true,
    503: true,
  };
  return {
    operationId: operationIdOfOptions(route, place),
    summary: `Describe the URL: ${(route.parent ?? resource).className}`,
    description: `What the caller may read, write and query. GET with \`Accept: ${DESCRIPTION_MEDIA_TYPE}\` has the same body, except where GET is a method of the application.`,
    tags: [tagOf(route)],
    parameters,
    responses: { 200: descriptionResponse(ROUTE), ...errorReferences(errors, place.errorFormat) },
    ...(security ? { security } : {}),
  };
}

/** The response with a description, in both of its media types. */
function descriptionResponse(schema: Schema): Response {
  return {
    description: 'The description.',
    headers: { Allow: ALLOW },
    content: { [JSON_TYPE]: { schema }, [DESCRIPTION_MEDIA_TYPE]: { schema } },
  };
}

export const INDEX_DESCRIPTION: Response = descriptionResponse({
  $ref: '#/components/schemas/RestifyIndexDescription',
});

const TEXT: Schema = { type: 'string' };
const FLAG: Schema = { type: 'boolean' };
const COUNT: Schema = { type: 'integer' };
const TRUE: Schema = { type: 'boolean', enum: [true] };
const NULLABLE_TEXT: Schema = { type: ['string', 'null'] };

const listOf = (items: Schema): Schema => ({ type: 'array', items });
const byName = (value: Schema): Schema => ({ type: 'object', additionalProperties: value });

/** The names of a type's members, an optional one with `?` at its end. */
type MarkedName<Described, Name extends keyof Described & string> = undefined extends Described[Name]
  ? `${Name}?`
  : Name;

/** The schema of an object: the names are those of its type, and all are required except the marked ones. */
function objectOf<Described>(
  members: { readonly [Name in keyof Described & string as MarkedName<Described, Name>]: Schema },
  title?: string,
): Schema {
  const names = Object.keys(members);
  return {
    type: 'object',
    ...(title === undefined ? {} : { title }),
    properties: Object.fromEntries(
      Object.entries<Schema>(members).map(([name, schema]) => [name.replace('?', ''), schema]),
    ),
    required: names.filter((name) => !name.endsWith('?')),
  };
}

const AGGREGATES = objectOf<AggregatesDescription>({
  parameter: TEXT,
  group: TEXT,
  having: TEXT,
  tz: TEXT,
  groups: listOf(objectOf<AggregatesDescription['groups'][number]>({ name: TEXT, choices: listOf(TEXT) })),
  measures: listOf(TEXT),
  ordering: listOf(TEXT),
  'min_group?': COUNT,
});

const FILTER = objectOf<FilterDescription>({
  name: { ...TEXT, description: 'The query parameter.' },
  field: { ...TEXT, description: 'The path of fields that it compares.' },
  lookup: TEXT,
  type: TEXT,
  list: { ...FLAG, description: 'Whether it takes several values, separated by commas.' },
  'choices?': listOf(CHOICE),
});

const ORDERING = objectOf<OrderingDescription>({
  parameter: TEXT,
  fields: {
    ...listOf(TEXT),
    description: 'The names that the parameter takes, each also with `-` before it.',
  },
  default: listOf(TEXT),
  indexed: { ...listOf(TEXT), description: 'The names whose order an index serves.' },
  'rank?': { ...TEXT, description: 'The name that orders by rank, in a search alone.' },
});

const PAGINATION = objectOf<PaginationParameters>({
  kind: { type: 'string', enum: ['page-number', 'limit-offset', 'cursor', 'custom'] },
  parameters: listOf(TEXT),
  'position?': TEXT,
  'size?': TEXT,
  'page_size?': COUNT,
  'max_page_size?': COUNT,
  'count?': TEXT,
  'counts?': { type: 'string', enum: ['exact', 'estimated'] },
  'count_up_to?': COUNT,
  'rows?': { ...TEXT, description: 'The member of the body that holds the objects.' },
});

const DELETION = objectOf<DeletionDescription>({
  cascade: listOf(TEXT),
  change: listOf(TEXT),
  restrict: listOf(TEXT),
  'labels?': byName(TEXT),
});

const BULK = objectOf<BulkDescription>({
  methods: listOf({ type: 'string', enum: ['POST', 'PATCH', 'DELETE'] }),
  max: COUNT,
  keys: TEXT,
  'upsert?': TEXT,
  'change?': byName(FIELD),
});

const NESTED = objectOf<NestedDescription>({ name: TEXT, label: TEXT, through: FLAG });
const ACTION = objectOf<ActionDescription>({
  name: TEXT,
  object: FLAG,
  methods: listOf(TEXT),
  'body?': byName(FIELD),
});
const RELATION = objectOf<RelationDescription>({
  url: NULLABLE_TEXT,
  'composite?': TRUE,
  label: NULLABLE_TEXT,
  'children?': objectOf<ChildrenDescription>({ verbs: listOf(TEXT), given: listOf(TEXT) }),
});
const INDEXED_MODEL = objectOf<IndexedModel>({
  app: TEXT,
  model: TEXT,
  label: TEXT,
  description: TEXT,
  url: TEXT,
});

/** The schemas of descriptions, and of what they refer to. */
export const DESCRIPTION_SCHEMAS: Readonly<Record<string, Schema>> = {
  RestifyRouteDescription: objectOf<RouteDescription>(
    {
      name: TEXT,
      description: TEXT,
      renders: listOf(TEXT),
      parses: listOf(TEXT),
      actions: {
        type: 'object',
        description: 'The fields that the caller may write, by method.',
        properties: { POST: byName(FIELD), PUT: byName(FIELD) },
      },
      kind: TEXT,
      methods: { ...listOf(TEXT), description: 'The methods that the caller may use.' },
      'labels?': objectOf<ModelLabels>({ one: TEXT, many: TEXT }),
      'label?': { ...TEXT, description: 'The template of labels of objects.' },
      'key?': listOf(TEXT),
      'key_is_text?': TRUE,
      'objects?': TEXT,
      'parent?': objectOf<ParentDescription>({ field: TEXT, 'create?': TEXT }),
      fields: byName(READABLE),
      filters: listOf(FILTER),
      'groups?': TEXT,
      'ordering?': ORDERING,
      'search?': objectOf<SearchDescription>({ parameter: TEXT }),
      'pagination?': PAGINATION,
      'aggregates?': AGGREGATES,
      nested: listOf(NESTED),
      custom: listOf(ACTION),
      relations: byName(RELATION),
      'deletion?': DELETION,
      'trash?': objectOf<TrashDescription>({
        'parameter?': TEXT,
        'date?': TEXT,
        restore: FLAG,
        purge: FLAG,
        'deletion?': DELETION,
      }),
      'bulk?': BULK,
      'conditional?': objectOf<ConditionalDescription>({ require: FLAG }),
      'idempotency?': objectOf<NonNullable<RouteDescription['idempotency']>>({ header: TEXT }),
      'shape?': objectOf<ShapeDescription>({
        'fields?': TEXT,
        'omit?': TEXT,
        'expand?': TEXT,
        'limit?': TEXT,
      }),
      'with?': TEXT,
      'counts?': objectOf<NonNullable<RouteDescription['counts']>>({
        parameter: TEXT,
        lists: { type: 'array', items: TEXT },
      }),
      'formats?': objectOf<NonNullable<RouteDescription['formats']>>({
        parameter: TEXT,
        names: byName(TEXT),
      }),
    },
    'Description of a URL',
  ),
  RestifyIndexDescription: objectOf<IndexDescription>(
    {
      name: TEXT,
      description: TEXT,
      renders: listOf(TEXT),
      parses: listOf(TEXT),
      actions: { type: 'object' },
      models: listOf(INDEXED_MODEL),
      caller: objectOf<IndexDescription['caller']>({
        authenticated: FLAG,
        label: NULLABLE_TEXT,
        refused: FLAG,
      }),
    },
    'Description of an index',
  ),
  RestifyFieldDescription: objectOf<FieldDescription>(
    {
      type: TEXT,
      required: FLAG,
      read_only: FLAG,
      label: TEXT,
      'max_length?': COUNT,
      'min_length?': COUNT,
      'min_value?': { type: 'number' },
      'max_value?': { type: 'number' },
      'choices?': listOf(CHOICE),
      'children?': byName(FIELD),
    },
    'A field that can be written',
  ),
  RestifyReadableField: objectOf<ReadableFieldDescription>(
    { kind: TEXT, label: TEXT, nullable: FLAG, 'choices?': listOf(CHOICE), 'children?': byName(READABLE) },
    'A field that can be read',
  ),
  RestifyChoice: objectOf<ChoiceDescription>(
    { value: { type: ['string', 'number'] }, display_name: TEXT },
    'A choice',
  ),
};
