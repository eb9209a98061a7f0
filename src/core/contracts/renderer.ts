import type { Representation } from './serializer.js';

/** The media type of bodies. */
export const JSON_MEDIA_TYPE = 'application/json';
/** RFC 7396. */
export const MERGE_PATCH_MEDIA_TYPE = 'application/merge-patch+json';

/** The media type of errors with `errorFormat: 'problem'` (RFC 9457). */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** The query parameter that selects a format, in models with other renderers than JSON. */
export const FORMAT_PARAMETER = 'format';

/** A format of responses. */
export interface ResponseFormat {
  /** Its name in `?format=`: letters, digits, `_` and `-`. */
  readonly format: string;
  /** Its media type in `Accept`: `text/csv`. */
  readonly mediaType: string;
}

/** The fields of an object that is expanded in the place of a key. */
export interface ExpandedFields {
  /** The names of the fields, in the order of bodies. */
  readonly fields: readonly string[];
  /** The field with the key of the object, which remains where the caller may not read the object; undefined if it is none or several. */
  readonly key: string | undefined;
  /** The objects that are expanded in it, by the names of their fields. */
  readonly expanded: ReadonlyMap<string, ExpandedFields>;
}

/** The input of a renderer: serialized rows, in pages of any length. */
export interface RenderedRows {
  readonly pages: AsyncIterable<readonly Representation[]>;
  /**
   * The same pages as JSON texts with one row on each line, without a line break at the end; empty for a page without rows.
   * Set for lists that are read page by page: the database writes the JSON where it can. A renderer iterates over `pages` or
   * over `lines`, because each of them reads the list.
   */
  readonly lines?: AsyncIterable<string>;
  /** The names of the fields, in the order of bodies. */
  readonly fields: readonly string[];
  /** The objects that are expanded in the place of keys, by the names of their fields; those of a custom serializer are not among them. */
  readonly expanded?: ReadonlyMap<string, ExpandedFields>;
  /** The model's name in lower case, for a file name. */
  readonly model: string;
}

/**
 * Renders the rows of a list, or the row of an object, in another format than JSON. Given as `renderers`; JSON precedes
 * them and is the default. JSON has no renderer: it represents any value (pages, errors, results of interceptors), and the
 * database writes it where possible.
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
export interface Renderer extends ResponseFormat {
  /** The value of `Content-Type`. Default: `mediaType`. */
  readonly contentType?: string;
  /** Additional headers of the response. */
  headers?(rows: Pick<RenderedRows, 'model'>): Readonly<Record<string, string>>;
  /** Yields the body in chunks, with backpressure: the next chunk is requested once the client has received the previous one. */
  render(rows: RenderedRows): AsyncIterable<string>;
}
