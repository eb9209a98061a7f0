import { aggregateNames } from '../../core/contracts/aggregates.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors, isItemErrors } from '../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../core/errors/rest-exception.js';
import { COUNT, TIME_UNITS } from '../../core/query/aggregate.js';
import type {
  Aggregates,
  GroupField,
  GroupOrder,
  HavingLookup,
  HavingTerm,
  Measure,
  MeasureField,
  MeasureKind,
  TimeBucket,
  TimeUnit,
} from '../../core/query/aggregate.js';
import { labelledFields } from '../../core/schema/reachable-models.js';
import type { LabelledField } from '../../core/schema/reachable-models.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import { parseCompared, parseText } from '../../core/values/parse-text.js';
import { invalid, valid } from '../../core/values/parse-result.js';
import type { Outcome } from '../../core/values/parse-result.js';
import { findZone, isAtUtc } from '../../core/values/time-zones.js';
import type { ZoneOffsets } from '../../core/values/time-zones.js';

/** A group of the request, with its name in the response. */
export interface RequestedGroup {
  readonly name: string;
  readonly field: GroupField;
  readonly bucket: TimeBucket | undefined;
  /** Set if the labels of the objects with its keys are asked for. */
  readonly labelled?: LabelledField;
}

/** A value of the response: of an average, those of its sum and of the number of values. */
export type ShownMeasure =
  | { readonly kind: typeof COUNT; readonly at: number }
  | { readonly kind: 'sum' | 'min' | 'max'; readonly field: MeasureField; readonly at: number }
  | { readonly kind: 'avg'; readonly field: MeasureField; readonly at: number; readonly per: number };

export interface ParsedAggregates {
  readonly groups: readonly RequestedGroup[];
  readonly shown: readonly ShownMeasure[];
  readonly measures: readonly Measure[];
  readonly having: readonly HavingTerm[];
  readonly order: readonly GroupOrder[];
}

/** What follows the name of a relation, for the labels of its objects. */
export const LABEL = 'label';

export const HAVING_LOOKUPS: readonly string[] = [
  'exact',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
] satisfies HavingLookup[];
/** Of one response, and of one parameter. */
const MAX_ERRORS = 10;
/** In characters of a name in an error. */
const MAX_NAME = 100;
/** Decimal places of an average. */
const AVERAGE_PLACES = 6;

/** Parses the parameters of aggregates. `aggregates` are those that the caller may read. Throws 400 with all errors. */
export function parseAggregates(
  parameters: ReadonlyMap<string, string>,
  resource: Resource,
  aggregates: Aggregates,
): ParsedAggregates {
  return new AggregateParser(parameters, resource, aggregates).parse();
}

class AggregateParser {
  private readonly errors: FieldErrors = emptyFieldErrors();
  private readonly measures: Measure[] = [];
  private readonly places = new Map<string, number>();
  private readonly names: ReturnType<typeof aggregateNames>;
  private readonly ordering: string;

  constructor(
    private readonly parameters: ReadonlyMap<string, string>,
    private readonly resource: Resource,
    private readonly aggregates: Aggregates,
  ) {
    this.names = aggregateNames({ ...resource, aggregates });
    this.ordering = parameterName('ordering', resource);
  }

  parse(): ParsedAggregates {
    const shown = this.parseShown();
    const groups = this.parseGroups();
    const having = this.parseHaving();
    const order = this.parseOrder(groups);
    if (Object.keys(this.errors).length > 0) throw new InvalidInput(this.errors);
    return { shown, groups, having, order, measures: this.measures };
  }

  /** `message` is not called once there are enough: a suggestion compares a name with all others. */
  private refuse(parameter: string, message: () => string): void {
    if (this.errors[parameter] === undefined && Object.keys(this.errors).length >= MAX_ERRORS) return;
    const known = (this.errors[parameter] ??= []);
    if (!Array.isArray(known) || isItemErrors(known) || known.length >= MAX_ERRORS) return;
    const text = message();
    if (!known.includes(text)) known.push(text);
  }

