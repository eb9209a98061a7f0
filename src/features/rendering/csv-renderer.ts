import { exactMember, ExactNumber, writeJson } from '../../core/values/exact-numbers.js';
import type { RenderedRows, Renderer } from '../../core/contracts/renderer.js';

/** Options of `CsvRenderer`. */
export interface CsvOptions {
  /** Whether the text begins with a byte order mark, without which Excel reads UTF-8 as another encoding. Default: false. */
  readonly bom?: boolean;
}

/**
 * Comma-separated values (RFC 4180): a header line, then one line for each row. Null is empty; lists and objects are
 * JSON. A text that a spreadsheet would evaluate as a formula is prefixed with an apostrophe.
 */
export class CsvRenderer implements Renderer {
  constructor(private readonly options: CsvOptions = {}) {}

  readonly format = 'csv';
  readonly mediaType = 'text/csv';
  readonly contentType = 'text/csv; charset=utf-8; header=present';

  headers({ model }: Pick<RenderedRows, 'model'>): Readonly<Record<string, string>> {
    return {
      'Content-Disposition': /^[a-z0-9_]+$/.test(model)
        ? `attachment; filename="${model}.csv"`
        : 'attachment',
    };
  }

  async *render({ pages, fields }: RenderedRows): AsyncGenerator<string> {
    // A custom serializer may use other names: the members of the first row determine the columns.
    let names: readonly string[] | undefined;
    for await (const rows of pages) {
      const lines: string[] = [];
      for (const row of rows) {
        if (!names) {
          names = Object.keys(row);
          lines.push(this.start(names));
        }
        lines.push(csvLine(names.map((name) => exactMember(row, name))));
      }
      if (lines.length > 0) yield lines.join('');
    }
    if (!names) yield this.start(fields);
  }

  /** The header line. */
  private start(names: readonly string[]): string {
    return `${this.options.bom === true ? '\ufeff' : ''}${csvLine(names)}`;
  }
}

function csvLine(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(',')}\r\n`;
}

/** Characters that spreadsheets use as delimiters: the text after one could become a cell of its own, with a formula. */
const SEPARATES = /[",;\t\r\n]/;

function cellOf(value: unknown): string {
  const text = cellText(value);
  return SEPARATES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function cellText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return safe(value);
    case 'number':
      // Null in JSON.
      return Number.isFinite(value) ? String(value) : '';
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'object':
      if (value instanceof ExactNumber) return value.text;
      return value === null ? '' : safe(writeJson(value));
    default:
      return '';
  }
}

/** Characters that start a formula in a spreadsheet, their full-width forms, and whitespace that it skips before them. */
const FORMULA = /^[\s\u0000-\u001f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

function safe(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}
