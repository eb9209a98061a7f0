// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, basic, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import { Column, DeleteDateColumn, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** The number of random requests on each database; a longer run sets it to 1000. */
const REQUESTS = Number(process.env.RESTIFY_AGGREGATES ?? 60);
const SEED = Number(process.env.RESTIFY_AGGREGATES_SEED ?? 20261128);

const ACTORS = ['ann', 'bob', 'carl'] as const;
const nameOf = (actor: unknown): string => ((actor ?? {}) as { name?: string }).name ?? '';

/** Bob lists rows of one text or of an owner in one country, Carl those that are open, without their weight. */
class RowRules implements Permission {
  decide({ actor }: AccessContext): Grant {
    switch (nameOf(actor)) {
      case 'bob':
        return allow({ rows: { kind: 'or', filters: [where('text', 'b'), where('owner.country', 'de')] } });
      case 'carl':
        return allow({
          rows: where('open', true),
          readable: ['id', 'text', 'open', 'whole', 'large', 'money', 'day', 'at', 'owner'],
        });
      default:
        return allow();
    }
  }
}

/** Carl does not see people of France. */
class OwnerRules implements Permission {
  decide({ actor }: AccessContext): Grant {
    return nameOf(actor) === 'carl' ? allow({ rows: where('country', 'ne', 'fr') }) : allow();
  }
}

@Restify({ app: 'any', permissions: [OwnerRules] })
@Entity('any_owner')
class AnyOwner {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 10 }) country: string;
  @OneToMany(() => AnyRow, (row) => row.owner) rows: Relation<AnyRow[]>;
}

@Restify({
  app: 'any',
  permissions: [RowRules],
  aggregate: {
    group: ['text', 'open', 'whole', 'large', 'money', 'day', 'at', 'owner', 'owner.country'],
    sum: ['whole', 'large', 'money', 'weight'],
    avg: ['whole', 'large', 'money', 'weight'],
    min: ['text', 'whole', 'large', 'money', 'day', 'at'],
    max: ['text', 'whole', 'large', 'money', 'day', 'at'],
  },
  filterFields: {
    text: ['exact', 'ne', 'in', 'icontains', 'isnull'],
    whole: ['gte', 'lt'],
    money: ['gte', 'isnull'],
    'owner.country': ['exact', 'ne'],
    'parts.word': ['exact'],
    open: ['exact'],
  },
  filterGroups: true,
  searchFields: ['text'],
})
@Entity('any_row')
class AnyRow {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ type: 'varchar', length: 20, nullable: true }) text: string | null;
  @Column({ type: 'boolean' }) open: boolean;
  @Column({ type: 'int', nullable: true }) whole: number | null;
  @Column({ type: 'bigint' }) large: string;
  @Column({ type: 'decimal', precision: 12, scale: 2, nullable: true }) money: string | null;
  @Column({ type: 'float', nullable: true }) weight: number | null;
  @Column({ type: 'date', nullable: true }) day: string | null;
  @Column({ nullable: true, precision: 3 }) at: Date;
  @ManyToOne(() => AnyOwner, (owner) => owner.rows, { nullable: true }) owner: Relation<AnyOwner> | null;
  @OneToMany(() => AnyPart, (part) => part.row) parts: Relation<AnyPart[]>;
  @DeleteDateColumn() gone: Date | null;
}

@Restify({ app: 'any' })
@Entity('any_part')
class AnyPart {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 10 }) word: string;
  @ManyToOne(() => AnyRow, (row) => row.parts) row: Relation<AnyRow>;
}

/** A generator of numbers, the same for each seed. */
class Random {
  constructor(private state: number) {}

