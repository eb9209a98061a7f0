import { isUtf8 } from 'node:buffer';

const EMPTY_BUFFER = Buffer.alloc(0);

/** Validates UTF-8 in chunks that may end inside a character, and buffers only the start of that character. */
export class Utf8Check {
  private incomplete: Buffer = EMPTY_BUFFER;
  private valid = true;

  /** False after invalid UTF-8, or inside an incomplete character. */
  get isComplete(): boolean {
    return this.valid && this.incomplete.length === 0;
  }

  add(chunk: Buffer): void {
    if (!this.valid) return;
    const [first] = this.incomplete;
    const missing = first === undefined ? 0 : getCharacterLength(first) - this.incomplete.length;
    const sequence = Buffer.concat([this.incomplete, chunk.subarray(0, missing)]);
    if (chunk.length < missing) {
      this.incomplete = sequence;
      return;
    }
    const end = findIncompleteEnd(chunk, missing);
    this.valid = isUtf8(sequence) && isUtf8(chunk.subarray(missing, end));
    // A copy, because a view would keep the whole chunk in memory.
    this.incomplete = Buffer.from(chunk.subarray(end));
  }
}

/** The byte length of a character with this first byte. */
function getCharacterLength(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}

/** The start of an incomplete last character, or the end of the chunk. */
function findIncompleteEnd(chunk: Buffer, from: number): number {
  for (let at = chunk.length - 1; at >= Math.max(from, chunk.length - 3); at--) {
    const byte = chunk[at] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return getCharacterLength(byte) > chunk.length - at ? at : chunk.length;
  }
  return chunk.length;
}
