import { QueryFailedError } from 'typeorm';
import type { QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import { inSlices } from '../../../core/event-loop.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { KeyCheck } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { DataKind } from '../../../core/schema/data-type.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { writeJson } from '../../../core/values/exact-numbers.js';
import { decodeRecord } from '../../../sql/query-scope.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import { MAX_PARAMETERS } from '../../../sql/statement.js';
import type { Records } from '../../../sql/statement.js';
import { isKeptAsGiven } from './column-values.js';
import type { NewRow } from './column-values.js';
import type { DirectStatements } from './direct-statements.js';
import { assertExactKey } from './entity-values.js';
import { chunksOf } from './lock-together.js';
import type { InsertableRow, WriterTools } from './row-writer.js';

/** The maximum number of rows of a statement, and of the keys that one looks up: a synchronous driver blocks the event loop. */
const MAX_ROWS = 100;

/** The rows of a batch have to be written one by one, in another transaction, to say which of them is rejected. */
export class NotInsertedTogether extends Error {
  /** The error for what the database has rejected; a temporary one of the database remains. */
  static by(error: unknown, { errorFor }: Pick<WriterTools['dialect'], 'errorFor'>): unknown {
    return isTemporary(errorFor(error))
      ? error
      : new NotInsertedTogether('The rows of a batch were not written together', { cause: error });
  }
}

/**
 * Inserts many rows of a model by few statements. Databases do not promise in which order an INSERT returns its rows, so that each
 * is found by its key, which is known before: the client's, or a value of the default of the column that is read first; or by all that was
 * given for it.
 */
export class InsertTogether {
  /** The defaults of the key's columns as SQL, by their ids; undefined once it is known that there is none. */
  private readonly defaults = new Map<string, Promise<string | undefined>>();

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly statements: DirectStatements,
  ) {}

  /** Whether `insert` may write the rows, as far as is known without the database. `below`: columns whose values follow. */
  mayInsert(rows: readonly NewRow[], below: readonly Column[]): boolean {
    const key = this.resource.identity;
    const given = new Set(below.map(({ id }) => id));
    const generated = key.filter(({ id }) => !given.has(id) && rows.some((row) => !row.has(id)));
    if (generated.length > 1 || !key.every(isKeptAsGiven)) return false;
    const isDrawn = this.tools.dialect.inserting?.generating !== undefined;
    return generated.length === 0 || isDrawn || ContentOfRows.of(rows) !== undefined;
  }

  /** `byContent`: rows without keys to be checked are found by what was given for them, if they may be: no statement draws their keys. */
  async insert(
    rows: readonly InsertableRow[],
    runner: QueryRunner,
    byContent = false,
  ): Promise<readonly Row[] | undefined> {
    const key = this.resource.identity;
    const [generated, ...others] = key.filter(({ id }) => rows.some(({ columns }) => !columns.has(id)));
    if (others.length > 0 || !key.every(isKeptAsGiven)) return undefined;
    try {
      const isFree = byContent && generated && rows.every(({ keys }) => keys.length === 0);
      const found = isFree ? await this.insertByContent(rows, runner) : undefined;
      if (found) return found;
      const expression = generated && (await this.defaultOf(generated, runner));
      if (generated && expression === undefined) return await this.insertByContent(rows, runner);
      const values = await this.valuesOf(rows, { generated, expression }, runner);
      return values && (await this.insertComplete(values, runner));
    } catch (error) {
      const found = this.tools.dialect.errorFor(error);
      if (isTemporary(found) || (!found && !(error instanceof QueryFailedError))) throw error;
      if (generated) this.forgetDefault(generated, found?.kind === 'denied');
      throw new NotInsertedTogether('A row of a batch was rejected', { cause: error });
    }
  }

  /** The values of the rows with those of the default, where the key is not given; undefined if a row may not refer to another one. */
  private async valuesOf(
    rows: readonly InsertableRow[],
    {
      generated,
      expression,
    }: { readonly generated?: Column | undefined; readonly expression?: string | undefined },
    runner: QueryRunner,
  ): Promise<readonly NewRow[] | undefined> {
    const { dialect } = this.tools;
    const references = new References(this.tools, this.statements, runner);
    const [last = [], ...keys] = [...chunksOf(distinctKeys(rows), MAX_ROWS)].reverse();
    for await (const slice of inSlices(keys))
      if ((await references.selectIfPermitted(slice)).length === 0) return undefined;
    const given = rows.map(({ columns }) => columns);
    if (!generated || expression === undefined)
      return (await references.arePermitted(last)) ? given : undefined;
    const drawn = { value: dialect.read(`(${expression})`, generated.type), count: rows.length };
    const values = await references.selectIfPermitted(last, drawn);
    if (values.length < rows.length) return undefined;
    return given.map((columns, index) => {
      if (columns.has(generated.id)) return columns;
      const value = dialect.decode(values[index]?.[0], generated.type);
      return new Map([...columns, [generated.id, { column: generated, value }]]);
    });
  }

  /** The inserted rows in the order of the given ones. */
  private async insertComplete(rows: readonly NewRow[], runner: QueryRunner): Promise<readonly Row[]> {
    const { connections, reader } = this.tools;
    const byKey = new Map<string, Row>();
    const width = Math.max(...rows.map(({ size }) => size));
    const most = Math.min(MAX_ROWS, Math.max(1, Math.floor(MAX_PARAMETERS / width)));
    for await (const slice of inSlices(chunksOf(rows, most))) {
      const statement = this.statements.insertAll(slice);
      for (const record of await connections.records(runner, statement)) {
        const row = { key: reader.selection.readKey(record), values: reader.selection.readValues(record) };
        byKey.set(JSON.stringify(row.key), row);
      }
    }
    const inserted = rows.flatMap((row) => byKey.get(JSON.stringify(this.keyOf(row))) ?? []);
    if (inserted.length < rows.length || byKey.size < rows.length)
      throw new NotInsertedTogether('A row of a batch has another key than it was given');
    for (const { key } of inserted) assertExactKey(key, this.resource);
    return inserted;
  }

  /**
   * The same where the database makes the keys: each returned row is found by what was given for it. Rows to which the same was given have no
   * order. Undefined if that is not to be told apart.
   */
  private async insertByContent(
    rows: readonly InsertableRow[],
    runner: QueryRunner,
  ): Promise<readonly Row[] | undefined> {
    const { connections, reader, dialect } = this.tools;
    const content = ContentOfRows.of(rows.map(({ columns }) => columns));
    const references = new References(this.tools, this.statements, runner);
    if (!content || !(await references.arePermitted(distinctKeys(rows)))) return undefined;
    const found = new Map<string, Row[]>();
    const most = Math.min(MAX_ROWS, Math.max(1, Math.floor(MAX_PARAMETERS / content.width)));
    for await (const slice of inSlices(chunksOf(content.rows, most))) {
      const statement = this.statements.insertAll(slice, content.compared);
      for (const record of await connections.records(runner, statement)) {
        const row = { key: reader.selection.readKey(record), values: reader.selection.readValues(record) };
        const values = record.slice(record.length - content.compared.length);
        const text = JSON.stringify(decodeRecord(values, content.compared, dialect));
        found.set(text, [...(found.get(text) ?? []), row]);
      }
    }
    const inserted = content.rows.flatMap((row) => found.get(content.textOf(row))?.shift() ?? []);
    if (inserted.length < rows.length)
      throw new NotInsertedTogether('A row of a batch has other values than it was given');
    for (const { key } of inserted) assertExactKey(key, this.resource);
    return inserted;
  }

  private keyOf(row: NewRow): readonly (Json | undefined)[] {
    return this.resource.identity.map(({ id }) => row.get(id)?.value);
  }

  private defaultOf(column: Column, runner: QueryRunner): Promise<string | undefined> {
    const known = this.defaults.get(column.id);
    if (known) return known;
    const found = this.readDefault(column, runner);
    this.defaults.set(column.id, found);
    return found.catch((error: unknown) => {
      this.defaults.delete(column.id);
      throw error;
    });
  }

  /** A migration may have changed it. Of a sequence that this user may not use, values are not asked for again. */
  private forgetDefault({ id }: Column, isDenied: boolean): void {
    if (isDenied) this.defaults.set(id, Promise.resolve(undefined));
    else this.defaults.delete(id);
  }

  private async readDefault(column: Column, runner: QueryRunner): Promise<string | undefined> {
    const { dialect, connections, tables } = this.tools;
    const { path } = tables.of(this.resource);
    const statement = dialect.inserting?.generating?.defaultOf(path, column.id);
    const value = statement && (await connections.records(runner, statement))[0]?.[0];
    return typeof value === 'string' ? value : undefined;
  }
}