  below(limit: number): number {
    this.state = (this.state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((this.state / 2_147_483_648) * limit);
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  some<Item>(items: readonly Item[], percent: number): readonly Item[] {
    return items.filter(() => this.chance(percent));
  }
}

const TEXTS = ['a', 'A', 'b', 'b ', 'ä', 'ae', '', 'Zoë', '😀', 'ß', 'x,y'];
const ZONES = [
  '',
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Apia',
];
const UNITS = ['year', 'quarter', 'month', 'week', 'day', 'hour'] as const;
type Unit = (typeof UNITS)[number];

interface Shown extends Readonly<Record<string, unknown>> {
  readonly id: number;
}

function createRows(random: Random): readonly Partial<AnyRow>[] {
  return Array.from({ length: 150 }, (_, id) => {
    // Near changes of summer time.
    const around = random.of([
      '2026-03-29T00:00:00Z',
      '2026-10-25T00:00:00Z',
      '2024-12-31T12:00:00Z',
      '2011-12-29T12:00:00Z',
    ]);
    const at = new Date(Date.parse(around) + (random.below(96) - 48) * 1_800_000 + random.below(1000));
    return {
      id,
      text: random.chance(10) ? null : random.of(TEXTS),
      open: random.chance(60),
      whole: random.chance(10) ? null : random.below(7) - 3,
      large: random.of(['9007199254740993', '-9007199254740995', '0', '12', '100000000000000001']),
      money: random.chance(10)
        ? null
        : `${random.chance(30) ? '-' : ''}${random.below(2000)}.${String(random.below(100)).padStart(2, '0')}`,
      weight: random.chance(10) ? null : random.below(1000) / 8,
      ...(random.chance(10) ? { day: null } : { day: at.toISOString().slice(0, 10), at }),
      owner: random.chance(15) ? null : ({ id: 1 + random.below(5) } as AnyOwner),
    };
  });
}

interface Asked {
  readonly measures: readonly string[];
  readonly groups: readonly { readonly name: string; readonly unit: Unit | undefined }[];
  readonly tz: string;
  readonly filters: Readonly<Record<string, string>>;
  readonly ordering: readonly { readonly name: string; readonly descending: boolean }[];
  readonly having: readonly { readonly name: string; readonly lookup: string; readonly value: string }[];
}

const MEASURES = [
  'count',
  ...['sum', 'avg'].flatMap((kind) => ['whole', 'large', 'money', 'weight'].map((name) => `${kind}.${name}`)),
  ...['min', 'max'].flatMap((kind) =>
    ['text', 'whole', 'large', 'money', 'day', 'at'].map((name) => `${kind}.${name}`),
  ),
];
const GROUPS = ['text', 'open', 'whole', 'large', 'money', 'day', 'at', 'owner', 'owner.country'];
const LOOKUPS = ['exact', 'ne', 'gt', 'gte', 'lt', 'lte'];

function ask(random: Random, actor: string): Asked {
  const known = actor === 'carl' ? MEASURES.filter((name) => !name.endsWith('weight')) : MEASURES;
  const measures = random.some(known, 25);
  const names = [...new Set(random.some(GROUPS, 100 / GROUPS.length + 5))].slice(0, 3);
  const groups = names.map((name) => {
    const units = name === 'at' ? UNITS : UNITS.filter((unit) => unit !== 'hour');
    return {
      name,
      unit: (name === 'at' || name === 'day') && random.chance(85) ? random.of(units) : undefined,
    };
  });
  const orders = [...names, ...known.filter((name) => !name.startsWith('avg') && !name.endsWith('weight'))];
  return {
    measures: measures.length === 0 ? ['count'] : measures,
    groups,
    tz: random.of(ZONES),
    filters: Object.fromEntries(
      random.some<readonly [string, string]>(
        [
          ['text__ne', random.of(TEXTS)],
          ['text__in', 'a,b'],
          ['text__icontains', 'a'],
          ['whole__gte', String(random.below(5) - 3)],
          ['money__isnull', 'false'],
          ['owner__country', random.of(['de', 'fr', 'xx'])],
          ['owner__country__ne', 'de'],
          ['parts__word', random.of(['one', 'two'])],
          ['open', 'true'],
          ['search', random.of(['a', 'b', 'zo'])],
          ['filter', 'or(whole__gte=1,not(text=a))'],
        ],
        12,
      ),
    ),
    ordering: random.some(orders, 8).map((name) => ({ name, descending: random.chance(50) })),
    having: random
      .some(
        known.filter((name) => !name.endsWith('weight') && !/(min|max)\.(text|day|at)/.test(name)),
        5,
      )
      .map((name) => ({ name, lookup: random.of(LOOKUPS), value: comparedValue(name, random) })),
  };
}

/** A value that fits the type of what is compared. */
function comparedValue(name: string, random: Random): string {
  if (name === 'count') return String(random.below(5));
  if (/^(sum|avg)/.test(name))
    return random.of([
      '0',
      '-1.5',
      '12',
      '3',
      '0.333333',
      '1500.25',
      '9007199254740993',
      '-9007199254740995.5',
    ]);
  return name.endsWith('money') ? random.of(['0', '-1.5', '1500.25']) : random.of(['0', '-1', '2', '12']);
}

/** A number without loss: an integer over a power of ten. */
interface Exact {
  readonly digits: bigint;
  readonly places: number;
}

function exact(text: string): Exact {
  const [, sign = '', whole = '0', places = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  return { digits: BigInt(`${sign}${whole}${places}`), places: places.length };
}

function aligned(a: Exact, b: Exact): readonly [bigint, bigint, number] {
  const places = Math.max(a.places, b.places);
  const to = ({ digits, places: own }: Exact): bigint => digits * 10n ** BigInt(places - own);
  return [to(a), to(b), places];
}

function compareExact(a: Exact, b: Exact): number {
  const [x, y] = aligned(a, b);
  if (x === y) return 0;
  return x < y ? -1 : 1;
}

function add(a: Exact, b: Exact): Exact {
  const [x, y, places] = aligned(a, b);
  return { digits: x + y, places };
}

function textOf({ digits, places }: Exact): string {
  const sign = digits < 0n ? '-' : '';
  const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
  return places === 0 ? sign + text : `${sign}${text.slice(0, -places)}.${text.slice(-places)}`;
}

function divide({ digits, places }: Exact, count: number): string {
  const scaled = (digits < 0n ? -digits : digits) * 10n ** 7n;
  const divisor = BigInt(count) * 10n ** BigInt(places);
  // Seven digits, of which the last one rounds; a rest decides nothing then, because five and more round up.
  const seven = scaled / divisor;
  const six = seven / 10n + (seven % 10n >= 5n ? 1n : 0n);
  return textOf({ digits: digits < 0n ? -six : six, places: 6 });
}

const isNumeric = (name: string): boolean => ['whole', 'large', 'money'].includes(name);

/** Texts by their bytes, numbers by their value; null is the greatest. */
function compareValues(a: unknown, b: unknown, name: string): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  if (isNumeric(name)) return compareExact(exact(String(a)), exact(String(b)));
  if (typeof a === 'number' || typeof a === 'boolean') return Number(a) - Number(b);
  return Math.sign(Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b))));
}

