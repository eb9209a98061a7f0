import { MEASURE_KINDS } from '../schema.js';
import type { ColumnKind, ColumnSpec, Json, MeasureKind } from '../schema.js';
import { addExact, averageText, compareExact, exactOf, exactText, multiplyExact } from './exact.js';
import type { Exact } from './exact.js';
import { invalid, invalidNames } from './expected.js';
import { mayAsk, operandOf } from './filters.js';
import type { Readable, ReadContext } from './filters.js';
import { valueAt } from './ordering.js';
import type { Parameters } from './parameters.js';
import type { Resource } from './resources.js';
import type { Row } from './state.js';
import { beginOfUnit, isZone, TIME_UNITS } from './time-units.js';
import type { TimeUnit } from './time-units.js';
import { compareValues, limitsOf, parseText } from './values.js';

/** The parameters of aggregates; those of `having` have names that begin with it. */
export const AGGREGATE_PARAMETERS = ['aggregate', 'group', 'tz'] as const;
const LOOKUPS = ['exact', 'ne', 'gt', 'gte', 'lt', 'lte'] as const;
const COUNT = 'count';
const INEXACT = 'A sum is too large to be given exactly, or of values that are not exact.';

/** `count`, or a kind with a column. */
interface Measure {
  readonly name: string;
  readonly kind: MeasureKind | typeof COUNT;
  readonly column: ColumnSpec;
}

interface GroupTerm {
  readonly name: string;
  readonly column: ColumnSpec;
  readonly unit: TimeUnit | undefined;
}

interface HavingTerm {
  readonly measure: Measure;
  readonly lookup: (typeof LOOKUPS)[number];
  readonly value: Json;
}

interface OrderTerm {
  readonly by: GroupTerm | Measure;
  readonly isDescending: boolean;
}

/** A group: its keys, and its rows. */
export interface Group {
  readonly keys: readonly Json[];
  readonly rows: readonly Row[];
}

/** Whether groups are requested in place of rows (contract 26.1). */
export function asksForAggregates({ options }: Pick<Resource, 'options'>, parameters: Parameters): boolean {
  return options.aggregate !== undefined && parameters.listed('aggregate') !== undefined;
}

/** Throws the errors of parameters that have a meaning for aggregates alone. */
export function refuseGroups({ options }: Pick<Resource, 'options'>, parameters: Parameters): void {
  if (!options.aggregate) return;
  const names = parameters.names.filter((name) => isAggregateName(name) && parameters.last(name) !== '');
  if (names.length > 0 && !names.includes('aggregate'))
    throw invalid(Object.fromEntries(names.map((name) => [name, ['Only with "aggregate".']])));
}

export function isAggregateName(name: string): boolean {
  return (AGGREGATE_PARAMETERS as readonly string[]).includes(name) || name.startsWith('having.');
}

/** The requested aggregates of a caller. Throws the errors of all their parameters together (contract 26.3). */
export class Aggregates {
  readonly isGrouped: boolean;
  private readonly errors = new Set<string>();
  private readonly zone: string;
  private readonly measures: ReadonlyMap<string, Measure>;
  private readonly groups: readonly GroupTerm[];
  private readonly shown: readonly Measure[];
  private readonly having: readonly HavingTerm[];
  private readonly order: readonly OrderTerm[];

  constructor(
    private readonly sight: ReadContext,
    private readonly resource: Readable,
    private readonly parameters: Parameters,
  ) {
    this.measures = this.readableMeasures();
    this.zone = this.parseZone();
    this.groups = this.parseGroups();
    this.shown = this.parseShown();
    this.having = this.parseHaving();
    this.order = this.parseOrder();
    this.isGrouped = this.groups.length > 0;
    if (this.errors.size > 0) throw invalidNames([...this.errors]);
  }

  /** The ordered groups of rows, and whether small ones are left out. */
  groupsOf(rows: readonly Row[]): { readonly groups: Group[]; readonly isOmitted: boolean } {
    const found = new Map<string, { readonly keys: readonly Json[]; readonly rows: Row[] }>();
    if (!this.isGrouped) found.set('[]', { keys: [], rows: [] });
    for (const row of rows) {
      const keys = this.groups.map((group) => this.keyOf(row, group));
      const group = found.get(JSON.stringify(keys)) ?? { keys, rows: [] };
      group.rows.push(row);
      found.set(JSON.stringify(keys), group);
    }
    const all = [...found.values()];
    const large = all.filter(
      (group) => group.rows.length >= (this.resource.options.aggregate?.minGroup ?? 0),
    );
    const groups = large.filter((group) => this.having.every((term) => this.fits(group, term)));
    groups.sort((one, other) => this.compare(one, other));
    return { groups, isOmitted: large.length < all.length };
  }

