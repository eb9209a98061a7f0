import type { Json } from '../errors/rest-exception.js';
import type { Relation, ReverseOneRelation, ToOneRelation } from '../schema/relation.js';
import type { ZoneOffsets } from '../values/time-zones.js';
import type { Condition, Operand } from './condition.js';
import type { ListPlan } from './plan.js';

/** What instants and days are grouped by. A week begins on Monday (ISO 8601). */
export const TIME_UNITS = ['year', 'quarter', 'month', 'week', 'day', 'hour'] as const;

export type TimeUnit = (typeof TIME_UNITS)[number];

/** The aggregates of a field, beside the number of rows. */
export const MEASURE_KINDS = ['sum', 'avg', 'min', 'max'] as const;

export type MeasureKind = (typeof MEASURE_KINDS)[number];

/** The name of the number of rows. */
export const COUNT = 'count';

/** A field by which clients may group the rows of a list. */
export interface GroupField {
  /** Several for a composite related key. */
  readonly operands: readonly Operand[];
  /** To-one relations to the row that has the field. */
  readonly row: readonly Relation[];
  /** The relation whose key it is, if it is one. */
  readonly relation: ToOneRelation | ReverseOneRelation | undefined;
}

/** A field whose values clients may aggregate. */
export interface MeasureField {
  readonly kind: MeasureKind;
  readonly path: string;
  readonly operand: Operand;
}

/** The aggregates that a model declares. */
export interface Aggregates {
  /** By path: `status`, `owner.country`. */
  readonly groups: ReadonlyMap<string, GroupField>;
  /** By name: `sum.total`. */
  readonly measures: ReadonlyMap<string, MeasureField>;
  /** Groups of fewer rows are left out. */
  readonly minGroup: number | undefined;
}

/** The length of time that a key stands for. Without a zone it is of UTC, or of a column of days. */
export interface TimeBucket {
  readonly unit: TimeUnit;
  readonly zone: ZoneOffsets | undefined;
}

/** A key of a group. */
export interface GroupKey extends GroupField {
  /** The rows of related models that the caller may see: for others the key is null. */
  readonly within: Condition;
  readonly bucket: TimeBucket | undefined;
}

/** A value that the database computes for each group: the number of rows, or that of values, their sum, or the least or greatest of them. */
export type Measure =
  { readonly kind: 'rows' } | { readonly kind: 'values' | 'sum' | 'min' | 'max'; readonly operand: Operand };

export type HavingLookup = 'exact' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte';

/** A condition on the groups. */
export interface HavingTerm {
  /** The index of the measure. */
  readonly measure: number;
  /** For an average of the sum `measure`: the index of the number of values. */
  readonly per?: number;
  readonly lookup: HavingLookup;
  /** A decimal or a number for a sum, an average and a number of rows; else a value of the column. */
  readonly value: Json;
}

export interface GroupOrder {
  readonly by: 'group' | 'measure';
  readonly index: number;
  readonly descending: boolean;
}

/** An aggregate cannot be given exactly: the key of a group is outside of what is known of a time zone, or a sum is too large, or not exact. */
export class InexactResult extends Error {
  /** @param group the index of the key; undefined for a sum. */
  constructor(readonly group?: number) {
    super('An aggregate cannot be given exactly.');
  }
}

/** Aggregates of the rows of a list, by groups. */
export interface AggregatePlan {
  readonly list: Omit<ListPlan, 'kind' | 'order'>;
  /** Empty for one group of all rows. */
  readonly groups: readonly GroupKey[];
  readonly measures: readonly Measure[];
  readonly having: readonly HavingTerm[];
  /** The keys of the groups follow. */
  readonly order: readonly GroupOrder[];
  readonly minGroup: number | undefined;
  readonly limit: number;
  readonly offset: number;
  /** Whether the groups are counted. */
  readonly counts: boolean;
}

export interface AggregatedGroup {
  /** In the JSON form of the fields. */
  readonly keys: readonly Json[];
  /** The values of the measures: a sum is a text of all its digits, unless it is one of floats. */
  readonly values: readonly Json[];
}

export interface AggregateResult {
  readonly groups: readonly AggregatedGroup[];
  /** Whether more groups follow. */
  readonly more: boolean;
  /** The number of all groups, if the plan counts them. */
  readonly count: number | undefined;
  /** Whether groups are left out because they are too small. */
  readonly omits: boolean;
}
