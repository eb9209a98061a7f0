import type { IndexDescription, RouteDescription } from '../../../src/core/contracts/route-description.js';
import { DESCRIPTION_TYPE, JSON_TYPE } from './client.js';
import type { Client, Exchange } from './client.js';
import type { SentRequest } from './sent-request.js';
import { readBody } from './read-rows.js';
import { parentPath, pathOf, withParameters } from './urls.js';

/** Rows of a list without pagination that are read. */
export const MOST_ROWS = 1_000;

/** A response, as the panel of the request shows it. */
export interface Reply {
  readonly request: SentRequest;
  readonly status: number;
  readonly headers: Headers;
  readonly milliseconds: number;
  readonly text: string;
  readonly value: unknown;
  /** True if the list has more rows than were read. */
  readonly cut: boolean;
}

/** Everything that is shown for one URL. */
export interface Loaded {
  readonly url: string;
  readonly reply: Reply;
  /** Undefined if the caller gets no description. */
  readonly description: RouteDescription | IndexDescription | undefined;
  /** Of a nested list: the description of the object above. */
  readonly parent: { readonly path: string; readonly description: RouteDescription } | undefined;
}

export function isIndex(description: Loaded['description']): description is IndexDescription {
  return description?.name === 'Index' && 'caller' in description;
}

/** Loads URLs with their descriptions, which are kept for the tab: they depend on the path and the caller alone. */
export class Loader {
  private readonly descriptions = new Map<string, Reply>();

  constructor(private readonly client: Client) {}

  /** After the caller has changed. */
  forget(): void {
    this.descriptions.clear();
  }

  /** Rejects if the server cannot be reached, or the request is aborted. */
  async load(url: string, signal: AbortSignal): Promise<Loaded> {
    const described = await this.describe(pathOf(url), signal);
    const description = descriptionOf(described);
    if (described.status >= 400 && described.status !== 405 && described.status !== 406)
      return { url, reply: described, description: undefined, parent: undefined };
    const labels = description && !isIndex(description) ? description.with : undefined;
    const labelled = labels === undefined ? url : withParameters(url, { [labels]: 'labels' });
    const reply = await toReply(await this.client.get(labelled, { accept: JSON_TYPE, signal }));
    return { url, reply, description, parent: await this.describeParent(url, description, signal) };
  }

  /** The description of a list or an object; undefined if the caller gets none. */
  async describeUrl(path: string, signal: AbortSignal): Promise<RouteDescription | undefined> {
    const description = descriptionOf(await this.describe(path, signal));
    return description && !isIndex(description) ? description : undefined;
  }

  private async describe(path: string, signal: AbortSignal): Promise<Reply> {
    const known = this.descriptions.get(path);
    if (known) return known;
    const reply = await toReply(await this.client.get(path, { accept: DESCRIPTION_TYPE, signal }));
    if (reply.status === 200) this.descriptions.set(path, reply);
    return reply;
  }

  private async describeParent(
    url: string,
    description: Loaded['description'],
    signal: AbortSignal,
  ): Promise<Loaded['parent']> {
    if (!description || isIndex(description)) return undefined;
    if (description.kind !== 'one-to-many' && description.kind !== 'through-list') return undefined;
    const path = parentPath(pathOf(url));
    if (path === undefined) return undefined;
    const above = descriptionOf(await this.describe(path, signal));
    return above && !isIndex(above) ? { path, description: above } : undefined;
  }
}

/** Reads the body of a response; of a list at most `limit` rows. */
export async function toReply(
  { request, response, milliseconds }: Exchange,
  limit = MOST_ROWS,
): Promise<Reply> {
  const { value, text, cut } = await readBody(response, limit);
  return { request, status: response.status, headers: response.headers, milliseconds, text, value, cut };
}

function descriptionOf({ status, value }: Reply): Loaded['description'] {
  const isDescription = status === 200 && typeof value === 'object' && value !== null && 'actions' in value;
  return isDescription ? (value as Loaded['description']) : undefined;
}