  /** The JSON object of a group (contract 26.1). */
  show(group: Group): Json {
    const keys = this.groups.map(({ name }, index): [string, Json] => [name, group.keys[index] ?? null]);
    const count = this.shown.some(({ kind }) => kind === COUNT);
    const nested = MEASURE_KINDS.flatMap((kind): [string, Json][] => {
      const ofKind = this.shown.filter((measure) => measure.kind === kind);
      const values = ofKind.map((measure): [string, Json] => [
        measure.name.slice(kind.length + 1),
        this.shownValue(group, measure),
      ]);
      return values.length === 0 ? [] : [[kind, Object.fromEntries(values)]];
    });
    return Object.fromEntries([...keys, ...(count ? [[COUNT, group.rows.length] as const] : []), ...nested]);
  }

  private isReadable(path: string): boolean {
    return mayAsk(this.sight, this.resource, path.split('.'));
  }

  private columnAt(path: string): ColumnSpec {
    return operandOf(this.sight.state, this.resource.entity, path.split('.'));
  }

  private readableMeasures(): Map<string, Measure> {
    const { aggregate } = this.resource.options;
    const count: Measure = { name: COUNT, kind: COUNT, column: { name: COUNT, kind: 'int' } };
    const others = MEASURE_KINDS.flatMap((kind) =>
      (aggregate?.[kind] ?? [])
        .filter((path) => this.isReadable(path))
        .map((path): Measure => ({ name: `${kind}.${path}`, kind, column: this.columnAt(path) })),
    );
    return new Map([count, ...others].map((measure) => [measure.name, measure]));
  }

  /** The names of a parameter, each once. */
  private namesOf(parameter: string): string[] {
    const names = (this.parameters.listed(parameter) ?? '').split(',').map((name) => name.trim());
    return [...new Set(names.filter((name) => name !== ''))];
  }

  private parseZone(): string {
    const zone = this.parameters.last('tz') ?? '';
    if (zone === '' || isZone(zone)) return zone === '' ? 'UTC' : zone;
    this.errors.add('tz');
    return 'UTC';
  }

  private parseGroups(): GroupTerm[] {
    const groups: GroupTerm[] = [];
    for (const text of this.namesOf('group')) {
      const [name = '', unit, ...more] = text.split(':');
      const isDeclared = this.resource.options.aggregate?.group.includes(name) && this.isReadable(name);
      const isKey = this.resource.entity.relations.some((relation) => relation.name === name);
      const column = this.columnAt(name);
      const units = isKey ? [] : unitsOf(column.kind);
      const isUnit = unit === undefined || (units as readonly string[]).includes(unit);
      if (!isDeclared || !isUnit || more.length > 0 || groups.some((group) => group.name === name))
        this.errors.add('group');
      else groups.push({ name, column, unit: unit as TimeUnit | undefined });
    }
    return groups;
  }

  private parseShown(): Measure[] {
    return this.namesOf('aggregate').flatMap((name) => {
      const measure = this.measures.get(name);
      if (!measure) this.errors.add('aggregate');
      return measure ?? [];
    });
  }

  private parseHaving(): HavingTerm[] {
    return this.parameters.names.flatMap((parameter): HavingTerm[] => {
      const text = this.parameters.last(parameter) ?? '';
      if (!parameter.startsWith('having.') || text === '') return [];
      const [name = '', given = 'exact', ...more] = parameter.slice('having.'.length).split('__');
      const measure = this.measures.get(name);
      const lookup = LOOKUPS.find((each) => each === given);
      const value = measure && this.comparedValue(measure, text);
      if (measure && lookup && value !== undefined && more.length === 0) return [{ measure, lookup, value }];
      this.errors.add(parameter);
      return [];
    });
  }

  /** The value with which a measure is compared; undefined if it has another type. */
  private comparedValue({ kind, column }: Measure, text: string): Json | undefined {
    if (kind === COUNT) return /^\d+$/.test(text) ? Number(text) : undefined;
    if (kind === 'min' || kind === 'max') {
      const outcome = parseText(text, column, limitsOf(this.sight.state.database));
      return 'value' in outcome ? outcome.value : undefined;
    }
    const exact = exactOf(text);
    if (!exact || (kind === 'avg' && column.kind !== 'double' && exact.places > 6)) return undefined;
    return column.kind === 'double' ? Number(text) : text;
  }

  private parseOrder(): OrderTerm[] {
    const terms: OrderTerm[] = [];
    for (const given of this.namesOf('ordering')) {
      const isDescending = given.startsWith('-');
      const name = isDescending ? given.slice(1) : given;
      const measure = this.measures.get(name);
      const by = this.groups.find((group) => group.name === name) ?? measure;
      if (!by || ('kind' in by && by.kind === 'avg')) this.errors.add('ordering');
      else if (!terms.some((term) => term.by.name === name)) terms.push({ by, isDescending });
    }
    return terms;
  }

