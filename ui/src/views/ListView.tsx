import type { JSX } from 'preact';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import type { Count } from '../api/count-rows.js';
import { isIndex } from '../api/load.js';
import type { Loaded, ParentObject } from '../api/load.js';
import { toListPage } from '../api/page.js';
import type { ListPage } from '../api/page.js';
import { MOST_ROWS } from '../api/read-rows.js';
import { summaryUrl } from '../api/summary.js';
import { pathOf, withoutParameters, withSlash } from '../api/urls.js';
import { BulkForms } from '../forms/BulkForms.js';
import { ListForms } from '../forms/ListForms.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { Actions } from './Actions.js';
import { ColumnMenu, useColumns } from './columns.js';
import type { Columns } from './columns.js';
import { usePage } from './context.js';
import { Downloads } from './Downloads.js';
import { activeFilters, withSearch } from './filter-state.js';
import { Filters } from './Filters.js';
import { Link } from './Link.js';
import { Pager } from './Pager.js';
import { SearchBox } from './SearchBox.js';
import { Table } from './Table.js';
import { useCount } from './use-count.js';
import { useSelection } from './selection.js';
import type { Selection } from './selection.js';
import { Tabs } from './Tabs.js';
import { deletedIn, withDeleted } from './trash.js';
import { nestedLabel } from './title.js';
import { unknownParameters } from './unknown-parameters.js';

/** A list: its filters, a table of its rows, and its pages. */
export function ListView({ loaded }: { readonly loaded: Loaded }): JSX.Element {
  const { links } = usePage();
  const { description: described, reply, parent } = loaded;
  const description = described && !isIndex(described) ? described : undefined;
  const page = toListPage(
    { value: reply.value, headers: reply.headers, pagination: description?.pagination },
    links,
  );
  const count = useCount(loaded, description, page);
  const columns = useColumns(description, page.rows, loaded.url);
  const selection = useSelection(
    loaded.url,
    deletedIn(loaded.url, description) === undefined ? description : undefined,
  );
  return (
    <>
      {parent && <Tabs path={parent.path} description={parent.description} />}
      {description && (
        <ListTools description={description} columns={columns} selection={selection} parent={parent} />
      )}
      {description && <UnknownParameters description={description} />}
      <p class="summary" role="status">
        {page.rows.length > 0 && summarize(page, count, reply.cut)}
      </p>
      {page.rows.length === 0 ? (
        <NoRows description={description} />
      ) : (
        <Table page={page} description={description} columns={columns.shown} selection={selection} />
      )}
      <Pager page={page} count={count} pagination={description?.pagination} />
      {description && <Actions description={description} isObject={false} />}
    </>
  );
}

interface ListToolsProps {
  readonly description: RouteDescription;
  readonly columns: Columns;
  readonly selection: Selection | undefined;
  readonly parent: ParentObject | undefined;
}

/** What one can do with a list: search, filter, download, create, and change many objects. */
function ListTools({ description, columns, selection, parent }: ListToolsProps): JSX.Element {
  const { url } = usePage();
  const { search, filters, bulk, trash, aggregates } = description;
  const deleted = deletedIn(url, description);
  return (
    <>
      <div class="tools">
        {search && <SearchBox description={description} parameter={search.parameter} />}
        {filters.length > 0 && <Filters description={description} />}
        <ColumnMenu columns={columns} />
        <Downloads description={description} />
        {aggregates && <Link href={summaryUrl(url, description, aggregates)}>{text('summary')}</Link>}
        {trash?.parameter !== undefined && (
          <Link href={withDeleted(url, description, deleted === undefined ? 'only' : undefined)}>
            {text(deleted === undefined ? 'trash' : 'leaveTrash')}
          </Link>
        )}
      </div>
      {deleted === undefined && (
        <ListForms
          key={pathOf(url)}
          description={description}
          list={parent && nestedLabel(parent, withSlash(pathOf(url)))}
        />
      )}
      {bulk && selection && (
        <BulkForms description={description} bulk={bulk} chosen={selection.chosen} clear={selection.clear} />
      )}
    </>
  );
}

/** Names that are misspelt have no effect: without a word, the list would look filtered. */
export function UnknownParameters({
  description,
}: {
  readonly description: RouteDescription;
}): JSX.Element | null {
  const { url } = usePage();
  const names = unknownParameters(description, url);
  if (names.length === 0) return null;
  return (
    <div class="problem" role="alert">
      <p>
        {text('unknownParameters', { names: escapeText(names.join(', ')) })}{' '}
        <Link href={withoutParameters(url, names)}>{text('removeParameters')}</Link>
      </p>
    </div>
  );
}

const TOTALS = { exact: 'rowsOfTotal', 'at-least': 'rowsOfAtLeast', about: 'rowsOfAbout' } as const;

function summarize({ rows }: ListPage, count: Count | undefined, cut: boolean): string {
  if (cut) return text('firstRows', { count: MOST_ROWS });
  if (count && count.total !== rows.length)
    return text(TOTALS[count.kind], { shown: rows.length, total: count.total });
  return rows.length === 1 ? text('oneRowShown') : text('rowsShown', { count: rows.length });
}

export function NoRows({ description }: { readonly description: RouteDescription | undefined }): JSX.Element {
  const { url } = usePage();
  const active = description ? activeFilters(description, url) : [];
  const cleared = withoutParameters(
    description ? withSearch(url, undefined, description) : url,
    active.map(({ name }) => name),
  );
  return (
    <p class="nothing">
      {text(active.length > 0 ? 'emptyFiltered' : 'emptyList')}{' '}
      {active.length > 0 && <Link href={cleared}>{text('clearFilters')}</Link>}
    </p>
  );
}
