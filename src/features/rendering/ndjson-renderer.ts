import { writeJson } from '../../core/values/exact-numbers.js';
import type { RenderedRows, Renderer } from '../../core/contracts/renderer.js';

/** Newline-delimited JSON: clients can process rows before the response is complete. */
export class NdjsonRenderer implements Renderer {
  readonly format = 'ndjson';
  readonly mediaType = 'application/x-ndjson';

  async *render({ pages, lines = linesOf(pages) }: RenderedRows): AsyncGenerator<string> {
    for await (const text of lines) if (text !== '') yield `${text}\n`;
  }
}

async function* linesOf(pages: RenderedRows['pages']): AsyncGenerator<string> {
  for await (const rows of pages) yield rows.map((row) => writeJson(row)).join('\n');
}
