import type { RenderedRows, Renderer } from '../../core/contracts/renderer.js';

/** A JSON object a line: what is sent can be used before all of it has come. */
export class NdjsonRenderer implements Renderer {
  readonly format = 'ndjson';
  readonly mediaType = 'application/x-ndjson';

  async *render({ pages }: RenderedRows): AsyncGenerator<string> {
    for await (const rows of pages) {
      if (rows.length > 0) yield `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`;
    }
  }
}
