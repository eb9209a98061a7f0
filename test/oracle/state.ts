import type { ApiDocument } from './api-document.js';
import type { Answer, Known, Step } from './step.js';

/** An object that a response has contained. */
export interface KnownObject {
  /** The step that created it, `12`, or `12.0` if it created several. */
  readonly id: string;
  /** The documented path of its list. */
  readonly collection: string;
  /** The documented path of the object. */
  readonly detail: string;
  readonly path: string;
  readonly key: unknown;
  readonly actor: string;
  etag: string | undefined;
  body: unknown;
  /** `perhaps`: a write of another object may have deleted it. */
  alive: 'yes' | 'perhaps' | 'no';
  /** The number of writes before it was last returned. */
  writes: number;
}

/** A POST that was sent with an Idempotency-Key. */
export interface KeyedPost {
  readonly step: Step;
  readonly answer: Answer;
}

/** The number of deleted objects that are kept for requests with status 404. */
const MOST_DEAD = 200;
/** The number of the latest POSTs from which some are repeated. */
const MOST_KEYED = 100;

/** The state of the application's rows, as far as responses have disclosed it. */
export class State {
  readonly objects = new Map<string, KnownObject>();
  keyed: readonly KeyedPost[] = [];
  /** The number of successful writes. */
  writes = 0;
  /** By field: the collections of which a key was accepted. */
  readonly references = new Map<string, Set<string>>();
  /** By collection: the field that holds the key. */
  private readonly keyFields = new Map<string, string>();

  constructor(private readonly document: ApiDocument) {}

  readonly known: Known = (id, part) => this.objects.get(id)?.[part];

  of(collection: string): readonly KnownObject[] {
    return [...this.objects.values()].filter((each) => each.collection === collection && each.alive !== 'no');
  }

  at(detail: string): readonly KnownObject[] {
    return [...this.objects.values()].filter((each) => each.detail === detail && each.alive !== 'no');
  }

  get living(): readonly KnownObject[] {
    return [...this.objects.values()].filter(({ alive }) => alive !== 'no');
  }

  /** A successful write may have changed other objects, and a deletion may have deleted them. */
  noteWrite(deletes: boolean): void {
    this.writes++;
    if (!deletes) return;
    for (const each of this.objects.values()) if (each.alive === 'yes') each.alive = 'perhaps';
  }

  noteKeyed(post: KeyedPost): void {
    this.keyed = [...this.keyed.slice(1 - MOST_KEYED), post];
  }

  /** Records that a field accepts keys of this collection. */
  noteReference(field: string, collection: string | undefined): void {
    const known = this.references.get(field) ?? new Set<string>();
    this.references.set(field, known);
    if (collection !== undefined) known.add(collection);
  }

  /** Records the objects that a POST has created: by its Location, or those of a list by the key field of the collection. */
  noteCreated(step: Step, answer: Answer): void {
    const collection = step.operation.replace(/^\S+ /, '');
    if (Array.isArray(answer.json)) this.noteMany(step, collection, answer.json);
    else this.noteOne(step, collection, answer);
  }

  private noteOne(step: Step, collection: string, { json, headers }: Answer): void {
    const path = pathOf(headers.location);
    const detail = path === undefined ? undefined : this.document.pathOf(path);
    if (path === undefined || detail === undefined) return;
    const segment = path.replace(/\/$/, '').split('/').at(-1) ?? '';
    const last = decodeURIComponent(segment);
    const [field, key] = Object.entries(json as object).find(([, value]) => String(value) === last) ?? [];
    if (field !== undefined && !this.keyFields.has(collection)) this.keyFields.set(collection, field);
    this.add({
      id: String(step.number),
      collection,
      detail,
      path,
      // No field has a composite key: the format of the URL is used.
      key: key ?? segment,
      actor: step.actor,
      etag: textOf(headers.etag),
      body: step.query.length > 0 ? undefined : json,
      alive: 'yes',
      writes: this.writes,
    });
  }

  private noteMany(step: Step, collection: string, items: readonly unknown[]): void {
    const field = this.keyFields.get(collection);
    const detail = this.document.pathOf(`${collection.replaceAll(/\{[^}]*\}/g, '0')}/0`);
    if (field === undefined || detail === undefined || collection.includes('{')) return;
    items.forEach((item, index) => {
      const key = (item as Readonly<Record<string, unknown>>)[field];
      if (key === undefined) return;
      this.add({
        id: `${step.number}.${index}`,
        collection,
        detail,
        path: `${collection}/${encodeURIComponent(String(key))}/`,
        key,
        actor: step.actor,
        etag: undefined,
        body: undefined,
        alive: 'yes',
        writes: this.writes,
      });
    });
  }

  /** A key that is used again identifies another object. */
  private add(object: KnownObject): void {
    const dead: string[] = [];
    for (const [id, each] of this.objects) {
      if (each.path === object.path) this.objects.delete(id);
      else if (each.alive === 'no') dead.push(id);
    }
    for (const id of dead.slice(0, -MOST_DEAD)) this.objects.delete(id);
    this.objects.set(object.id, object);
  }
}

/** The path of an absolute URL, not normalized. */
export function pathOf(location: string | string[] | undefined): string | undefined {
  const [, path] = /^https?:\/\/[^/]+(\/.*)$/.exec(textOf(location) ?? '') ?? [];
  return path;
}

export function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}
