import type { JSX } from 'preact';
import type { Links } from '../api/links.js';
import { isIndex } from '../api/load.js';
import type { Loaded } from '../api/load.js';
import { pathOf } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { usePage } from './context.js';
import { Link } from './Link.js';

/** The way from the index to the current URL. The app of a model has no page of its own. */
export function Breadcrumbs({ loaded }: { readonly loaded: Loaded | undefined }): JSX.Element {
  const { links, url } = usePage();
  const collection = collectionOf(loaded, links);
  const below = pathOf(url).slice(links.index.length).split('/').filter(Boolean);
  const steps = below.map((segment, at) => {
    const href = `${links.index}${below.slice(0, at + 1).join('/')}/`;
    return { segment, href, hasPage: collection !== undefined && href.startsWith(collection) };
  });
  // Of the segments without a page, the last one is the app; those before it are the prefix.
  const first = Math.max(0, steps.findIndex(({ hasPage }) => hasPage) - 1);
  return (
    <nav aria-label={text('pages')} class="crumbs">
      <ol>
        <li>
          <Link href={links.index} current={steps.length === 0}>
            {text('index')}
          </Link>
        </li>
        {steps.slice(first).map(({ segment, href, hasPage }) => (
          <li key={href}>
            {hasPage ? (
              <Link href={href} current={href === steps.at(-1)?.href}>
                {readable(segment)}
              </Link>
            ) : (
              readable(segment)
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** The path of the model's list: prefixes and apps have no pages of their own. */
function collectionOf(loaded: Loaded | undefined, links: Links): string | undefined {
  const description = loaded?.parent?.description ?? loaded?.description;
  if (!description || isIndex(description)) return undefined;
  const { objects } = description;
  return objects === undefined ? undefined : links.toLocal(objects);
}

function readable(segment: string): string {
  try {
    return escapeText(decodeURIComponent(segment));
  } catch {
    return segment;
  }
}
