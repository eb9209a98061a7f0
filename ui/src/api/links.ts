import type { PageConfig } from '../../../src/http/browsable/browsable-page.js';

/**
 * Converts URLs in bodies to URLs of this page: a proxy may have another origin than the server, and may remove or add the
 * beginning of paths.
 */
export class Links {
  /** The path of the index, as the browser sees it. */
  readonly index: string;

  private readonly root: string;

  constructor(
    { index, root }: Pick<PageConfig, 'index' | 'root'>,
    private readonly origin: string,
    path: string,
  ) {
    this.index = new URL(index, origin + path).pathname;
    this.root = root;
  }

  /** The path and query of a URL of the API; undefined for any other URL, such as `javascript:`. */
  toLocal(url: string): string | undefined {
    let parsed: URL;
    try {
      parsed = new URL(url, this.origin);
    } catch {
      return undefined;
    }
    const { protocol, pathname, search } = parsed;
    if (protocol !== 'http:' && protocol !== 'https:') return undefined;
    return pathname.startsWith(this.root)
      ? this.index + pathname.slice(this.root.length) + search
      : undefined;
  }
}
