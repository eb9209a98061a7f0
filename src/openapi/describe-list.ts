import { LOOKUP_RULES } from '../core/query/lookups.js';
import { outwardType } from '../core/schema/column.js';
import type { QueryLimits } from '../core/schema/limits.js';
import type { PaginationDescription } from '../core/contracts/pagination.js';
import type { FieldTerm } from '../core/schema/resource-schema.js';
import type { Resource } from '../core/schema/resource.js';
import type { DataType } from '../core/schema/data-type.js';
import { findFilterParameters } from '../features/filtering/filter-parameters.js';
import type { FilterParameter } from '../features/filtering/filter-parameters.js';
import { groupOrders } from '../features/aggregates/parse-aggregates.js';
import { groupSchema } from './describe-aggregates.js';
import { exampleKey, keySchema, textSchema, valueSchema } from './describe-value.js';
import { describeParameter } from './open-api-types.js';
import type { Parameter, Response, Schema } from './open-api-types.js';

/** The schema of a list response, its headers, and the parameters of pagination. */
export interface ListShape {
  readonly schema: Schema;
  readonly parameters: readonly Parameter[];
  readonly headers: NonNullable<Response['headers']>;
  /** Whether a page may not exist (404). */
  readonly missing: boolean;
}

/** A list is complete, or a page (contract 4.12). */
export function describeList(resource: Resource, item: Schema): ListShape {
  const { aggregates } = resource;
  const rows = describeRows(resource, item);
  if (!aggregates) return rows;
  const groups = describeRows(resource, groupSchema(aggregates, resource));
  return {
    ...rows,
    schema: { anyOf: [rows.schema, groups.schema] },
    headers: { ...rows.headers, ...(aggregates.minGroup !== undefined && { 'X-Groups-Omitted': OMITTED }) },
  };
}

const OMITTED = {
  description: '`true` where groups are left out because they are too small.',
  schema: { type: 'string', enum: ['true'] },
} as const;

function describeRows({ pagination }: Resource, item: Schema): ListShape {
  const rows: Schema = { type: 'array', items: item };
  if (!pagination) return { schema: rows, parameters: [], headers: {}, missing: false };
  const described = pagination.describe?.();
  if (!described)
    return {
      schema: {},
      parameters: pagination
        .parameters()
        .map((name) => describeParameter('query', name, { schema: { type: 'string' } })),
      headers: {},
      missing: true,
    };
  const { parameters, headers = {}, envelope, missing } = described;
  return {
    schema: envelope ? envelopeSchema(envelope, rows) : rows,
    parameters: Object.entries(parameters).map(([name, { description, schema }]) => ({
      ...describeParameter('query', name, { schema }),
      description,
    })),
    headers,
    missing,
  };
}

function envelopeSchema(
  { members, optional, rows: name }: NonNullable<PaginationDescription['envelope']>,
  rows: Schema,
): Schema {
  const properties = { ...members, [name]: rows };
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter((each) => !optional.includes(each)),
  };
}

/** The query parameters of a model's filter backends, each once. */
export function filterParameters(resource: Resource): readonly Parameter[] {
  const { queryLimits: limits } = resource;
  return findFilterParameters(resource).map((parameter) => {
    const { name } = parameter;
    const describe = (schema: Schema): Parameter => describeParameter('query', name, { schema });
    switch (parameter.kind) {
      case 'field':
        return describeTerm(parameter, limits);
      case 'typed':
        return describe(valuesSchema(parameter.type, parameter.list, limits));
      case 'groups':
        return {
          ...describe({ type: 'string', maxLength: limits.groupLength }),
          description: 'A combination of filters: `or(votes__gte=3,not(text="A, b"))`.',
        };
      case 'search':
        return {
          ...describe({ type: 'string' }),
          description:
            'Objects that contain every term. Terms are separated by spaces or commas; a phrase in quotes is one term.',
        };
      case 'ordering':
        return {
          ...describe(orderingSchema(resource)),
          description: `The fields to order by, in order of precedence; \`-\` before a name reverses its order.${rankText(resource)}`,
        };
      case 'other':
        return describe({ type: 'string' });
      default:
        return parameter satisfies never;
    }
  });
}