/** The kinds whose stored values are those that were given. */
const COMPARED: ReadonlySet<DataKind> = new Set([
  'integer',
  'bigint',
  'boolean',
  'string',
  'uuid',
  'date',
  'enum',
]);

/** Rows that are told apart by the values of some columns. */
class ContentOfRows {
  private constructor(
    readonly rows: readonly NewRow[],
    readonly compared: readonly Column[],
    readonly width: number,
  ) {}

  /** By the columns that all of them have. Undefined if two rows differ in other columns, or in values alone that are not compared. */
  static of(rows: readonly NewRow[]): ContentOfRows | undefined {
    const shared = [...(rows[0]?.values() ?? [])].filter(({ column: { id } }) =>
      rows.every((row) => row.has(id)),
    );
    const isCompared = ({ type }: Column): boolean =>
      COMPARED.has(type.kind) && !(type.kind === 'string' && type.padded === true);
    const compared = shared.map(({ column }) => column).filter(isCompared);
    const content = new ContentOfRows(rows, compared, Math.max(1, ...rows.map(({ size }) => size)));
    const ids = new Set(compared.map(({ id }) => id));
    const seen = new Map<string, string>();
    for (const row of rows) {
      const text = content.textOf(row);
      const others = [...row.keys()].filter((id) => !ids.has(id)).sort();
      const rest = others.map((id) => `${id} ${writeJson(row.get(id)?.value ?? null)}`).join();
      if ((seen.get(text) ?? rest) !== rest) return undefined;
      seen.set(text, rest);
    }
    return content;
  }

