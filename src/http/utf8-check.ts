import { isUtf8 } from 'node:buffer';

const NOTHING = Buffer.alloc(0);

/** Judges bytes as they come, in pieces that may end within a character. Keeps the beginning of such a one, and nothing else. */
export class Utf8Check {
  private rest: Buffer = NOTHING;
  private valid = true;

  /** False where they were no UTF-8, or ended within a character. */
  get isWhole(): boolean {
    return this.valid && this.rest.length === 0;
  }

  add(chunk: Buffer): void {
    if (!this.valid) return;
    const [first] = this.rest;
    const missing = first === undefined ? 0 : charLength(first) - this.rest.length;
    const begun = Buffer.concat([this.rest, chunk.subarray(0, missing)]);
    if (chunk.length < missing) {
      this.rest = begun;
      return;
    }
    const end = endOfWhole(chunk, missing);
    this.valid = isUtf8(begun) && isUtf8(chunk.subarray(missing, end));
    // A copy, for a part would keep the whole chunk in memory.
    this.rest = Buffer.from(chunk.subarray(end));
  }
}

/** How many bytes a character has that begins so. */
function charLength(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}

/** Where the last character begins, if it goes on in the next piece; else where the piece ends. */
function endOfWhole(chunk: Buffer, from: number): number {
  for (let at = chunk.length - 1; at >= Math.max(from, chunk.length - 3); at--) {
    const byte = chunk[at] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return charLength(byte) > chunk.length - at ? at : chunk.length;
  }
  return chunk.length;
}