/** By `Intl` alone, for one instant. */
function clockOf(at: string, timeZone: string): { readonly local: Date; readonly offset: number } {
  const instant = Math.floor(Date.parse(at) / 1000) * 1000;
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timeZone === '' ? 'UTC' : timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(instant);
  const part = (type: string): number => Number(parts.find((each) => each.type === type)?.value);
  const local = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return { local: new Date(local), offset: (local - instant) / 1000 };
}

function beginOf(value: string, unit: Unit, tz: string): string {
  const { local, offset } = value.includes('T')
    ? clockOf(value, tz)
    : { local: new Date(`${value}T00:00:00Z`), offset: 0 };
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  const dateOf = (...parts: readonly [number, number, number]): string =>
    new Date(Date.UTC(...parts)).toISOString().slice(0, 10);
  switch (unit) {
    case 'year':
      return dateOf(year, 0, 1);
    case 'quarter':
      return dateOf(year, month - (month % 3), 1);
    case 'month':
      return dateOf(year, month, 1);
    case 'week':
      return dateOf(year, month, day - ((local.getUTCDay() + 6) % 7));
    case 'day':
      return dateOf(year, month, day);
    case 'hour': {
      const text = (seconds: number): string =>
        `${String(Math.floor(seconds / 3600)).padStart(2, '0')}:${String(Math.floor(seconds / 60) % 60).padStart(2, '0')}`;
      const zone = offset === 0 ? 'Z' : `${offset < 0 ? '-' : '+'}${text(Math.abs(offset))}`;
      return `${local.toISOString().slice(0, 13)}:00:00${zone}`;
    }
    default:
      return unit satisfies never;
  }
}