  textOf(row: NewRow): string {
    return JSON.stringify(this.compared.map(({ id }) => row.get(id)?.value ?? null));
  }
}

/** What the keys of several bodies refer to. */
export class References {
  constructor(
    private readonly tools: Pick<WriterTools, 'connections'>,
    private readonly statements: DirectStatements,
    private readonly runner: QueryRunner,
  ) {}

  /** Whether the rows exist to which the keys refer, and may be written into the bodies. */
  async arePermitted(keys: readonly KeyCheck[]): Promise<boolean> {
    for await (const slice of inSlices(chunksOf(keys, MAX_ROWS)))
      if ((await this.selectIfPermitted(slice)).length === 0) return false;
    return true;
  }

  /** As `mayRefer`, by as few statements as the parameters of all permissions admit. */
  async selectIfPermitted(
    keys: readonly KeyCheck[],
    drawn?: Parameters<DirectStatements['mayRefer']>[1],
  ): Promise<Records> {
    const statement = this.statements.mayRefer(keys, drawn);
    if (keys.length < 2 || statement.parameters.length <= MAX_PARAMETERS)
      return this.tools.connections.records(this.runner, statement);
    const half = Math.ceil(keys.length / 2);
    const first = await this.selectIfPermitted(keys.slice(0, half));
    return first.length === 0 ? first : this.selectIfPermitted(keys.slice(half), drawn);
  }
}

/** The checks without repetitions of one row to which several bodies refer. */
export function distinctKeys(rows: readonly Pick<InsertableRow, 'keys'>[]): readonly KeyCheck[] {
  const seen = new Map<KeyCheck['relation'], Set<string>>();
  return rows.flatMap(({ keys }) =>
    keys.filter(({ relation, key }) => {
      // A part of a composite key may come from the URL.
      if (relation.on.length > 1) return true;
      const texts = seen.get(relation) ?? new Set();
      seen.set(relation, texts);
      const text = JSON.stringify(key);
      const isNew = !texts.has(text);
      texts.add(text);
      return isNew;
    }),
  );
}
