import type { JSX } from 'preact';
import type {
  AggregatesDescription,
  RouteDescription,
} from '../../../src/core/contracts/route-description.js';
import type { Loaded } from '../api/load.js';
import { toListPage } from '../api/page.js';
import type { Row } from '../api/page.js';
import { groupsText, listUrl, orderingOf, withChoice } from '../api/summary.js';
import type { Group, Summary } from '../api/summary.js';
import { text } from '../messages/messages.js';
import { Chart } from './Chart.js';
import type { Point } from './Chart.js';
import { ColumnMenu } from './columns.js';
import { usePage } from './context.js';
import { Downloads } from './Downloads.js';
import { ErrorView } from './ErrorView.js';
import { withFilters } from './filter-state.js';
import { Filters } from './Filters.js';
import { isUnit, labelOfGroup, labelOfMeasure, toGroupsTable, unitName } from './groups-table.js';
import type { GroupsTable } from './groups-table.js';
import { Link } from './Link.js';
import { NoRows, UnknownParameters } from './ListView.js';
import { Pager } from './Pager.js';
import { SearchBox } from './SearchBox.js';
import { Table } from './Table.js';
import { Tabs } from './Tabs.js';

interface SummaryProps {
  readonly description: RouteDescription;
  readonly names: AggregatesDescription;
  readonly summary: Summary;
}

/** What the server computes of the rows of a list, by groups: a chart, and a table. */
export function SummaryView({ loaded, ...props }: SummaryProps & { readonly loaded: Loaded }): JSX.Element {
  const { links, language } = usePage();
  const { description, names, summary } = props;
  const { reply, parent } = loaded;
  const { pagination } = description;
  const page = toListPage({ value: reply.value, headers: reply.headers, pagination }, links);
  const table = toGroupsTable(page.rows, summary, { description, names, language });
  const isRefused = reply.status >= 400;
  return (
    <>
      {parent && <Tabs path={parent.path} description={parent.description} />}
      <SummaryTools {...props} />
      <UnknownParameters description={description} />
      {isRefused && <ErrorView reply={reply} />}
      <p class="summary" role="status">
        {!isRefused && text('groupsShown', { count: page.total ?? page.rows.length })}{' '}
        {reply.headers.get('x-groups-omitted') !== null &&
          text('groupsOmitted', { count: names.min_group ?? '' })}
      </p>
      {!isRefused && page.rows.length === 0 && <NoRows description={description} />}
      {page.rows.length > 0 && (
        <>
          <Charts table={table} rows={page.rows} summary={summary} description={description} />
          <Table
            page={{ ...page, rows: table.rows }}
            description={table.description}
            columns={table.columns}
          />
        </>
      )}
      {!isRefused && (
        <Pager
          page={page}
          count={page.total === undefined ? undefined : { total: page.total, kind: 'exact' }}
          pagination={pagination}
        />
      )}
    </>
  );
}

/** A chart for each measure with numbers. A single number needs none. */
function Charts({
  table,
  rows,
  summary: { measures, groups },
  description,
}: {
  readonly table: GroupsTable;
  readonly rows: readonly Row[];
  readonly summary: Summary;
  readonly description: RouteDescription;
}): JSX.Element | null {
  const { language } = usePage();
  const [first] = groups;
  if (!first) return null;
  const unit = groups.length === 1 && isUnit(first.choice) ? first.choice : undefined;
  const by = groups.map((group) => labelOfGroup(group, { description, language })).join(', ');
  return (
    <>
      {measures.map((measure) => {
        const points = table.rows.flatMap((row, at): readonly Point[] => {
          const value = row[measure] === null ? NaN : Number(row[measure]);
          const time = Date.parse(String(rows[at]?.[first.name]));
          if (!Number.isFinite(value) || (unit !== undefined && Number.isNaN(time))) return [];
          return [
            {
              label: groups.map(({ name }) => groupText(row, name)).join(', '),
              value,
              shown: String(row[measure]),
              time,
            },
          ];
        });
        if (unit !== undefined) points.sort((a, b) => (a.time ?? 0) - (b.time ?? 0));
        const title = text('chartOf', { measure: labelOfMeasure(measure, description), group: by });
        return points.length === 0 ? null : <Chart key={measure} title={title} points={points} unit={unit} />;
      })}
    </>
  );
}

