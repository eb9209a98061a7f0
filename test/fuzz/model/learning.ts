import type { ColumnSpec, Json } from '../schema.js';
import type { GivenAnswer } from './answers.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The generated key in an answer, or one that differs from it where it cannot be one. */
export function learnKey(
  given: GivenAnswer,
  column: ColumnSpec,
  before: { readonly latest: number; has(key: string): boolean },
): string | number {
  const key = keyOfBody(given) ?? keyOfLocation(given);
  if (column.kind === 'uuid')
    return typeof key === 'string' && UUID.test(key) && !before.has(key) ? key : 'no new uuid';
  const number = Number(key);
  return Number.isInteger(number) && number > before.latest ? number : -1;
}

export function parsedBody(given: GivenAnswer): Json | undefined {
  try {
    return JSON.parse(given.text) as Json;
  } catch {
    return undefined;
  }
}

function keyOfBody(given: GivenAnswer): string | number | undefined {
  const body = parsedBody(given);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const id = (body as Readonly<Record<string, Json | undefined>>).id;
  return typeof id === 'number' || typeof id === 'string' ? id : undefined;
}

function keyOfLocation({ headers }: GivenAnswer): string | undefined {
  const match = /\/([^/]+)\/$/.exec(headers.location ?? '');
  return match?.[1];
}
