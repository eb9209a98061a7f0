import type { IndexDescription, RouteDescription } from '../../../src/core/contracts/route-description.js';
import { labelOf } from '../values/label.js';
import { isCounted } from './count-rows.js';
import { DESCRIPTION_TYPE, JSON_TYPE } from './client.js';
import type { Client, Exchange } from './client.js';
import type { SentRequest } from './sent-request.js';
import type { Row } from './page.js';
import { MOST_ROWS, readBody } from './read-rows.js';
import { summaryOf } from './summary.js';
import { parentPath, pathOf, withParameters, withSlash } from './urls.js';

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
  /** Of a nested list and its through objects: the object above. */
  readonly parent: ParentObject | undefined;
}

/** The object above a nested list. */
export interface ParentObject {
  /** Its path, with a slash at the end. */
  readonly path: string;
  readonly description: RouteDescription;
  /** Undefined if its model has no label for this caller, or the object cannot be read. */
  readonly label: string | undefined;
}

export function isIndex(description: Loaded['description']): description is IndexDescription {
  return description?.name === 'Index' && 'caller' in description;
}

/** Loads URLs with their descriptions, which are kept for the tab: they depend on the path and the caller alone. */
export class Loader {
  /** The numbers of objects of lists that the user has asked for, by path. */
  readonly counts = new Map<string, string>();
  private readonly descriptions = new Map<string, Reply>();
  /** The labels of objects, by path. */
  private readonly labels = new Map<string, string>();

  constructor(private readonly client: Client) {}

  /** After the caller has changed. */
  forget(): void {
    for (const kept of [this.descriptions, this.labels, this.counts]) kept.clear();
  }

  /** Rejects if the server cannot be reached, or the request is aborted. */
  async load(url: string, signal: AbortSignal): Promise<Loaded> {
    const described = await this.describe(pathOf(url), signal);
    const description = descriptionOf(described);
    if (described.status >= 400 && described.status !== 405 && described.status !== 406)
      return { url, reply: described, description: undefined, parent: undefined };
    const route = description && !isIndex(description) ? description : undefined;
    const isSummary = summaryOf(url, route) !== undefined;
    // Counting may take long: it follows when the rows are shown.
    const prefer = !isSummary && isCounted(url, route?.pagination) ? 'count=none' : undefined;
    const asked = isSummary ? url : withAdditions(url, route);
    const [reply, parent] = await Promise.all([
      this.client.get(asked, { accept: JSON_TYPE, signal, prefer }).then((exchange) => toReply(exchange)),
      this.findParent(url, description, signal),
    ]);
    if (description && !isIndex(description) && description.kind === 'object' && reply.status === 200)
      this.labels.set(withSlash(pathOf(url)), labelOf(reply.value as Row, description));
    return { url, reply, description, parent };
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

  private async findParent(
    url: string,
    description: Loaded['description'],
    signal: AbortSignal,
  ): Promise<ParentObject | undefined> {
    const path = description ? parentPathOf(url, description) : this.findKnownParent(url);
    if (path === undefined) return undefined;
    const above = await this.describeUrl(path, signal);
    return above && { path, description: above, label: await this.findLabel(path, above, signal) };
  }

  /** Of a nested URL that a method of the application serves, which has no description: the object that lists it. */
  private findKnownParent(url: string): string | undefined {
    const path = parentPath(pathOf(url));
    const known = path === undefined ? undefined : this.descriptions.get(path);
    const above = known && descriptionOf(known);
    if (path === undefined || !above || isIndex(above)) return undefined;
    const segment = withSlash(pathOf(url)).slice(path.length, -1);
    return above.nested.some(({ name }) => name === segment) ? path : undefined;
  }

  private async findLabel(
    path: string,
    description: RouteDescription,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (description.label === undefined) return undefined;
    const known = this.labels.get(path);
    if (known !== undefined) return known;
    const { status, value } = await toReply(await this.client.get(path, { accept: JSON_TYPE, signal }));
    if (status !== 200) return undefined;
    const label = labelOf(value as Row, description);
    this.labels.set(path, label);
    return label;
  }
}

/** Asks for the labels of related objects, and for the numbers of those in lists. */
function withAdditions(url: string, description: RouteDescription | undefined): string {
  const { with: labels, counts } = description ?? {};
  const parameter = labels ?? counts?.parameter;
  if (parameter === undefined) return url;
  const added = [...(labels === undefined ? [] : ['labels']), ...(counts?.lists.length ? ['counts'] : [])];
  return withParameters(url, { [parameter]: added.join(',') });
}

/** The path of the object above a nested list, or above one of its through objects. */
function parentPathOf(url: string, description: Loaded['description']): string | undefined {
  if (!description || isIndex(description)) return undefined;
  const above = parentPath(pathOf(url));
  switch (description.kind) {
    case 'one-to-many':
    case 'through-list':
      return above;
    case 'through-object':
      return above === undefined ? undefined : parentPath(above);
    default:
      return undefined;
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
