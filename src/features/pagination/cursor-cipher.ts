import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { evictOldest } from '../../core/evict-oldest.js';
import { MAX_CURSOR } from '../../core/schema/limits.js';
import type { CursorPosition } from '../../core/contracts/pagination.js';

interface Keys {
  readonly cipher: Buffer;
  readonly nonce: Buffer;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Block size in bytes to which values are padded, so that a cursor discloses their length only roughly. */
const BLOCK = 64;
/** The number of cursors that are remembered: of pages that are requested again, and of links that are followed. */
const MAX_REMEMBERED = 500;
const BACKWARD = 1;
const INCLUSIVE = 2;

/**
 * Encrypts positions as texts that clients can neither read, change nor use elsewhere: AES-256-GCM, with the list as
 * authenticated data. Encrypted and not only signed, because values may be of hidden columns. The nonce is derived from
 * the plaintext, so that a position has one text, and equal responses stay equal.
 */
export class CursorCipher {
  /** Private, so that logging a resource does not print the keys. */
  readonly #keys: readonly Keys[];
  /** Cursors by list and plaintext, and the reverse: encryption is a third of what a page adds to a list. */
  readonly #sealed = new Map<string, string>();
  readonly #opened = new Map<string, string>();

  /** The first secret encrypts, each decrypts. */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) => {
      const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'nestjs-restify cursor', 64));
      return { cipher: bytes.subarray(0, 32), nonce: bytes.subarray(32) };
    });
  }

  /** Undefined if the cursor would be too long for a URL. */
  seal({ values, backward, inclusive }: CursorPosition, place: string): string | undefined {
    const plain = padded(
      JSON.stringify([(backward ? BACKWARD : 0) | (inclusive ? INCLUSIVE : 0), ...values.map(written)]),
    );
    const known = this.#sealed.get(entryOf(place, plain));
    if (known !== undefined) return known;
    const text = this.encrypt(plain, place);
    if (text.length > MAX_CURSOR) return undefined;
    remember(this.#sealed, entryOf(place, plain), text);
    // The client may follow the link.
    remember(this.#opened, entryOf(place, text), plain);
    return text;
  }

  private encrypt(plain: string, place: string): string {
    const [keys] = this.#keys;
    if (!keys) throw new Error('A cursor cannot be sealed without a secret.');
    const nonce = createHmac('sha256', keys.nonce)
      .update(`${Buffer.byteLength(place)} ${place}`)
      .update(plain)
      .digest()
      .subarray(0, NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, keys.cipher, nonce, { authTagLength: TAG_BYTES }).setAAD(
      Buffer.from(place),
    );
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Undefined for a text that was not encrypted by these keys for this list. */
  open(text: string, place: string): CursorPosition | undefined {
    if (text.length > MAX_CURSOR) return undefined;
    const entry = entryOf(place, text);
    const plain = this.#opened.get(entry) ?? this.decrypt(text, place);
    if (plain === undefined) return undefined;
    remember(this.#opened, entry, plain);
    const [flags, ...values] = JSON.parse(plain) as readonly [number, ...EncodedValue[]];
    return {
      values: values.map(decodeValue),
      backward: (flags & BACKWARD) !== 0,
      inclusive: (flags & INCLUSIVE) !== 0,
    };
  }

  private decrypt(text: string, place: string): string | undefined {
    const bytes = Buffer.from(text, 'base64url');
    // Another encoding of the same bytes is not a cursor of ours.
    if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return undefined;
    for (const keys of this.#keys) {
      const plain = opened(bytes, place, keys);
      if (plain !== undefined) return plain;
    }
    return undefined;
  }
}

function entryOf(place: string, text: string): string {
  return `${place.length} ${place} ${text}`;
}

function remember(entries: Map<string, string>, entry: string, value: string): void {
  entries.set(entry, value);
  evictOldest(entries, MAX_REMEMBERED);
}

/** Pads with trailing blanks, which JSON ignores. */
function padded(text: string): string {
  return text + ' '.repeat((BLOCK - (Buffer.byteLength(text) % BLOCK)) % BLOCK);
}

function opened(bytes: Buffer, place: string, keys: Keys): string | undefined {
  const decipher = createDecipheriv(CIPHER, keys.cipher, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return (
      decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    );
  } catch {
    return undefined;
  }
}

/** JSON values as they are; bytes, and numbers that JSON cannot represent, as objects. */
type EncodedValue =
  | string
  | number
  | boolean
  | null
  | { readonly bytes: string }
  | { readonly whole: string }
  | { readonly number: string };

function written(value: unknown): EncodedValue {
  if (Buffer.isBuffer(value)) return { bytes: value.toString('base64') };
  if (typeof value === 'bigint') return { whole: String(value) };
  if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) };
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  throw new Error(`A cursor cannot hold a ${typeof value}.`);
}

function decodeValue(value: EncodedValue): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('bytes' in value) return Buffer.from(value.bytes, 'base64');
  return 'whole' in value ? BigInt(value.whole) : Number(value.number);
}
