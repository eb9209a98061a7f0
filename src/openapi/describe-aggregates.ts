import { aggregateNames } from '../core/contracts/aggregates.js';
import { COUNT, MEASURE_KINDS, TIME_UNITS } from '../core/query/aggregate.js';
import type { Aggregates, GroupField, MeasureField } from '../core/query/aggregate.js';
import { ZONE_YEARS } from '../core/values/time-zones.js';
import type { DataType } from '../core/schema/data-type.js';
import { LABELS_MEMBER } from '../core/schema/object-label.js';
import type { Resource } from '../core/schema/resource.js';
import {
  choicesOf,
  HAVING_LOOKUPS,
  labelledGroups,
  unitsOf,
} from '../features/aggregates/parse-aggregates.js';
import { keySchema, nullableSchema, textSchema, valueSchema } from './describe-value.js';
import { describeParameter } from './open-api-types.js';
import type { Parameter, Schema } from './open-api-types.js';

const DECIMAL: DataType = { kind: 'decimal' };
/** An average of exact numbers. */
const AVERAGE: Schema = { type: ['string', 'null'], pattern: '^-?\\d+\\.\\d{6}$' };

/** The query parameters of aggregates. */
export function describeAggregateParameters(resource: Resource): readonly Parameter[] {
  const { aggregates } = resource;
  if (!aggregates) return [];
  const { aggregate, group, having, tz } = aggregateNames(resource);
  const groups = [...aggregates.groups].flatMap(([name, field]) => groupNames(name, field, resource));
  const hasTimes = [...aggregates.groups.values()].some((field) => kindOf(field) === 'datetime');
  return [
    {
      ...describeParameter('query', aggregate, {
        schema: { type: 'array', items: { type: 'string', enum: [COUNT, ...aggregates.measures.keys()] } },
      }),
      description: 'What is computed of the objects, which are not returned themselves.',
    },
    ...(groups.length === 0
      ? []
      : [
          {
            ...describeParameter('query', group, {
              schema: { type: 'array', items: { type: 'string', enum: groups } },
            }),
            description: `The fields by which the objects are grouped; only with \`${aggregate}\`.`,
          },
        ]),
    ...(hasTimes
      ? [
          describeParameter('query', tz, {
            schema: { type: 'string' },
            description: `The time zone of groups by date, such as \`Europe/Berlin\`, in the years ${ZONE_YEARS.from} to ${ZONE_YEARS.to - 1}. Default: UTC.`,
          }),
        ]
      : []),
    ...[[COUNT, undefined] as const, ...aggregates.measures].flatMap(([name, field]) =>
      HAVING_LOOKUPS.map((lookup) =>
        describeParameter('query', `${having}.${name}__${lookup}`, {
          schema: comparedSchema(field),
          description: `Only groups whose \`${name}\` compares so with this value; only with \`${aggregate}\`.`,
        }),
      ),
    ),
  ];
}

function groupNames(name: string, field: GroupField, resource: Resource): readonly string[] {
  return [name, ...choicesOf(name, field, resource).map((each) => `${name}:${each}`)];
}

function kindOf({ relation, operands: [operand] }: GroupField): string | undefined {
  return relation ? undefined : operand?.column.type.kind;
}

/** An object of a group. A request names its members. */
export function groupSchema({ groups, measures }: Aggregates, resource: Resource): Schema {
  const labelled = [...labelledGroups(resource).keys()].filter((name) => groups.has(name));
  const labels = Object.fromEntries(labelled.map((name) => [name, { type: 'string' }]));
  const nested = MEASURE_KINDS.flatMap((kind): readonly (readonly [string, Schema])[] => {
    const ofKind = [...measures.values()].filter((measure) => measure.kind === kind);
    const properties = ofKind.map(({ path, ...rest }) => [path, measureSchema({ path, ...rest })] as const);
    return ofKind.length === 0
      ? []
      : [[kind, { type: 'object', properties: Object.fromEntries(properties) }]];
  });
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries([...groups].map(([name, field]) => [name, groupKeySchema(field)])),
      ...(labelled.length > 0 && { [LABELS_MEMBER]: { type: 'object', properties: labels } }),
      [COUNT]: { type: 'integer', minimum: 0 },
      ...Object.fromEntries(nested),
    },
  };
}

function groupKeySchema(field: GroupField): Schema {
  const { operands, relation } = field;
  const columns = operands.map(({ column }) => column);
  if (relation) return nullableSchema(keySchema({ columns }));
  const type = columns[0]?.type ?? DECIMAL;
  const whole = nullableSchema(valueSchema(type));
  if (unitsOf(field).length === 0) return whole;
  return {
    anyOf: [
      whole,
      {
        type: ['string', 'null'],
        pattern: `^\\d{4}-\\d\\d-\\d\\d${unitsOf(field).length === TIME_UNITS.length ? '(T\\d\\d:00:00(Z|[+-]\\d\\d:\\d\\d(:\\d\\d)?))?' : ''}$`,
      },
    ],
  };
}

function measureSchema({ kind, operand }: MeasureField): Schema {
  const { type } = operand.column;
  if (kind === 'min' || kind === 'max') return nullableSchema(valueSchema(type));
  if (type.kind === 'float') return nullableSchema(valueSchema({ kind: 'float' }));
  if (kind === 'avg') return AVERAGE;
  return type.kind === 'integer'
    ? { type: ['integer', 'null'] }
    : { type: ['string', 'null'], pattern: '^-?\\d+(\\.\\d+)?$' };
}

function comparedSchema(field: MeasureField | undefined): Schema {
  if (!field) return { type: 'integer', minimum: 0 };
  const { type } = field.operand.column;
  const isAdded = field.kind === 'sum' || field.kind === 'avg';
  if (isAdded)
    return type.kind === 'float'
      ? valueSchema({ kind: 'float' })
      : { type: 'string', pattern: '^-?\\d{1,20}(\\.\\d{1,6})?$' };
  if (type.kind === 'string') return { type: 'string' };
  return type.kind === 'decimal' || type.kind === 'bigint' ? textSchema(type) : valueSchema(type);
}
