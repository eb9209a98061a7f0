import type { JSX } from 'preact';
import { isIndex } from '../api/load.js';
import type { Loaded } from '../api/load.js';
import { summaryUrl } from '../api/summary.js';
import { pathOf } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { usePage } from './context.js';
import { ErrorView } from './ErrorView.js';
import { Filters } from './Filters.js';
import { Link } from './Link.js';
import { SearchBox } from './SearchBox.js';
import { Tabs } from './Tabs.js';

/** A URL that the server does not serve, with ways on: its filters, to be corrected, and the URL without them. */
export function FailedView({ loaded }: { readonly loaded: Loaded }): JSX.Element {
  const { url } = usePage();
  const { reply, parent } = loaded;
  const description = loaded.description && !isIndex(loaded.description) ? loaded.description : undefined;
  const hasParameters = pathOf(url) !== url;
  return (
    <>
      {parent && <Tabs path={parent.path} description={parent.description} />}
      <ErrorView reply={reply} />
      {description && hasParameters && (
        <div class="tools">
          {description.search && (
            <SearchBox description={description} parameter={description.search.parameter} />
          )}
          {description.filters.length > 0 && <Filters description={description} />}
        </div>
      )}
      {description?.aggregates && (
        <p>
          <Link href={summaryUrl(url, description, description.aggregates)}>{text('summary')}</Link>
        </p>
      )}
      {hasParameters && (
        <p>
          <Link href={pathOf(url)}>{text('withoutParameters')}</Link>
        </p>
      )}
    </>
  );
}
