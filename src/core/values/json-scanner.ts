/**
 * The character code between texts that are joined. Valid JSON has none, so that no text continues another one or is taken for two:
 * texts of other programs may be no JSON.
 */
export const TEXT_SEPARATOR = 30;
const BLANK = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
/** Deeper values, and objects with more keys, are left to `JSON.parse`. */
const MAX_DEPTH = 16;
const MAX_KEYS = 64;
/** Of any form and with any number of digits: `writeJson` keeps the texts of numbers. */
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![.\deE])/y;
const LITERAL = /true|false|null/y;
/** Without the escapes that have another form, and without halves of characters, which are escaped. */
const STRING_END = /[^"\\\u0000-\u001f\ud800-\udfff]*(?:\\["\\bfnrt][^"\\\u0000-\u001f\ud800-\udfff]*)*"/uy;

/**
 * Reads JSON texts whose form after `writeJson(parseJson(text))` is known without parsing them: the text itself, without the
 * blanks after commas and colons in PostgreSQL's `jsonb`. Other values are not read, valid or not: rare escapes, keys that
 * JavaScript would reorder, repeated keys. Parsing and serializing a value takes three times as long.
 */
export class JsonScanner {
  private at = 0;
  /** The start of what is not yet in `out`. */
  private from = 0;
  private out = '';
  /** The starts and ends of the keys of the objects around the position. */
  private readonly keys: number[] = [];

  /** @param text values separated by `TEXT_SEPARATOR` */
  constructor(private readonly text: string) {}

  /** The next value; undefined if it is not known. */
  next(): string | undefined {
    if (this.at > 0) {
      if (this.text.charCodeAt(this.at) !== TEXT_SEPARATOR) return undefined;
      this.at++;
    }
    this.from = this.at;
    this.out = '';
    if (!this.value(0)) return undefined;
    return this.out + this.text.slice(this.from, this.at);
  }

  /** Whether all values have been read. */
  get isAtEnd(): boolean {
    return this.at === this.text.length;
  }

  private value(depth: number): boolean {
    switch (this.text.charCodeAt(this.at)) {
      case QUOTE:
        this.at++;
        return this.matches(STRING_END);
      case OPEN_OBJECT:
        return depth < MAX_DEPTH && this.object(depth);
      case OPEN_LIST:
        return depth < MAX_DEPTH && this.array(depth);
      default:
        return this.matches(NUMBER) || this.matches(LITERAL);
    }
  }

  private array(depth: number): boolean {
    if (this.text.charCodeAt(++this.at) === CLOSE_LIST) return this.at++ > 0;
    while (this.value(depth + 1)) {
      if (!this.continues()) return this.text.charCodeAt(this.at - 1) === CLOSE_LIST;
    }
    return false;
  }

  private object(depth: number): boolean {
    const { keys } = this;
    const first = keys.length;
    if (this.text.charCodeAt(++this.at) === CLOSE_OBJECT) return this.at++ > 0;
    while (this.key(first) && this.value(depth + 1)) {
      if (this.continues()) continue;
      keys.length = first;
      return this.text.charCodeAt(this.at - 1) === CLOSE_OBJECT;
    }
    return false;
  }

  /** Reads one character after a value; true for a comma. */
  private continues(): boolean {
    if (this.text.charCodeAt(this.at++) !== COMMA) return false;
    this.skipBlank();
    return true;
  }

  /** Reads a key that the object does not have yet, and that is no array index, which JavaScript would move to the front. */
  private key(first: number): boolean {
    const start = this.at + 1;
    const end = this.keyEnd(start);
    if (end === undefined || this.isKnown(first, start, end)) return false;
    this.keys.push(start, end);
    this.at = end + 2;
    this.skipBlank();
    return true;
  }

  private keyEnd(start: number): number | undefined {
    const { text } = this;
    if (text.charCodeAt(start - 1) !== QUOTE || isDigit(text.charCodeAt(start))) return undefined;
    let end = start;
    while (isPlain(text.charCodeAt(end))) end++;
    return text.charCodeAt(end) === QUOTE && text.charCodeAt(end + 1) === COLON ? end : undefined;
  }

  private isKnown(first: number, start: number, end: number): boolean {
    const { keys } = this;
    if (keys.length - first >= 2 * MAX_KEYS) return true;
    for (let index = first; index < keys.length; index += 2) {
      const known = keys[index] ?? 0;
      if ((keys[index + 1] ?? 0) - known === end - start && this.isSame(known, start, end)) return true;
    }
    return false;
  }

  private isSame(known: number, start: number, end: number): boolean {
    const { text } = this;
    for (let at = start; at < end; at++)
      if (text.charCodeAt(at) !== text.charCodeAt(known + at - start)) return false;
    return true;
  }

  private skipBlank(): void {
    if (this.text.charCodeAt(this.at) !== BLANK) return;
    this.out += this.text.slice(this.from, this.at);
    this.from = ++this.at;
  }

  private matches(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** False for quotes, escapes, control characters, halves of characters, and the end of the text (`NaN`). */
function isPlain(code: number): boolean {
  return code >= BLANK && code !== QUOTE && code !== BACKSLASH && (code < 0xd800 || code > 0xdfff);
}
