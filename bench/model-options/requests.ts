import type { LoadRequest, LoadResponse } from '../load.js';
import { CONNECTIONS } from '../load.js';
import { Random } from './random.js';
import { newItem, newTitle, seededItems, wordOf } from './rows.js';
import type { Item } from './rows.js';
import { READERS, userOf, WRITERS } from './users.js';
import type { User } from './users.js';
import type { Variant } from './variants.js';

export const ITEM_WORKLOADS = ['list', 'retrieve', 'create', 'change'] as const;
export type ItemWorkload = (typeof ITEM_WORKLOADS)[number];

export const BASE = '/rest/v1/shop/';
export const HAND_BASE = '/';
/** The number of different requests of a workload, which one connection repeats. */
const DISTINCT_REQUESTS = 24;
const JSON_BODY = { 'content-type': 'application/json' };

export type RequestsOf = (connection: number) => readonly LoadRequest[];

/** The requests of one variant. A connection changes objects that no other connection changes. */
export class ItemRequests {
  readonly items: readonly Item[];
  private readonly random = new Random(42);
  private readonly etags = new Map<string, string>();
  private changes = 0;

  constructor(readonly variant: Variant) {
    this.items = seededItems(variant);
  }

  /** Requests of one workload only. */
  of(workload: ItemWorkload): RequestsOf {
    return (connection) => this.make(workload, connection);
  }

  /** The four workloads alternating; with requests to two other models between them, as in an application with several models. */
  mixed(others: boolean): RequestsOf {
    return (connection) => {
      const each = ITEM_WORKLOADS.map((workload) => this.make(workload, connection));
      const between = others ? this.others() : [];
      return Array.from({ length: DISTINCT_REQUESTS }, (_, at) => [
        ...each.map((requests) => requests[at]),
        at % 4 === 0 ? between[at] : undefined,
      ])
        .flat()
        .filter((request) => request !== undefined);
    };
  }

  path(model: 'item' | 'owner' | 'category', key?: number | string): string {
    if (this.variant.server) return `${HAND_BASE}${model}${key === undefined ? '' : `/${key}`}`;
    return `${BASE}${model}/${key === undefined ? '' : `${key}/`}`;
  }

  headers(user: User): Readonly<Record<string, string>> {
    return this.variant.headers?.(user) ?? {};
  }

  list(reader: number): LoadRequest {
    const user = userOf(reader);
    const query = this.variant.list(user, wordOf(reader));
    const path = `${this.path('item')}${query === '' ? '' : `?${query}`}`;
    return { method: 'GET', path, headers: this.headers(user) };
  }

  retrieve({ id, owner }: Item): LoadRequest {
    const path = `${this.path('item', id)}${this.variant.retrieve ?? ''}`;
    return { method: 'GET', path, headers: this.headers(userOf(owner)) };
  }

  create(): LoadRequest {
    const owner = READERS + this.random.integer(1, WRITERS);
    const body = JSON.stringify(newItem(this.variant, this.random, owner));
    return { method: 'POST', path: this.path('item'), body, headers: this.writeHeaders(owner) };
  }

  /** Each time with another title, because an ORM writes nothing if nothing differs. */
  change(item: Item): LoadRequest {
    const { extra } = newItem(this.variant, this.random, item.owner);
    const titles = [newTitle(this.random, item.owner), newTitle(this.random, item.owner)];
    const path = this.path('item', item.id);
    const setupRequest = (request: LoadRequest): LoadRequest => {
      const title = `${titles[this.changes++ % 2] ?? ''} ${this.changes}`;
      const body = JSON.stringify({ title, extra });
      const match = this.variant.etag && { 'if-match': this.etags.get(path) ?? '*' };
      return { ...request, body, headers: { ...request.headers, ...match } };
    };
    const onResponse = (...[, , , headers]: LoadResponse): void => {
      const etag = headers.ETag ?? headers.etag;
      if (etag !== undefined) this.etags.set(path, etag);
    };
    const request = { method: 'PATCH' as const, path, headers: this.writeHeaders(item.owner), setupRequest };
    return this.variant.etag ? { ...request, onResponse } : request;
  }

  private make(workload: ItemWorkload, connection: number): readonly LoadRequest[] {
    switch (workload) {
      case 'list':
        return this.lists();
      case 'retrieve':
        return Array.from({ length: DISTINCT_REQUESTS }, () => this.retrieve(this.itemOf(connection)));
      case 'create':
        return Array.from({ length: DISTINCT_REQUESTS }, () => this.create());
      case 'change':
        return Array.from({ length: DISTINCT_REQUESTS }, () => this.change(this.itemOf(connection)));
      default:
        return workload satisfies never;
    }
  }

  private lists(): readonly LoadRequest[] {
    if (!this.variant.paged || this.variant.server)
      return this.firstPages(DISTINCT_REQUESTS, this.variant.paged === true);
    return this.firstPages(DISTINCT_REQUESTS / 2, false).flatMap((first) => {
      let next = first.path;
      return [
        {
          ...first,
          onResponse: (...[, body, , headers]: LoadResponse) => {
            next = nextPath(body, headers) ?? first.path;
          },
        },
        { ...first, setupRequest: (request: LoadRequest) => ({ ...request, path: next }) },
      ];
    });
  }

  /** The hand-written controller sends no link, so the second page is requested by number. */
  private firstPages(count: number, numbered: boolean): LoadRequest[] {
    return Array.from({ length: count }, (_, at) => {
      const request = this.list(this.random.integer(1, READERS));
      return numbered && at % 2 === 1 ? { ...request, path: `${request.path}&page=2` } : request;
    });
  }

  private itemOf(connection: number): Item {
    const at =
      connection + CONNECTIONS * this.random.integer(0, Math.floor(this.items.length / CONNECTIONS) - 1);
    const item = this.items[at];
    if (!item) throw new RangeError(`There is no row ${at}`);
    return item;
  }

  private writeHeaders(owner: number): Readonly<Record<string, string>> {
    return { ...JSON_BODY, ...this.headers(userOf(owner)) };
  }

  private others(): readonly LoadRequest[] {
    return Array.from({ length: DISTINCT_REQUESTS }, (_, at): LoadRequest => {
      const headers = this.headers(userOf(this.random.integer(1, READERS)));
      if (at % 8 === 0) return { method: 'GET', path: this.path('category'), headers };
      return { method: 'GET', path: this.path('owner', this.random.integer(1, READERS)), headers };
    });
  }
}

/** Path of the next page, from the envelope or from the `Link` header. */
export function nextPath(body: string, headers: Readonly<Record<string, string>>): string | undefined {
  const link = headers.Link ?? headers.link ?? '';
  const url = /<([^>]*)>; rel="next"/.exec(link)?.[1] ?? /"next":"([^"]*)"/.exec(body.slice(0, 4000))?.[1];
  return url?.replace(/^https?:\/\/[^/]+/, '');
}
