import { parameterName } from '../schema/resource-schema.js';
import type { ResourceSchema } from '../schema/resource-schema.js';
import type { Aggregates } from '../query/aggregate.js';

/** What clients may compute of the rows of a list: `aggregate=count,sum.total&group=status`. The number of rows is always among it. */
export interface AggregateOptions<Path extends string = string> {
  /** Fields and forward relations by which rows are grouped; over forward relations with dots: `owner.country`. */
  readonly group?: readonly Path[];
  /** Numbers that are added, exactly. */
  readonly sum?: readonly Path[];
  /** Numbers whose average is computed, to six digits. */
  readonly avg?: readonly Path[];
  /** Numbers, texts and dates of which the least one is given. */
  readonly min?: readonly Path[];
  /** The same for the greatest one. */
  readonly max?: readonly Path[];
  /** Groups of fewer rows are left out of responses. This is no anonymity. Default: none are. */
  readonly minGroup?: number;
}

/** The query parameters of aggregates, by their default names. */
export const AGGREGATE_PARAMETERS = ['aggregate', 'group', 'having', 'tz'] as const;

type AggregateParameter = (typeof AGGREGATE_PARAMETERS)[number];

/** A model, and whether it has aggregates. */
export interface WithAggregates extends Pick<ResourceSchema, 'renamed'> {
  readonly aggregates: Aggregates | undefined;
}

/** The names of the query parameters of aggregates in a model. `having` is the begin of a name: `having.count__gte`. */
export function aggregateParameters(resource: WithAggregates): readonly string[] {
  return resource.aggregates ? AGGREGATE_PARAMETERS.map((name) => parameterName(name, resource)) : [];
}

export function aggregateNames(resource: WithAggregates): Readonly<Record<AggregateParameter, string>> {
  const [aggregate, group, having, tz] = AGGREGATE_PARAMETERS.map((name) => parameterName(name, resource));
  return { aggregate: aggregate ?? '', group: group ?? '', having: having ?? '', tz: tz ?? '' };
}
