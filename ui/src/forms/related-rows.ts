import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { JSON_TYPE } from '../api/client.js';
import type { Client } from '../api/client.js';
import type { Links } from '../api/links.js';
import { toReply } from '../api/load.js';
import type { Loader } from '../api/load.js';
import { toListPage } from '../api/page.js';
import type { Row } from '../api/page.js';
import { withParameters } from '../api/urls.js';
import { keyTextOf, labelOf } from '../values/label.js';

/** The number of objects that a picker requests. */
const PAGE_SIZE = 20;
/** Shorter texts match too many objects, and few indexes serve them. */
export const SHORTEST_SEARCH = 3;

/** A related object that can be chosen. */
export interface Choice {
  readonly key: string;
  readonly label: string;
}

interface Tools {
  readonly client: Client;
  readonly loader: Loader;
  readonly links: Links;
}

/** Finds objects of one model as the caller, a few at a time: the list is never loaded. */
export class RelatedRows {
  /** @param list the path of the model's list. */
  constructor(
    readonly list: string,
    private readonly tools: Tools,
  ) {}

  describe(signal: AbortSignal): Promise<RouteDescription | undefined> {
    return this.tools.loader.describeUrl(this.list, signal);
  }

  /**
   * The object with a typed key first, then those that match a search; the first objects of the list without a text.
   * Rejects if the server cannot be reached, or the request is aborted.
   */
  async find(typed: string, signal: AbortSignal): Promise<readonly Choice[]> {
    const description = await this.describe(signal);
    if (!description) return [];
    const text = typed.trim();
    if (text === '') return this.read(description, firstRows(description), signal);
    const parameter = description.search?.parameter;
    const searches = parameter !== undefined && text.length >= SHORTEST_SEARCH;
    const [byKey, found] = await Promise.all([
      this.byKey(text, description, signal),
      searches ? this.read(description, { [parameter]: text }, signal) : [],
    ]);
    return [...byKey, ...found.filter(({ key }) => key !== byKey[0]?.key)];
  }

  /** Undefined for an object that the caller may not see. Rejects as `find`. */
  async findByKey(key: string, signal: AbortSignal): Promise<Choice | undefined> {
    const description = await this.describe(signal);
    return description && (await this.byKey(key, description, signal))[0];
  }

  private async byKey(
    text: string,
    description: RouteDescription,
    signal: AbortSignal,
  ): Promise<readonly Choice[]> {
    const { client } = this.tools;
    const isComposite = (description.key?.length ?? 0) > 1 || description.key_is_text === true;
    // The text of a composite key is already encoded.
    const segment = isComposite ? text : encodeURIComponent(text);
    const exchange = await client.get(`${this.list}${segment}/`, {
      accept: JSON_TYPE,
      signal,
    });
    const { status, value } = await toReply(exchange);
    return status === 200 ? choicesOf([value as Row], description) : [];
  }

  private async read(
    description: RouteDescription,
    parameters: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<readonly Choice[]> {
    const { size } = description.pagination ?? {};
    const url = withParameters(this.list, {
      ...parameters,
      ...(size === undefined ? {} : { [size]: String(PAGE_SIZE) }),
    });
    const { client, links } = this.tools;
    const reply = await toReply(
      await client.get(url, { accept: JSON_TYPE, signal, prefer: 'count=none' }),
      PAGE_SIZE,
    );
    if (reply.status >= 400) return [];
    const { rows } = toListPage({ ...reply, pagination: description.pagination }, links);
    return choicesOf(rows.slice(0, PAGE_SIZE), description);
  }
}

/** Ordered by the label where an index serves that order, so that no table is sorted. */
function firstRows({ label, ordering }: RouteDescription): Readonly<Record<string, string>> {
  const field = /^\{([^{}]*)\}$/.exec(label ?? '')?.[1];
  return field !== undefined && ordering?.indexed.includes(field) === true
    ? { [ordering.parameter]: field }
    : {};
}

function choicesOf(rows: readonly Row[], description: RouteDescription): readonly Choice[] {
  return rows.flatMap((row) => {
    const key = keyTextOf(row, description.key, true);
    return key === undefined ? [] : [{ key, label: labelOf(row, description) }];
  });
}
