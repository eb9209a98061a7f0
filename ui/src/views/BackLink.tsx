import type { JSX } from 'preact';
import { isIndex } from '../api/load.js';
import type { Loaded } from '../api/load.js';
import { usePage } from './context.js';
import { Link } from './Link.js';
import { currentEntry } from './page-history.js';
import { isObjectUrl } from './title.js';

/** The way from an object back to the list from which it was opened, with its filters and page. */
export function BackLink({ loaded }: { readonly loaded: Loaded }): JSX.Element | null {
  const { url } = usePage();
  const { description } = loaded;
  const { from } = currentEntry();
  // While the next URL is loading, the one before is shown.
  if (!from || loaded.url !== url || !description || isIndex(description) || !isObjectUrl(description))
    return null;
  return (
    <p class="back">
      <Link href={from.url}>← {from.title}</Link>
    </p>
  );
}