  private parseShown(): readonly ShownMeasure[] {
    const { aggregate } = this.names;
    return namesIn(this.parameters.get(aggregate)).flatMap((name): readonly ShownMeasure[] => {
      if (name === COUNT) return [{ kind: COUNT, at: this.placeOf({ kind: 'rows' }, COUNT) }];
      const field = this.aggregates.measures.get(name);
      if (!field) {
        this.refuse(aggregate, () => this.unknownMeasure(name));
        return [];
      }
      const { kind } = field;
      const at = this.placeOfField(field);
      return [kind === 'avg' ? { kind, field, at, per: this.placeOfCount(field) } : { kind, field, at }];
    });
  }

  private unknownMeasure(name: string): string {
    const known = [COUNT, ...this.aggregates.measures.keys()];
    return `There is no such aggregate: "${name.slice(0, MAX_NAME)}". ${suggestion(name, known)}`;
  }

  /** The place of a measure among those that the database computes. */
  private placeOf(measure: Measure, name: string): number {
    const known = this.places.get(name);
    if (known !== undefined) return known;
    this.places.set(name, this.measures.length);
    return this.measures.push(measure) - 1;
  }

  /** Of an average that of its sum. */
  private placeOfField({ kind, path, operand }: MeasureField): number {
    const computed = kind === 'avg' ? 'sum' : kind;
    return this.placeOf({ kind: computed, operand }, `${computed}.${path}`);
  }

  private placeOfCount({ path, operand }: MeasureField): number {
    return this.placeOf({ kind: 'values', operand }, `values.${path}`);
  }

  private parseGroups(): readonly RequestedGroup[] {
    const { group, tz } = this.names;
    const zone = this.parseZone(this.parameters.get(tz) ?? '');
    const groups = new Map<string, RequestedGroup>();
    for (const text of namesIn(this.parameters.get(group))) {
      const [name = '', ...rest] = text.split(':');
      const parsed = this.parseGroup(name, rest, zone);
      if (groups.has(name)) this.refuse(group, () => `Name "${name.slice(0, MAX_NAME)}" once.`);
      else if (typeof parsed === 'function') this.refuse(group, parsed);
      else groups.set(name, parsed);
    }
    return [...groups.values()];
  }

  private parseZone(name: string): ZoneOffsets | undefined {
    if (name === '') return undefined;
    const zone = findZone(name);
    if (!zone) this.refuse(this.names.tz, () => `There is no such time zone: "${name.slice(0, MAX_NAME)}".`);
    return zone && isAtUtc(zone) ? undefined : zone;
  }

  private parseGroup(
    name: string,
    [suffix, ...more]: readonly string[],
    zone: ZoneOffsets | undefined,
  ): RequestedGroup | (() => string) {
    const field = this.aggregates.groups.get(name);
    if (!field)
      return () =>
        `There is no such group: "${name.slice(0, MAX_NAME)}". ${suggestion(name, [...this.aggregates.groups.keys()])}`;
    if (suffix === undefined) return { name, field, bucket: undefined };
    const labelled = labelledGroups(this.resource).get(name);
    if (labelled && suffix === LABEL && more.length === 0)
      return { name, field, bucket: undefined, labelled };
    const units = unitsOf(field);
    if (!isUnit(suffix, units) || more.length > 0)
      return () => unknownSuffix(name, labelled ? [LABEL] : units);
    return { name, field, bucket: { unit: suffix, zone: units.includes('hour') ? zone : undefined } };
  }

  private parseHaving(): readonly HavingTerm[] {
    const prefix = `${this.names.having}.`;
    return [...this.parameters].flatMap(([parameter, text]): readonly HavingTerm[] => {
      if (!parameter.startsWith(prefix) || text === '') return [];
      const [name = '', lookup = 'exact', ...more] = parameter.slice(prefix.length).split('__');
      const field = this.aggregates.measures.get(name);
      if (name !== COUNT && !field) {
        this.refuse(parameter, () => this.unknownMeasure(name));
        return [];
      }
      if (!isHavingLookup(lookup) || more.length > 0) {
        this.refuse(parameter, () => `Compare by one of these: ${HAVING_LOOKUPS.join(', ')}.`);
        return [];
      }
      const outcome = parseCompareValue(text, field);
      if (outcome.errors) {
        for (const message of outcome.errors) this.refuse(parameter, () => message);
        return [];
      }
      const { value } = outcome;
      if (!field) return [{ measure: this.placeOf({ kind: 'rows' }, COUNT), lookup, value }];
      const measure = this.placeOfField(field);
      return [
        field.kind === 'avg'
          ? { measure, per: this.placeOfCount(field), lookup, value }
          : { measure, lookup, value },
      ];
    });
  }

