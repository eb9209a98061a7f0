import type { Representation } from './serializer.js';

/** The query parameter that names a form, of models that have other renderers than JSON. */
export const FORMAT_PARAMETER = 'format';

/** What is rendered: rows as they are represented, in pages of any length. */
export interface RenderedRows {
  readonly pages: AsyncIterable<readonly Representation[]>;
  /** The names of the fields, in the order of bodies. */
  readonly fields: readonly string[];
  /** The model in lower case, for a name of a file. */
  readonly model: string;
}

/**
 * Writes the rows of a list, or the one row of an object, in another form than JSON. Given as `renderers`; JSON comes
 * before them, and answers where nobody asks for something else.
 *
 * ```ts
 * export class TabRenderer implements Renderer {
 *   readonly format = 'tab';
 *   readonly mediaType = 'text/tab-separated-values';
 *   async *render({ pages, fields }: RenderedRows) {
 *     yield `${fields.join('\t')}\n`;
 *     for await (const rows of pages) for (const row of rows) yield `${fields.map((name) => JSON.stringify(row[name])).join('\t')}\n`;
 *   }
 * }
 * ```
 */
export interface Renderer {
  /** How `?format=` names it: letters, digits, `_` and `-`. */
  readonly format: string;
  /** How `Accept` names it: `text/csv`. */
  readonly mediaType: string;
  /** What is sent as `Content-Type`. Left out: `mediaType`. */
  readonly contentType?: string;
  /** Further headers of the answer. */
  headers?(rows: Pick<RenderedRows, 'model'>): Readonly<Record<string, string>>;
  /** The body in pieces, each sent when the client has taken the one before. */
  render(rows: RenderedRows): AsyncIterable<string>;
}
