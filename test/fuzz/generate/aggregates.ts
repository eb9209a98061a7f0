import type { Model } from '../model/answers.js';
import { unitsOf } from '../model/aggregates.js';
import { fieldsOf } from '../model/fields.js';
import { operandOf } from '../model/filters.js';
import type { Resource } from '../model/resources.js';
import { State } from '../model/state.js';
import { TIME_UNITS } from '../model/time-units.js';
import { isPlainKind } from '../model/values.js';
import { entityNamed, MEASURE_KINDS } from '../schema.js';
import type { AggregateSpec, ColumnKind, EntitySpec, SchemaSpec } from '../schema.js';
import type { Entries } from './queries.js';
import type { Random } from './random.js';
import { textValue } from './values.js';

const NUMBERS: readonly ColumnKind[] = ['int', 'version', 'bigint', 'decimal', 'double'];
const ORDERED: readonly ColumnKind[] = [...NUMBERS, 'varchar', 'text', 'date', 'datetime'];
const ZONES = ['Europe/Berlin', 'europe/berlin', 'America/New_York', 'Asia/Kathmandu', 'UTC', '', 'Mars/One'];
const LOOKUPS = ['', '__exact', '__ne', '__gt', '__gte', '__lt', '__lte'] as const;

/** What may be computed of the rows of an entity, and over its forward relations. */
export function aggregateFor(random: Random, entity: EntitySpec, schema: SchemaSpec): AggregateSpec {
  const fields = fieldsOf(new State(schema, 'sqlite'), { entity, options: {} });
  const columns = fields.flatMap(({ column }) => column ?? []);
  const named = (kinds: readonly ColumnKind[]): readonly string[] =>
    random.some(
      columns.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name),
      0.6,
    );
  const forward = fields.flatMap(({ relation }) => (relation?.kind === 'to-one' ? [relation] : []));
  const over = forward.flatMap(({ name, target }) =>
    entityNamed(schema, target)
      .columns.filter(({ kind }) => isPlainKind(kind))
      .map((column) => `${name}.${column.name}`),
  );
  // Each key and each unique value is a group of its own.
  const own = columns
    .filter(({ kind, unique }) => isPlainKind(kind) && unique !== true)
    .filter((column) => !entity.key.columns.includes(column) || random.chance(0.3))
    .map(({ name }) => name);
  return {
    group: [...random.some([...own, ...forward.map(({ name }) => name)], 0.8), ...random.some(over, 0.4)],
    sum: named(NUMBERS),
    avg: named(NUMBERS),
    min: named(ORDERED),
    max: named(ORDERED),
    ...(random.chance(0.25) ? { minGroup: random.between(2, 3) } : {}),
  };
}

interface Asking {
  readonly resource: Resource;
  readonly path: string;
  readonly entries: Entries;
}

/** Adds the parameters of an aggregate, one in twelve of which are wrong. */
export function aggregateEntries(random: Random, model: Model, { resource, path, entries }: Asking): void {
  const { aggregate, pagination } = resource.options;
  if (!aggregate) return;
  const known = [...model.pages.groupCursors].filter(([, { list }]) => list.includes(`${path} `)).slice(-20);
  if (pagination?.kind === 'cursor' && known.length > 0 && random.chance(0.5)) {
    const [cursor, position] = random.pick(known);
    entries.splice(
      0,
      entries.length,
      ...position.entries.map(([name, value]): [string, string] => [name, value]),
    );
    entries.push(['cursor', cursor]);
    if (random.chance(0.1)) entries.push(['aggregate', 'count']);
    return;
  }
  const kept = entries.filter(([name]) => name !== 'ordering' && (name !== 'cursor' || random.chance(0.1)));
  entries.splice(0, entries.length, ...kept);
  const measures = [
    'count',
    ...MEASURE_KINDS.flatMap((kind) => aggregate[kind].map((each) => `${kind}.${each}`)),
  ];
  const pickMeasures = (): string[] =>
    random.shuffled([...measures, ...(random.chance(0.05) ? ['sum.unknown', 'median.id', 'count.id'] : [])]);
  entries.push(['aggregate', pickMeasures().slice(0, random.between(1, 3)).join(',')]);
  const groups = random.shuffled(aggregate.group).slice(0, random.pick([0, 1, 1, 1, 2]));
  if (groups.length > 0 || random.chance(0.1))
    entries.push(['group', groups.map((name) => groupText(random, model, { resource, name })).join(',')]);
  if (random.chance(0.4)) entries.push(['tz', random.pick(ZONES)]);
  if (random.chance(0.4)) {
    const orders = random.shuffled([...groups, ...measures.filter((name) => !name.startsWith('avg'))]);
    if (random.chance(0.05)) orders.unshift(random.pick(['unknown', 'avg.id', ...measures]));
    const chosen = orders.slice(0, random.between(1, 2));
    entries.push(['ordering', chosen.map((name) => `${random.chance(0.5) ? '-' : ''}${name}`).join(',')]);
  }
  for (const name of pickMeasures().slice(0, random.pick([0, 0, 0, 1, 1, 2])))
    entries.push([
      `having.${name}${random.chance(0.04) ? '__like' : random.pick(LOOKUPS)}`,
      comparedText(random, model, { resource, name }),
    ]);
}

function groupText(
  random: Random,
  { state }: Model,
  { resource, name }: { readonly resource: Resource; readonly name: string },
): string {
  if (random.chance(0.04))
    return random.pick([
      'unknown',
      `${name}:decade`,
      `${name}:hour`,
      `${name}:label`,
      `${name},${name}:year`,
      `${name},${name}`,
    ]);
  const isKey = resource.entity.relations.some((relation) => relation.name === name);
  const units = isKey ? [] : unitsOf(operandOf(state, resource.entity, name.split('.')).kind);
  return units.length > 0 && random.chance(0.8)
    ? `${name}:${random.pick(TIME_UNITS.filter((unit) => units.includes(unit)))}`
    : name;
}

function comparedText(
  random: Random,
  { state }: Model,
  { resource, name }: { readonly resource: Resource; readonly name: string },
): string {
  if (random.chance(0.05)) return random.pick(['x', '', '1.2345678', '[1]']);
  const [kind = '', path] = name.split('.');
  if (path === undefined) return random.pick(['0', '1', '2', '3']);
  const column = operandOf(state, resource.entity, [path]);
  const values = resource.rows().map((row) => row.values[path] ?? null);
  const stored = values.filter((value) => value !== null && typeof value !== 'object');
  if (kind === 'sum' || kind === 'avg' || stored.length === 0)
    return random.pick(['0', '1', '-1', '2.5', '7', '12.25', '0.333333', '9007199254740993']);
  return random.chance(0.8) ? String(random.pick(stored)) : textValue(random, column);
}
