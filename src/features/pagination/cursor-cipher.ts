import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { MAX_CURSOR } from '../../core/schema/limits.js';
import type { CursorPosition } from '../../core/contracts/pagination.js';

interface Keys {
  readonly cipher: Buffer;
  readonly nonce: Buffer;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Bytes: of how long the values are, only this much is told. */
const BLOCK = 64;
const BACKWARD = 1;
const INCLUSIVE = 2;

/**
 * Positions as texts that nobody reads, changes or moves: sealed by AES-256-GCM, together with the place that they belong to.
 * Sealed and not only signed, because the values may be of hidden columns. The nonce is made of what is sealed, so that one
 * position has one text, and the same answer stays the same.
 */
export class CursorCipher {
  /** Out of reach of whatever writes a resource into a log. */
  readonly #keys: readonly Keys[];

  /** The first secret seals, each opens. */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) => {
      const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'nestjs-restify cursor', 64));
      return { cipher: bytes.subarray(0, 32), nonce: bytes.subarray(32) };
    });
  }

  /** Undefined where it would not fit into a URL. */
  seal({ values, backward, inclusive }: CursorPosition, place: string): string | undefined {
    const [keys] = this.#keys;
    if (!keys) throw new Error('A cursor cannot be sealed without a secret.');
    const plain = padded(
      JSON.stringify([(backward ? BACKWARD : 0) | (inclusive ? INCLUSIVE : 0), ...values.map(written)]),
    );
    const nonce = createHmac('sha256', keys.nonce)
      .update(`${Buffer.byteLength(place)} ${place}`)
      .update(plain)
      .digest()
      .subarray(0, NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, keys.cipher, nonce, { authTagLength: TAG_BYTES }).setAAD(
      Buffer.from(place),
    );
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    const text = Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    return text.length > MAX_CURSOR ? undefined : text;
  }

  /** Undefined for what was not sealed here, for this place. */
  open(text: string, place: string): CursorPosition | undefined {
    if (text.length > MAX_CURSOR) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    // Another text of the same bytes is not what was given out.
    if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return undefined;
    for (const keys of this.#keys) {
      const plain = opened(bytes, place, keys);
      if (plain === undefined) continue;
      const [flags, ...values] = JSON.parse(plain) as readonly [number, ...Written[]];
      return {
        values: values.map(read),
        backward: (flags & BACKWARD) !== 0,
        inclusive: (flags & INCLUSIVE) !== 0,
      };
    }
    return undefined;
  }
}

/** What is sealed is as long as it was before, so blanks stand behind it, which mean nothing in JSON. */
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

/** What JSON has a form for as it is; bytes, and numbers that it has none for, as objects. */
type Written =
  | string
  | number
  | boolean
  | null
  | { readonly bytes: string }
  | { readonly whole: string }
  | { readonly number: string };

function written(value: unknown): Written {
  if (Buffer.isBuffer(value)) return { bytes: value.toString('base64') };
  if (typeof value === 'bigint') return { whole: String(value) };
  if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) };
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  throw new Error(`A cursor cannot hold a ${typeof value}.`);
}

function read(value: Written): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('bytes' in value) return Buffer.from(value.bytes, 'base64');
  return 'whole' in value ? BigInt(value.whole) : Number(value.number);
}
