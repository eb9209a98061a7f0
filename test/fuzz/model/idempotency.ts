import type { Json } from '../schema.js';
import type { Answer } from './answers.js';
import { detailed, Refusal } from './expected.js';

interface Kept {
  readonly digest: string;
  readonly answer: Answer;
  /** The keys of the written rows. */
  readonly rows: readonly string[];
}

/** A stored response as it is sent again. */
export type Replayed = Answer & Pick<Kept, 'rows'>;

/** The stored responses of POSTs with a key (docs/reference/idempotency.md). */
export class KeptAnswers {
  private readonly kept = new Map<string, Kept>();

  /** The stored response of a request with this key; throws if another request has used the key. */
  replayed(name: string, digest: string, show: (body: Json, key: string) => Json): Replayed | undefined {
    const found = this.kept.get(name);
    if (!found) return undefined;
    if (found.digest !== digest)
      throw detailed(422, 'This Idempotency-Key was sent with another request. Send a new one.');
    const { answer, rows } = found;
    const headers = { ...answer.headers, 'idempotency-replayed': 'true' };
    if (answer.body === undefined) return { ...answer, headers, rows };
    const shown = (body: Json, index: number): Json => show(body, rows[index] ?? '');
    const body = Array.isArray(answer.body)
      ? (answer.body as readonly Json[]).map(shown)
      : shown(answer.body, 0);
    return { ...answer, body, headers, rows };
  }

  keep(name: string, kept: Kept): void {
    this.kept.set(name, kept);
  }
}

/** The key of a request, without quotation marks. */
export function keyOf(header: string | undefined, isRequired: boolean): string | undefined {
  if (header === undefined) {
    if (isRequired) throw detailed(400, 'Send an Idempotency-Key, a new one for each new object.');
    return undefined;
  }
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (key === '' || key.length > 255 || !/^[\x21-\x7e]+$/.test(key))
    throw new Refusal({ status: 400, bodies: [], anyBody: true });
  return key;
}

/** The fingerprint of a request, independent of the order of members in the body. */
export function digestOf(query: string, body: Json): string {
  return `${query} ${JSON.stringify(sortedMembers(body))}`;
}

function sortedMembers(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sortedMembers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as Readonly<Record<string, Json>>)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, sortedMembers(each)]),
  );
}
