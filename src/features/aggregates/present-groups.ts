import { InvalidInput } from '../../core/errors/http-exceptions.js';
import type { Json } from '../../core/errors/rest-exception.js';
import type { Representation } from '../../core/contracts/serializer.js';
import { COUNT, MEASURE_KINDS } from '../../core/query/aggregate.js';
import type { AggregatedGroup } from '../../core/query/aggregate.js';
import { LABELS_MEMBER } from '../../core/schema/object-label.js';
import type { ParsedAggregates, ShownMeasure } from './parse-aggregates.js';

/** Digits of an average behind the point. */
const DIGITS = 6;

type PresentGroup = (
  group: AggregatedGroup,
  labels: Readonly<Record<string, string>> | undefined,
) => Representation;

/** Makes the objects of groups in a response: their keys, and the aggregates. `parameter` is that of errors. */
export function groupPresenter({ groups, shown }: ParsedAggregates, parameter: string): PresentGroup {
  const names = groups.map(({ name }) => name);
  const count = shown.find((each) => each.kind === COUNT);
  const nested = MEASURE_KINDS.flatMap((kind) => {
    const measures = shown.flatMap((each) => (each.kind !== COUNT && each.kind === kind ? [each] : []));
    return measures.length === 0 ? [] : [{ kind, measures }];
  });
  // A response may have many groups: each object is filled in place.
  return ({ keys, values }, labels) => {
    const object: Record<string, unknown> = {};
    for (const [index, name] of names.entries()) object[name] = keys[index] ?? null;
    if (labels) object[LABELS_MEMBER] = labels;
    if (count) object[COUNT] = values[count.at] ?? 0;
    for (const { kind, measures } of nested) {
      const inner: Record<string, Json> = {};
      for (const measure of measures) inner[measure.field.path] = valueOf(measure, values, parameter);
      object[kind] = inner;
    }
    return object;
  };
}

/** The same without nested objects, for formats that have none: `sum.total`. `names` are those of `flatNames`. */
export function flatGroup(group: Representation, names: readonly string[]): Representation {
  return Object.fromEntries(
    names.map((name) => {
      if (Object.hasOwn(group, name)) return [name, group[name]];
      const point = name.indexOf('.');
      const inner = group[name.slice(0, point)] as Readonly<Record<string, unknown>> | undefined;
      return [name, inner?.[name.slice(point + 1)] ?? null];
    }),
  );
}

/** The names of `flatGroup`. */
export function flatNames({ groups, shown }: ParsedAggregates): readonly string[] {
  return [
    ...groups.map(({ name }) => name),
    ...groups.flatMap(({ name, labelled }) => (labelled ? [`${LABELS_MEMBER}.${name}`] : [])),
    ...shown.map((each) => (each.kind === COUNT ? COUNT : `${each.kind}.${each.field.path}`)),
  ];
}

function valueOf(
  measure: Exclude<ShownMeasure, { kind: typeof COUNT }>,
  values: readonly Json[],
  parameter: string,
): Json {
  const value = values[measure.at] ?? null;
  if (value === null || measure.kind === 'min' || measure.kind === 'max') return value;
  const { kind } = measure.field.operand.column.type;
  if (measure.kind !== 'avg') return kind === 'integer' ? safeInteger(value, parameter) : value;
  const count = Number(values[measure.per] ?? 0);
  return typeof value === 'number' ? value / count : averageOf(String(value), count);
}

/** The sum of integers is a number, as they are: one that JavaScript would round is an error. */
function safeInteger(value: Json, parameter: string): Json {
  const sum = Number(value);
  if (!Number.isSafeInteger(sum)) throw InvalidInput.of(parameter, INEXACT_SUM);
  return sum;
}

export const INEXACT_SUM = 'A sum is too large to be given exactly, or of values that are not exact.';

/** The text of a decimal divided by a number of values: six digits, half away from zero. What is no decimal is returned as it is. */
export function averageOf(sum: string, count: number): string {
  const [, sign, whole = '', places = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(sum) ?? [];
  if (sign === undefined) return sum;
  const divisor = BigInt(count) * 10n ** BigInt(places.length);
  const doubled = BigInt(whole + places) * 10n ** BigInt(DIGITS) * 2n;
  const digits = String((doubled + divisor) / (divisor * 2n)).padStart(DIGITS + 1, '0');
  const isZero = /^0+$/.test(digits);
  return `${isZero ? '' : sign}${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`;
}