/** The key of a group as its label. */
function groupText(row: Row, name: string): string {
  const labels = row.labels as Readonly<Record<string, string>> | undefined;
  const value = row[name];
  if (value === null || value === undefined) return text('null');
  if (typeof value === 'boolean') return text(value ? 'yes' : 'no');
  return labels?.[name] ?? (value === '' ? text('empty') : String(value));
}

/** Chooses what is computed, by which groups, of which rows. */
function SummaryTools({ description, names, summary }: SummaryProps): JSX.Element {
  const { url, navigate } = usePage();
  const { search, filters } = description;
  const { measures, groups, zone } = summary;
  const choose = (changes: Readonly<Record<string, string | undefined>>): void => {
    navigate(withFilters(url, { ...changes, [orderingOf(description)]: undefined }, description));
  };
  const chooseGroups = (next: readonly Group[]): void => {
    const isTimed = next.some(({ name, choice }) => isUnit(choice) && hasZone(name, names));
    const own = zone === '' ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
    choose({ [names.group]: groupsText(next), [names.tz]: isTimed ? own : undefined });
  };
  const isZoned = groups.some(({ name, choice }) => isUnit(choice) && hasZone(name, names));
  return (
    <>
      <div class="tools">
        {search && <SearchBox description={description} parameter={search.parameter} />}
        {filters.length > 0 && <Filters description={description} />}
        <ColumnMenu
          label={text('measures')}
          columns={{
            all: names.measures.map((name) => ({ name, label: labelOfMeasure(name, description) })),
            shown: measures,
            choose: (chosen = names.measures) => {
              choose({ [names.parameter]: chosen.join(',') });
            },
          }}
        />
        <Downloads description={description} />
        <Link href={listUrl(url, description, names)}>{text('leaveSummary')}</Link>
      </div>
      <div class="row">
        {/* One select more than groups, for a further one. */}
        {[...groups, undefined].map((group, at) => (
          <GroupChoice
            key={at}
            label={text(at === 0 ? 'groupBy' : 'thenBy')}
            group={group}
            taken={groups}
            description={description}
            names={names}
            choose={(next) => {
              chooseGroups([...groups.slice(0, at), ...(next ? [next] : []), ...groups.slice(at + 1)]);
            }}
          />
        ))}
        {isZoned && (
          <label>
            {text('zone')}
            <select
              value={zone || 'UTC'}
              onChange={(event) => {
                choose({ [names.tz]: event.currentTarget.value });
              }}
            >
              {[
                ...new Set(['UTC', ...(zone === '' ? [] : [zone]), ...Intl.supportedValuesOf('timeZone')]),
              ].map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        )}
      </div>
    </>
  );
}

/** Dates have no time zone. */
function hasZone(name: string, { groups }: AggregatesDescription): boolean {
  return groups.some((each) => each.name === name && each.choices.includes('hour'));
}

interface GroupChoiceProps {
  readonly label: string;
  readonly group: Group | undefined;
  /** A name may occur once. */
  readonly taken: readonly Group[];
  readonly description: RouteDescription;
  readonly names: AggregatesDescription;
  choose(group: Group | undefined): void;
}

/** The name of one group, and its unit of time. */
function GroupChoice({
  label,
  group,
  taken,
  description,
  names,
  choose,
}: GroupChoiceProps): JSX.Element | null {
  const { language } = usePage();
  const open = names.groups.filter(
    ({ name }) => name === group?.name || !taken.some((each) => each.name === name),
  );
  const units = names.groups.find(({ name }) => name === group?.name)?.choices.filter(isUnit) ?? [];
  if (open.length === 0) return null;
  return (
    <>
      <label>
        {label}
        <select
          value={group?.name ?? ''}
          onChange={(event) => {
            const chosen = open.find(({ name }) => name === event.currentTarget.value);
            choose(chosen && withChoice(chosen));
          }}
        >
          <option value="">—</option>
          {open.map(({ name }) => (
            <option key={name} value={name}>
              {labelOfGroup({ name, choice: '' }, { description, language })}
            </option>
          ))}
        </select>
      </label>
      {group && units.length > 0 && (
        <label>
          {text('unit')}
          <select
            value={group.choice}
            onChange={(event) => {
              choose({ name: group.name, choice: event.currentTarget.value });
            }}
          >
            <option value="">—</option>
            {units.map((unit) => (
              <option key={unit} value={unit}>
                {unitName(unit, language)}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}
