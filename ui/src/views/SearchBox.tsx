import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { parametersOf } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { usePage } from './context.js';
import { isRanked, withFilters, withSearch } from './filter-state.js';
import { Link } from './Link.js';

interface SearchProps {
  readonly description: RouteDescription;
  readonly parameter: string;
}

/** Searches the list. */
export function SearchBox({ description, parameter }: SearchProps): JSX.Element {
  const { url, navigate } = usePage();
  const { ordering } = description;
  const given = parametersOf(url).get(parameter) ?? '';
  const [terms, setTerms] = useState(given);
  useEffect(() => {
    setTerms(given);
  }, [given]);
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        navigate(withSearch(url, terms.trim(), description));
      }}
    >
      <label>
        <span class="hidden">{text('search')}</span>
        <input
          type="search"
          value={terms}
          placeholder={text('search')}
          onInput={(event) => {
            setTerms(event.currentTarget.value);
          }}
        />
      </label>
      <button type="submit">{text('search')}</button>
      {ordering?.rank !== undefined && given !== '' && !isRanked(url, description) && (
        <Link href={withFilters(url, { [ordering.parameter]: `-${ordering.rank}` }, description)}>
          {text('bestFirst')}
        </Link>
      )}
    </form>
  );
}