/** The aggregates of rows, computed in process. */
class Computation {
  constructor(
    private readonly asked: Asked,
    private readonly countries: ReadonlyMap<unknown, unknown>,
  ) {}

  groupsOf(rows: readonly Shown[]): readonly Readonly<Record<string, unknown>>[] {
    const { groups, having, ordering, measures } = this.asked;
    const found = new Map<string, { keys: readonly unknown[]; rows: Shown[] }>();
    if (groups.length === 0) found.set('[]', { keys: [], rows: [] });
    for (const row of rows) {
      const keys = groups.map(({ name, unit }) => {
        const value = name === 'owner.country' ? (this.countries.get(row.owner) ?? null) : row[name];
        return unit && value !== null ? beginOf(String(value), unit, this.asked.tz) : value;
      });
      const id = JSON.stringify(keys);
      const group = found.get(id) ?? { keys, rows: [] };
      found.set(id, group);
      group.rows.push(row);
    }
    const kept = [...found.values()].filter((group) => having.every((term) => this.holds(term, group.rows)));
    const orders = [...ordering, ...groups.map(({ name }) => ({ name, descending: false }))];
    kept.sort((a, b) => {
      for (const { name, descending } of orders) {
        const index = groups.findIndex((each) => each.name === name);
        const order =
          index < 0
            ? compareValues(
                this.valueOf(name, a.rows),
                this.valueOf(name, b.rows),
                name === 'count' ? 'whole' : (name.split('.')[1] ?? ''),
              )
            : this.compareKeys(index, a.keys[index], b.keys[index]);
        if (order !== 0) return descending ? -order : order;
      }
      return 0;
    });
    return kept.map((group) => {
      const result: Record<string, unknown> = Object.fromEntries(
        groups.map(({ name }, index) => [name, group.keys[index]]),
      );
      if (measures.includes('count')) result.count = group.rows.length;
      for (const kind of ['sum', 'avg', 'min', 'max']) {
        const ofKind = measures.filter((each) => each.startsWith(`${kind}.`));
        if (ofKind.length > 0)
          result[kind] = Object.fromEntries(
            ofKind.map((each) => [each.slice(kind.length + 1), this.valueOf(each, group.rows)]),
          );
      }
      return result;
    });
  }

  private compareKeys(index: number, a: unknown, b: unknown): number {
    const { name = '', unit } = this.asked.groups[index] ?? {};
    if (unit !== 'hour' || a === null || b === null) return compareValues(a, b, unit ? '' : name);
    // The clock first, and the greater offset before the other.
    const clock = compareValues(String(a).slice(0, 19), String(b).slice(0, 19), '');
    return clock === 0 ? Date.parse(String(a)) - Date.parse(String(b)) : clock;
  }

