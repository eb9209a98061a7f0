import type {
  AggregatesDescription,
  RouteDescription,
} from '../../../src/core/contracts/route-description.js';
import { parametersOf, withParameters } from './urls.js';

/** One name of `group=…`, with a unit of time or `label` behind its colon; without one the empty text. */
export interface Group {
  readonly name: string;
  readonly choice: string;
}

/** What a URL asks the server to compute of the rows of its list. */
export interface Summary {
  /** `count`, `sum.total`. */
  readonly measures: readonly string[];
  readonly groups: readonly Group[];
  /** The time zone; the empty text for the server's default. */
  readonly zone: string;
}

type Described = Pick<RouteDescription, 'aggregates'> | undefined;

/** Undefined for the URL of the list itself. */
export function summaryOf(url: string, description: Described): Summary | undefined {
  const names = description?.aggregates;
  if (!names) return undefined;
  const parameters = parametersOf(url);
  const listed = (name: string): readonly string[] => parameters.get(name)?.split(',').filter(Boolean) ?? [];
  const measures = listed(names.parameter);
  if (measures.length === 0) return undefined;
  const groups = listed(names.group).map((each) => {
    const [name = '', choice = ''] = each.split(':');
    return { name, choice };
  });
  return { measures, groups, zone: parameters.get(names.tz) ?? '' };
}

/** The value of `group=…`. */
export function groupsText(groups: readonly Group[]): string {
  return groups.map(({ name, choice }) => (choice === '' ? name : `${name}:${choice}`)).join(',');
}

/** Whether a parameter is a condition on groups. */
export function isHaving(parameter: string, { having }: AggregatesDescription): boolean {
  return parameter.startsWith(`${having}.`);
}

/** The URL of the summary of a list, whose filters stay. */
export function summaryUrl(url: string, description: RouteDescription, names: AggregatesDescription): string {
  const [first] = names.groups;
  const { shape, with: labels, counts } = description;
  const refused = [shape?.fields, shape?.omit, shape?.expand, labels, counts?.parameter];
  return withParameters(url, {
    ...removed([...refused, orderingOf(description), description.pagination?.position]),
    [names.parameter]: names.measures[0],
    [names.group]: first && groupsText([withChoice(first)]),
  });
}

/** The URL of the list of a summary. */
export function listUrl(url: string, description: RouteDescription, names: AggregatesDescription): string {
  const having = [...parametersOf(url).keys()].filter((name) => isHaving(name, names));
  return withParameters(
    url,
    removed([
      ...having,
      names.parameter,
      names.group,
      names.tz,
      orderingOf(description),
      description.pagination?.position,
    ]),
  );
}

/** A group with the choice that people want first: the label, or the month. */
export function withChoice({ name, choices }: AggregatesDescription['groups'][number]): Group {
  const [first = ''] = choices;
  return { name, choice: choices.includes('month') ? 'month' : first };
}

/** The query parameter with the order of groups. */
export function orderingOf({ ordering }: Pick<RouteDescription, 'ordering'>): string {
  return ordering?.parameter ?? 'ordering';
}

function removed(names: readonly (string | undefined)[]): Readonly<Record<string, undefined>> {
  return Object.fromEntries(names.flatMap((name) => (name === undefined ? [] : [[name, undefined]])));
}
