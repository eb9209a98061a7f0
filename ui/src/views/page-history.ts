import { isIndex } from '../api/load.js';
import type { Loaded } from '../api/load.js';
import { isObjectUrl, titleOf } from './title.js';

/** The list from which an object was opened. */
export interface Origin {
  readonly url: string;
  readonly title: string;
}

/** What is kept with an entry of the browser's history. */
interface Entry {
  readonly scroll?: number;
  readonly from?: Origin;
}

/** The list that is shown, as the origin of the objects that are opened from it. */
function originOf(shown: Loaded | undefined): Origin | undefined {
  const description = shown?.description;
  if (!shown || !description || isIndex(description) || isObjectUrl(description)) return undefined;
  return { url: shown.url, title: titleOf(shown) };
}

/** Adds an entry for a URL. @param shown what the current entry shows. */
export function pushEntry(url: string, shown: Loaded | undefined): void {
  const from = originOf(shown);
  history.replaceState({ ...currentEntry(), scroll: scrollY } satisfies Entry, '');
  history.pushState({ ...(from && { from }) } satisfies Entry, '', url);
}

export function currentEntry(): Entry {
  return (history.state as Entry | null) ?? {};
}
