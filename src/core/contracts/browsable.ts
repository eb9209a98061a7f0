/** How the page authenticates its requests, in addition to its own form for Basic and bearer credentials. */
export interface PageLogin {
  /** Whether requests of the page carry the application's cookies, for a session. Default: false. */
  readonly cookie?: boolean;
  /** The cookie that holds the session's CSRF token, and the header in which unsafe methods send it. */
  readonly csrf?: { readonly cookie: string; readonly header: string };
  /** A page of the application that logs in, to which the page links. */
  readonly loginUrl?: string;
  /** A page of the application that logs out. */
  readonly logoutUrl?: string;
}

/** Pages of the application about its API, to which the page links. */
export interface PageDocuments {
  /** The path of the OpenAPI document. */
  readonly openApi?: string;
  /** The path of a page that shows it, such as Swagger UI. */
  readonly ui?: string;
}

/** Texts of the page by language and name: `{ en: { title: 'Orders' }, fr: { … } }`. Missing names have the English text. */
export type PageMessages = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The options of the browsable page, given as `browsable`. */
export interface BrowsableOptions {
  /** Headers of each request of the page, such as one that selects a version. Default: those of the application's default version. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly login?: PageLogin;
  readonly documents?: PageDocuments;
  /** Texts that replace those of the page, or translate it. The page has English and German. */
  readonly messages?: PageMessages;
}
