import type {
  BrowsableOptions,
  PageDocuments,
  PageLogin,
  PageMessages,
} from '../../core/contracts/browsable.js';
import type { RestResponse } from '../../request/response/rest-response.js';

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

/** A file of the page, named by the hash of its content. */
interface PageAsset {
  /** `3f2a….js` or `….css`. */
  readonly name: string;
  readonly text: string;
}

interface PageAssets {
  readonly script: PageAsset;
  readonly style: PageAsset;
}

/** The segment below a prefix that holds the assets. No model's path begins with it, because `~` is in no name of an app. */
export const ASSETS_SEGMENT = '~ui';

/** Loads the assets, which `npm run build` bundles into one module for both formats of the package. */
export async function loadPageAssets(): Promise<PageAssets> {
  const { default: assets } = await import('../../../ui/assets.cjs');
  return assets;
}

/** Where a page is. All paths end with a slash. */
export interface PageLocation {
  /** The URL of the prefix, below which the assets are, relative to that of the page: `../../`. */
  readonly assets: string;
  /** The URL of the index, relative to that of the page. */
  readonly index: string;
  /** The path of the index on the server. */
  readonly root: string;
}

/** Everything from the server itself, nothing inline, no frames, and no markup from strings. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/**
 * The page of one prefix: a static document without data, the same for every caller and every path, and its assets. Its
 * script requests the JSON of the page's own URL, as the caller.
 */
export class BrowsablePage {
  private readonly assets: ReadonlyMap<string, RestResponse>;

  /** @param findVersion the version that a navigation selects; evaluated with the first page, because the application enables versions after the start of this package. */
  constructor(
    private readonly files: PageAssets,
    private readonly options: BrowsableOptions,
    private readonly findVersion: () => VersionSelection,
  ) {
    const { script, style } = files;
    this.assets = new Map([
      [script.name, createAsset(script, 'text/javascript; charset=utf-8')],
      [style.name, createAsset(style, 'text/css; charset=utf-8')],
    ]);
  }

  /** Whether the page sends its requests with the cookies of a session. */
  get sendsCookies(): boolean {
    return this.options.login?.cookie === true;
  }

  /** Undefined for a name that no file has. */
  findAsset(name: string): RestResponse | undefined {
    return this.assets.get(name);
  }

  createShell({ assets, index, root }: PageLocation): RestResponse {
    const config: PageConfig = {
      index,
      root,
      ...this.findVersion(),
      ...(this.options.headers && { headers: this.options.headers }),
      login: this.options.login ?? {},
      documents: this.options.documents ?? {},
      ...(this.options.messages && { messages: this.options.messages }),
    };
    const text = writeShell(config, this.files, assets);
    return {
      status: 200,
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': CONTENT_SECURITY_POLICY,
        'X-Robots-Tag': 'noindex',
      },
      body: { kind: 'text', text },
    };
  }
}

function createAsset({ text }: PageAsset, mediaType: string): RestResponse {
  return { status: 200, headers: { 'Content-Type': mediaType }, body: { kind: 'text', text } };
}

function writeShell(config: PageConfig, { script, style }: PageAssets, prefix: string): string {
  const assets = escapeAttribute(`${prefix}${ASSETS_SEGMENT}/`);
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<title>REST API</title>',
    '<link rel="icon" href="data:,">',
    `<meta name="restify" content="${escapeAttribute(JSON.stringify(config))}">`,
    `<link rel="stylesheet" href="${assets}${style.name}">`,
    `<script defer src="${assets}${script.name}"></script>`,
    '</head>',
    '<body><div id="app"></div>',
    '<noscript>This page needs JavaScript. Without it, request the same URL with <code>Accept: application/json</code>.</noscript>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