  private parseOrder(groups: readonly RequestedGroup[]): readonly GroupOrder[] {
    const seen = new Set<string>();
    return namesIn(this.parameters.get(this.ordering)).flatMap((given): readonly GroupOrder[] => {
      const descending = given.startsWith('-');
      const name = descending ? given.slice(1) : given;
      if (seen.has(name)) return [];
      seen.add(name);
      const index = groups.findIndex((each) => each.name === name);
      if (index >= 0) return [{ by: 'group', index, descending }];
      const field = this.aggregates.measures.get(name);
      if (name === COUNT)
        return [{ by: 'measure', index: this.placeOf({ kind: 'rows' }, COUNT), descending }];
      if (field && field.kind !== 'avg')
        return [{ by: 'measure', index: this.placeOfField(field), descending }];
      this.refuse(
        this.ordering,
        () =>
          `Groups cannot be ordered by "${name.slice(0, MAX_NAME)}". Order by their keys, ${COUNT}, a sum, a min or a max.`,
      );
      return [];
    });
  }
}

function unknownSuffix(name: string, known: readonly string[]): string {
  return known.length === 0
    ? `"${name}" has nothing to choose behind a colon.`
    : `Choose one of these for "${name}": ${known.map((each) => `${name}:${each}`).join(', ')}.`;
}

/** The relations of the model itself whose objects have labels, by the names of their groups. */
export function labelledGroups(resource: Resource): ReadonlyMap<string, LabelledField> {
  return new Map(labelledFields(resource).map((each) => [each.field.name, each]));
}

/** Comma-separated names, each once. */
function namesIn(text = ''): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

function suggestion(name: string, known: readonly string[]): string {
  return name.length > MAX_NAME ? '' : didYouMean(name, known);
}

/** What may follow the name of a group behind a colon. */
export function choicesOf(name: string, field: GroupField, resource: Resource): readonly string[] {
  return labelledGroups(resource).has(name) ? [LABEL] : unitsOf(field);
}

/** The names by which groups may be ordered. */
export function groupOrders({ aggregates }: Pick<Resource, 'aggregates'>): readonly string[] {
  if (!aggregates) return [];
  const measures = [...aggregates.measures].flatMap(([name, { kind }]) => (kind === 'avg' ? [] : [name]));
  return [...aggregates.groups.keys(), COUNT, ...measures];
}

/** The units of time by which a field may be grouped. */
export function unitsOf({ relation, operands: [operand] }: GroupField): readonly TimeUnit[] {
  const kind = relation ? undefined : operand?.column.type.kind;
  if (kind === 'datetime') return TIME_UNITS;
  return kind === 'date' ? TIME_UNITS.filter((unit) => unit !== 'hour') : [];
}

function isUnit(text: string, units: readonly TimeUnit[]): text is TimeUnit {
  return (units as readonly string[]).includes(text);
}

function isHavingLookup(text: string): text is HavingLookup {
  return HAVING_LOOKUPS.includes(text);
}

const COUNTED = { kind: 'integer', min: 0, max: Number.MAX_SAFE_INTEGER } as const;

/** Parses the value with which a measure is compared; without a field, the number of rows. */
function parseCompareValue(text: string, field: MeasureField | undefined): Outcome<Json> {
  if (!field) return parseText(text, COUNTED);
  const { kind, operand } = field;
  if (!addsValues(kind)) return parseCompared(text, operand.column);
  if (operand.column.type.kind === 'float') return parseText(text, { kind: 'float' });
  const outcome = parseText(text, { kind: 'decimal' });
  if (outcome.errors || kind === 'sum') return outcome;
  const places = String(outcome.value).split('.')[1]?.length ?? 0;
  return places > AVERAGE_PLACES
    ? invalid(`Ensure that there are no more than ${AVERAGE_PLACES} decimal places.`)
    : valid(outcome.value);
}

function addsValues(kind: MeasureKind): boolean {
  return kind === 'sum' || kind === 'avg';
}
