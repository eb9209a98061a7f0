import { exactMember, ExactNumber, writeJson } from '../../core/values/exact-numbers.js';
import type { RenderedRows, Renderer } from '../../core/contracts/renderer.js';
import type { Representation } from '../../core/contracts/serializer.js';

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

  async *render({ pages, fields, expanded = NONE }: RenderedRows): AsyncGenerator<string> {
    // A custom serializer may use other names: the members of the first row determine the columns.
    let columns: readonly CsvColumn[] | undefined;
    for await (const rows of pages) {
      const lines: string[] = [];
      for (const row of rows) {
        if (!columns) {
          columns = columnsOf(Object.keys(row), expanded);
          lines.push(this.start(columns));
        }
        lines.push(csvLine(columns.map((column) => valueIn(row, column))));
      }
      if (lines.length > 0) yield lines.join('');
    }
    if (!columns) yield this.start(columnsOf(fields, expanded));
  }

  /** The header line. */
  private start(columns: readonly CsvColumn[]): string {
    const names = columns.map((steps) => steps.map(({ name }) => name).join('.'));
    return `${this.options.bom === true ? '\ufeff' : ''}${csvLine(names)}`;
  }
}

/** The members that lead to a value; `isKey`: where there is no object with the member, the key in its place is the value. */
type CsvColumn = readonly { readonly name: string; readonly isKey: boolean }[];

const NONE: NonNullable<RenderedRows['expanded']> = new Map();

/** A column for each name; for an expanded object one for each of its fields. */
function columnsOf(
  names: readonly string[],
  expanded: NonNullable<RenderedRows['expanded']>,
  key?: string,
): readonly CsvColumn[] {
  return names.flatMap((name): readonly CsvColumn[] => {
    const step = { name, isKey: name === key };
    const object = expanded.get(name);
    if (!object) return [[step]];
    return columnsOf(object.fields, object.expanded, object.key).map((steps) => [step, ...steps]);
  });
}

function valueIn(row: Representation, column: CsvColumn): unknown {
  let value: unknown = row;
  for (const { name, isKey } of column) {
    if (!isObject(value)) return isKey ? value : null;
    value = exactMember(value, name);
  }
  return value;
}

function isObject(value: unknown): value is Representation {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
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
