import { parseJson } from './parse-json.js';

/** Rows of a list without pagination that are read. */
export const MOST_ROWS = 1_000;

/** Finds the ends of the elements of a JSON array that arrives in pieces. */
export class ArrayScanner {
  /** The number of complete elements. */
  count = 0;
  /** The position behind the last complete element. */
  end = 0;
  private depth = 0;
  private inString = false;
  private escaped = false;
  private position = 0;

  /** Scans the next piece until `limit` elements are complete. Returns false for anything else than an array. */
  scan(piece: string, limit: number): boolean {
    for (const character of piece) {
      if (this.position === 0 && character !== '[') return false;
      this.position += character.length;
      if (this.inString) this.scanString(character);
      else this.scanStructure(character);
      if (this.count >= limit) return true;
    }
    return true;
  }

  private scanString(character: string): void {
    if (this.escaped) this.escaped = false;
    else if (character === '\\') this.escaped = true;
    else if (character === '"') this.inString = false;
  }

  private scanStructure(character: string): void {
    switch (character) {
      case '"':
        this.inString = true;
        break;
      case '[':
      case '{':
        this.depth++;
        break;
      case ']':
      case '}':
        this.depth--;
        // Elements of lists are objects.
        if (this.depth === 1) {
          this.count++;
          this.end = this.position;
        }
        break;
      default:
    }
  }
}

export interface ReadBody {
  readonly value: unknown;
  /** The text that was read, and shown as the response. */
  readonly text: string;
  /** True if the array had more elements than were read. */
  readonly cut: boolean;
}

/** Reads a JSON body; of an array at most `limit` elements, after which the download is cancelled. */
export async function readBody(response: Response, limit: number): Promise<ReadBody> {
  const reader = response.body?.getReader();
  if (!reader) return { value: undefined, text: '', cut: false };
  const decoder = new TextDecoder();
  const scanner = new ArrayScanner();
  let text = '';
  let isArray = true;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const piece = decoder.decode(part.value, { stream: true });
    text += piece;
    isArray &&= scanner.scan(piece, limit);
    if (isArray && scanner.count >= limit && /^\s*,/.test(text.slice(scanner.end))) {
      // Cancelling fails if the server has closed the connection in the meantime.
      await reader.cancel().catch(() => undefined);
      const read = `${text.slice(0, scanner.end)}]`;
      return { value: parseJson(read), text: read, cut: true };
    }
  }
  return { value: text === '' ? undefined : parseBody(text), text, cut: false };
}

function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
