import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { PageConfig } from '../../../src/http/browsable/browsable-page.js';
import type { Client } from '../api/client.js';
import type { Loader } from '../api/load.js';
import type { Links } from '../api/links.js';
import type { Session } from '../api/session.js';

/** What all views use. */
export interface PageContext {
  readonly config: PageConfig;
  readonly client: Client;
  readonly loader: Loader;
  readonly session: Session;
  readonly links: Links;
  readonly language: string;
  /** The path and query of the page. */
  readonly url: string;
  /** Shows another URL of the API. @param notice what has happened, such as that an object was saved. */
  navigate(url: string, notice?: string): void;
  /** Shows the form to log in, as after a login has expired. */
  openLogin(): void;
  /** Requests the URL again. */
  reload(notice?: string): void;
}

export const Page = createContext<PageContext | undefined>(undefined);

export function usePage(): PageContext {
  const page = useContext(Page);
  if (!page) throw new Error('A view is rendered outside of the page.');
  return page;
}
