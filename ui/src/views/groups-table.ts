import type {
  AggregatesDescription,
  ReadableFieldDescription,
  RouteDescription,
} from '../../../src/core/contracts/route-description.js';
import { exactMember } from '../api/parse-json.js';
import type { Row } from '../api/page.js';
import { orderingOf } from '../api/summary.js';
import type { Group, Summary } from '../api/summary.js';
import { text } from '../messages/messages.js';
import { formatUnit } from '../values/format.js';
import { labelOfField } from './filter-state.js';

/** The label of a measure, for people: `Sum of Total`. */
export function labelOfMeasure(measure: string, description: RouteDescription): string {
  const [, kind = '', field = ''] = /^(\w+)\.(.*)$/.exec(measure) ?? [];
  const name = labelOfField(field.replaceAll('.', '__'), description);
  return text(`measure_${kind || 'count'}` as 'measure_sum', { name });
}

/** The label of what groups are made of: `Created at (month)`. */
export function labelOfGroup({ name, choice }: Group, { description, language }: GroupNames): string {
  const label = labelOfField(name.replaceAll('.', '__'), description);
  return isUnit(choice) ? `${label} (${unitName(choice, language)})` : label;
}

/** The name of a unit of time: `month`. */
export function unitName(unit: string, language: string): string {
  const code = unit === 'week' ? 'weekOfYear' : unit;
  return new Intl.DisplayNames(language, { type: 'dateTimeField' }).of(code) ?? unit;
}

interface GroupNames {
  readonly description: RouteDescription;
  readonly language: string;
}

/** Groups as rows of a table. */
export interface GroupsTable {
  readonly rows: readonly Row[];
  readonly columns: readonly string[];
  /** That of a list whose objects are the groups. */
  readonly description: RouteDescription;
}

/** The groups of a response as rows with a value for each column, and the description of such a list. */
export function toGroupsTable(
  given: readonly Row[],
  { measures, groups }: Summary,
  { names, language, ...described }: Described,
): GroupsTable {
  const { description } = described;
  // Groups are no objects with URLs.
  const { objects: _objects, ...list } = description;
  const fields: Record<string, ReadableFieldDescription> = {};
  for (const { name, choice } of groups)
    fields[name] = {
      kind: isUnit(choice) ? 'string' : (description.fields[name]?.kind ?? 'string'),
      label: labelOfGroup({ name, choice }, { description, language }),
      nullable: true,
    };
  for (const measure of measures)
    fields[measure] = {
      kind: kindOf(measure, description),
      label: labelOfMeasure(measure, description),
      nullable: true,
    };
  const rows = given.map((row): Row => {
    const flat: Record<string, unknown> = { labels: row.labels };
    for (const { name, choice } of groups)
      flat[name] = isUnit(choice) ? unitText(row[name], choice, language) : row[name];
    for (const measure of measures) flat[measure] = measured(row, measure);
    return flat;
  });
  const orders = names.ordering.filter(
    (name) => fields[name] ?? !names.groups.some((each) => each.name === name),
  );
  return {
    rows,
    columns: Object.keys(fields),
    description: {
      ...list,
      fields,
      with: 'labels',
      ordering: {
        parameter: orderingOf(description),
        fields: orders,
        default: groups.map(({ name }) => name),
        indexed: [],
      },
    },
  };
}

interface Described extends GroupNames {
  readonly names: AggregatesDescription;
}

/** Whether groups are those of a unit of time. */
export function isUnit(choice: string): boolean {
  return choice !== '' && choice !== 'label';
}

/** The value of a measure in a group, with all its digits. */
export function measured(row: Row, measure: string): unknown {
  const [, kind = '', field = ''] = /^(\w+)\.(.*)$/.exec(measure) ?? [];
  return kind === '' ? row[measure] : exactMember(row[kind] ?? {}, field);
}

function unitText(key: unknown, unit: string, language: string): unknown {
  return typeof key === 'string' ? formatUnit(key, unit, language) : key;
}

function kindOf(measure: string, { fields }: RouteDescription): ReadableFieldDescription['kind'] {
  const [, kind = '', field = ''] = /^(\w+)\.(.*)$/.exec(measure) ?? [];
  return kind === 'min' || kind === 'max' ? (fields[field]?.kind ?? 'string') : 'decimal';
}