  private valueOf(measure: string, rows: readonly Shown[]): unknown {
    if (measure === 'count') return rows.length;
    const [kind = '', name = ''] = measure.split('.');
    const values = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
    if (values.length === 0) return null;
    if (kind === 'min' || kind === 'max')
      return values.reduce((a, b) => (compareValues(a, b, name) < 0 === (kind === 'min') ? a : b));
    if (name === 'weight') {
      const sum = (values as number[]).reduce((a, b) => a + b, 0);
      return kind === 'sum' ? sum : sum / values.length;
    }
    const sum = values.map((value) => exact(String(value))).reduce(add);
    if (kind === 'avg') return divide(sum, values.length);
    return name === 'whole' ? Number(sum.digits) : textOf(sum);
  }

  private holds({ name, lookup, value }: Asked['having'][number], rows: readonly Shown[]): boolean {
    const [kind, field = ''] = name.split('.');
    let order: number | undefined;
    if (kind === 'avg') {
      // The sum is compared with so many times the value.
      const sum = this.valueOf(`sum.${field}`, rows);
      const count = rows.filter((row) => row[field] !== null).length;
      const { digits, places } = exact(value);
      if (sum !== null) order = compareExact(exact(String(sum)), { digits: digits * BigInt(count), places });
    } else {
      const own = this.valueOf(name, rows);
      if (own !== null) order = compareExact(exact(String(own)), exact(value));
    }
    if (order === undefined) return lookup === 'ne';
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
      default:
        return order <= 0;
    }
  }
}

function queryOf({ measures, groups, tz, filters, ordering, having }: Asked): string {
  return new URLSearchParams({
    ...filters,
    aggregate: measures.join(','),
    group: groups.map(({ name, unit }) => (unit ? `${name}:${unit}` : name)).join(','),
    tz,
    ordering: ordering.map(({ name, descending }) => (descending ? `-${name}` : name)).join(','),
    ...Object.fromEntries(having.map(({ name, lookup, value }) => [`having.${name}__${lookup}`, value])),
  }).toString();
}

/** Floats are added in any order. */
function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(9));
  if (Array.isArray(value)) return value.map(rounded);
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, rounded(each)]))
    : value;
}

onEachDatabase('random aggregates', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [AnyOwner, AnyRow, AnyPart],
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
    });
    const random = new Random(SEED);
    const { manager } = started.dataSource;
    await manager.insert(
      AnyOwner,
      ['de', 'fr', 'DE', 'de', 'ch'].map((country, index) => ({ id: index + 1, country })),
    );
    await manager.insert(AnyRow, [...createRows(random)]);
    await manager.softDelete(AnyRow, [3, 4, 5]);
    await manager.insert(
      AnyPart,
      Array.from({ length: 120 }, (_, id) => ({
        id,
        word: random.of(['one', 'two']),
        row: { id: random.below(150) },
      })),
    );
  }, 60_000);
  afterAll(() => started.close());

  test(`are those of the caller's own list, ${REQUESTS} times`, async () => {
    const random = new Random(SEED + 1);
    const get = async (path: string, actor: string): Promise<unknown> => {
      const authorization = `Basic ${Buffer.from(`${actor}:pw`).toString('base64')}`;
      const { status, json } = await started.client.get(`/rest/v1/any/${path}`, {
        headers: { authorization },
      });
      return status === 200 ? json : { status, json };
    };
    for (let at = 0; at < REQUESTS; at++) {
      const actor = random.of(ACTORS);
      const asked = ask(random, actor);
      const list = random.chance(25) ? `anyowner/${1 + random.below(2)}/rows/` : 'anyrow/';
      const rows = await get(`${list}?${new URLSearchParams(asked.filters).toString()}`, actor);
      const owners = (await get('anyowner/', actor)) as { id: number; country: string }[];
      const computed = Array.isArray(rows)
        ? new Computation(asked, new Map(owners.map(({ id, country }) => [id, country]))).groupsOf(
            rows as Shown[],
          )
        : rows;
      const query = queryOf(asked);
      const answered = await get(`${list}?${query}`, actor);
      expect({ at, actor, list, query, groups: rounded(answered) }).toEqual({
        at,
        actor,
        list,
        query,
        groups: rounded(computed),
      });
    }
  }, 600_000);
});
