import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { PageConfig } from '../../../src/http/browsable/page-config.js';
import type { Client } from '../api/client.js';
import type { Links } from '../api/links.js';
import type { Session } from '../api/session.js';

/** What all views use. */
export interface PageContext {
  readonly config: PageConfig;
  readonly client: Client;
  readonly session: Session;
  readonly links: Links;
  readonly language: string;
  /** The path and query of the page. */
  readonly url: string;
  /** Shows another URL of the API. */
  navigate(url: string): void;
  /** Requests the URL again. */
  reload(): void;
}

export const Page = createContext<PageContext | undefined>(undefined);

export function usePage(): PageContext {
  const page = useContext(Page);
  if (!page) throw new Error('A view is rendered outside of the page.');
  return page;
}
