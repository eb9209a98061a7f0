import type { PageDocuments, PageLogin, PageMessages } from '../../core/contracts/browsable.js';

/** The header or media-type parameter that selects a version of the API. */
export interface VersionSelection {
  readonly headers: Readonly<Record<string, string>>;
  /** A parameter of each media type in `Accept`: `v=1`. */
  readonly acceptParameter?: string;
}

/** The configuration of the page, as JSON in the content of `<meta name="restify">`. Holds no data of the application. */
export interface PageConfig extends VersionSelection {
  /** The URL of the prefix's index, relative to that of the page. */
  readonly index: string;
  /** The path of the index, as the server sees it and writes it into links. */
  readonly root: string;
  readonly login: PageLogin;
  readonly documents: PageDocuments;
  readonly messages?: PageMessages;
}