function rankText({ orderingFields }: Resource): string {
  const [name] = [...orderingFields].find(([, { operands }]) => operands[0]?.document) ?? [];
  return name === undefined
    ? ''
    : ` \`-${name}\` has the best matches of a search first, and is invalid without one.`;
}

function describeTerm(
  { name, field, term }: Extract<FilterParameter, { kind: 'field' }>,
  limits: QueryLimits,
): Parameter {
  const columns = term.operands.map(({ column }) => column);
  if (columns.length === 1 || term.lookup === 'isnull')
    return {
      ...describeParameter('query', name, { schema: termSchema(term, limits) }),
      description: LOOKUP_DESCRIPTIONS[term.lookup](field),
    };
  return {
    ...describeParameter('query', name, { schema: keySchema({ columns }) }),
    description: `\`${field}\` equals this key: its values, each percent-encoded, with commas between them.`,
    example: exampleKey({ columns }),
  };
}

function valuesSchema(type: DataType, isList: boolean, { values }: QueryLimits): Schema {
  return isList
    ? { type: 'array', items: comparedValueSchema(type), maxItems: values }
    : comparedValueSchema(type);
}

function orderingSchema({ orderingFields, orderingNulls, aggregates }: Resource): Schema {
  const names = new Set([...orderingFields.keys(), ...groupOrders({ aggregates })]);
  const directed = [...names].flatMap((name) => [name, `-${name}`]);
  return {
    type: 'array',
    items: {
      type: 'string',
      enum: orderingNulls
        ? directed.flatMap((name) => [name, `${name}.nullsfirst`, `${name}.nullslast`])
        : directed,
    },
  };
}

/** The schema of a filter parameter by its lookup. */
function termSchema({ operands: [operand], lookup }: FieldTerm, limits: QueryLimits): Schema {
  const type: DataType = operand ? outwardType(operand.column) : { kind: 'string', trim: false };
  const { value } = LOOKUP_RULES[lookup];
  switch (value) {
    case 'text':
      return { type: 'string' };
    case 'several':
      return valuesSchema(type, true, limits);
    case 'range':
      return { type: 'array', items: comparedValueSchema(type), minItems: 2, maxItems: 2 };
    case 'boolean':
      return { type: 'boolean' };
    case 'one':
      return comparedValueSchema(type);
    default:
      return value satisfies never;
  }
}

/** A text that is too long for its column is valid: no row equals it. */
function comparedValueSchema(type: DataType): Schema {
  if (type.kind === 'string') return { type: 'string' };
  return type.kind === 'decimal' || type.kind === 'bigint' ? textSchema(type) : valueSchema(type);
}

const LOOKUP_DESCRIPTIONS: Readonly<Record<FieldTerm['lookup'], (field: string) => string>> = {
  exact: (field) => `\`${field}\` equals this value.`,
  iexact: (field) => `\`${field}\` equals this value, case-insensitively.`,
  gt: (field) => `\`${field}\` is greater than this value.`,
  gte: (field) => `\`${field}\` is greater than or equal to this value.`,
  lt: (field) => `\`${field}\` is less than this value.`,
  lte: (field) => `\`${field}\` is less than or equal to this value.`,
  in: (field) =>
    `\`${field}\` equals one of these values. One parameter may contain several values separated by commas; a value with commas is quoted.`,
  range: (field) => `\`${field}\` is between these two values, both included.`,
  contains: (field) => `\`${field}\` contains this text.`,
  icontains: (field) => `\`${field}\` contains this text, case-insensitively.`,
  startswith: (field) => `\`${field}\` starts with this text.`,
  istartswith: (field) => `\`${field}\` starts with this text, case-insensitively.`,
  endswith: (field) => `\`${field}\` ends with this text.`,
  iendswith: (field) => `\`${field}\` ends with this text, case-insensitively.`,
  isnull: (field) => `\`${field}\` is null (\`true\`) or not null (\`false\`).`,
  ne: (field) => `\`${field}\` differs from this value, or is null.`,
};
