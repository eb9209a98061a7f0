import type { Client, Exchange } from './client.js';

/** Above this number of bytes a download does not fit into the memory of every device. */
export const MOST_BYTES = 100_000_000;

export interface DownloadOptions {
  readonly accept: string;
  readonly signal: AbortSignal;
  /** Called with the number of bytes that have arrived. */
  onProgress(bytes: number): void;
}

/** A complete download, or the exchange of one that was too large. */
export type Download =
  | { readonly kind: 'complete'; readonly blob: Blob }
  | { readonly kind: 'too-large' | 'refused'; readonly exchange: Exchange };

/** Reads a response into memory. Rejects if it is aborted, or the server cannot be reached. */
export async function download(client: Client, url: string, options: DownloadOptions): Promise<Download> {
  const { accept, signal, onProgress } = options;
  const exchange = await client.get(url, { accept, signal });
  const reader = exchange.response.body?.getReader();
  if (!exchange.response.ok || !reader) return { kind: 'refused', exchange };
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    bytes += part.value.length;
    onProgress(bytes);
    if (bytes > MOST_BYTES) {
      await reader.cancel().catch(() => undefined);
      return { kind: 'too-large', exchange };
    }
  }
  return {
    kind: 'complete',
    blob: new Blob(parts, { type: exchange.response.headers.get('content-type') ?? '' }),
  };
}

/** Saves a blob as a file, through a link that is never shown. */
export function saveFile(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 60_000);
}

/** A file name of the page's own, whatever the data or the headers say: `question-2026-11-24.csv`. */
export function fileNameOf(path: string, format: string, now: Date): string {
  const model =
    path
      .split('/')
      .filter(Boolean)
      .at(-1)
      ?.replace(/[^\w-]/g, '') ?? '';
  return `${model === '' ? 'list' : model}-${now.toISOString().slice(0, 10)}.${format.replace(/[^\w-]/g, '')}`;
}
