import { writeJson } from '../../core/values/exact-numbers.js';
import type { RenderedRows, Renderer } from '../../core/contracts/renderer.js';

/** Newline-delimited JSON: clients can process rows before the response is complete. */
export class NdjsonRenderer implements Renderer {
  readonly format = 'ndjson';
  readonly mediaType = 'application/x-ndjson';

  async *render({ pages }: RenderedRows): AsyncGenerator<string> {
    for await (const rows of pages) {
      if (rows.length > 0) yield `${rows.map((row) => writeJson(row)).join('\n')}\n`;
    }
  }
}