  private keyOf(row: Row, { name, unit }: GroupTerm): Json {
    const value = valueAt(this.sight, { entity: this.resource.entity, row }, name.split('.'));
    return unit && value !== null ? beginOfUnit(String(value), unit, this.zone) : value;
  }

  private compare(one: Group, other: Group): number {
    const keys = this.groups.map((by): OrderTerm => ({ by, isDescending: false }));
    for (const { by, isDescending } of [...this.order, ...keys]) {
      const values = [one, other].map((group) => this.orderedValue(group, by));
      const difference = compareNullLast(values, 'unit' in by && by.unit ? 'text' : by.column.kind);
      if (difference !== 0) return isDescending ? -difference : difference;
    }
    return 0;
  }

  private orderedValue(group: Group, by: GroupTerm | Measure): Json {
    if ('kind' in by) return this.valueOf(group, by);
    const key = group.keys[this.groups.findIndex(({ name }) => name === by.name)] ?? null;
    return by.unit === 'hour' && key !== null ? new Date(String(key)).toISOString() : key;
  }

  private valuesIn({ rows }: Group, { column }: Measure): Json[] {
    return rows.map(({ values }) => values[column.name] ?? null).filter((value) => value !== null);
  }

  /** The value of a measure but an average; null without values. */
  private valueOf(group: Group, measure: Measure): Json {
    const { kind, column } = measure;
    if (kind === COUNT) return group.rows.length;
    const values = this.valuesIn(group, measure);
    if (values.length === 0) return null;
    if (kind === 'min' || kind === 'max') {
      const isBefore = (one: Json, other: Json): boolean =>
        compareValues(one, other, column.kind) < 0 === (kind === 'min');
      return values.reduce((one, other) => (isBefore(other, one) ? other : one));
    }
    if (column.kind === 'double') return values.reduce<number>((sum, value) => sum + Number(value), 0);
    return exactText(sumOf(values));
  }

  private shownValue(group: Group, measure: Measure): Json {
    const { kind, column } = measure;
    const value = this.valueOf(group, measure);
    const count = this.valuesIn(group, measure).length;
    if (value === null || kind === 'min' || kind === 'max') return value;
    if (kind === 'avg') return typeof value === 'number' ? value / count : averageText(exactIn(value), count);
    if (column.kind !== 'int' && column.kind !== 'version') return value;
    if (!Number.isSafeInteger(Number(value))) throw invalid({ aggregate: [INEXACT] });
    return Number(value);
  }

  private fits(group: Group, { measure, lookup, value }: HavingTerm): boolean {
    const actual = this.valueOf(group, measure);
    if (actual === null) return lookup === 'ne';
    const order = this.compareMeasure({ actual, value }, measure, this.valuesIn(group, measure).length);
    switch (lookup) {
      case 'exact':
        return order === 0;
      case 'ne':
        return order !== 0;
      case 'gt':
        return order > 0;
      case 'gte':
        return order >= 0;
      case 'lt':
        return order < 0;
      case 'lte':
        return order <= 0;
      default:
        return lookup satisfies never;
    }
  }

  /** An average is compared as its sum with so many times the value (contract 26.8). */
  private compareMeasure(
    { actual, value }: { readonly actual: Json; readonly value: Json },
    { kind, column }: Measure,
    count: number,
  ): number {
    if (kind !== 'sum' && kind !== 'avg') return compareValues(actual, value, column.kind);
    const factor = kind === 'avg' ? count : 1;
    if (typeof actual === 'number') return actual - Number(value) * factor;
    return compareExact(exactIn(actual), multiplyExact(exactIn(value), factor));
  }
}

function exactIn(value: Json): Exact {
  return exactOf(String(value)) ?? { digits: 0n, places: 0 };
}

function sumOf(values: readonly Json[]): Exact {
  return values.map(exactIn).reduce(addExact);
}

/** The units of time by which values of a kind are grouped. */
export function unitsOf(kind: ColumnKind): readonly TimeUnit[] {
  if (kind === 'datetime') return TIME_UNITS;
  return kind === 'date' ? TIME_UNITS.filter((unit) => unit !== 'hour') : [];
}

/** Null is greater than all values, on every database (contract 26.7). */
function compareNullLast([one = null, other = null]: readonly Json[], kind: ColumnKind): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return ['bigint', 'int', 'version', 'decimal'].includes(kind)
    ? compareExact(exactIn(one), exactIn(other))
    : compareValues(one, other, kind);
}
