import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import { equals } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { StoredValues } from '../../../core/contracts/hooks.js';
import type { Column } from '../../../core/schema/column.js';
import type { ToOneRelation } from '../../../core/schema/relation.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { keyText } from '../../../core/values/keys.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { decodeRecord, readColumns, Scope, selectList } from '../../../sql/query-scope.js';
import { MAX_PARAMETERS } from '../../../sql/statement.js';
import { inSlices } from '../../../core/event-loop.js';
import { anyOf, chunksOf, keyTextOf, LockTogether, selectionOf } from './lock-together.js';
import type { Compare, Identity } from './lock-together.js';
import { inLockOrder, selectForUpdate } from './row-locks.js';
import type { WriterTools } from './row-writer.js';

/** The maximum number of rows of a statement. */
const MAX_ROWS = 500;

/** Reads all values that the rows of a table have stored, whatever its view shows, in the transaction that writes them. */
export class StoredImages {
  /** The columns of `imageOf`. */
  readonly columns: readonly Column[];
  private readonly relations: readonly Pick<ToOneRelation, 'name' | 'on'>[];
  /** Whether TypeORM alone knows the table, whose only properties are then the two sides. */
  private readonly isJunction: boolean;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
  ) {
    const { metadata } = tools.tables.of(resource);
    const virtual = new Set(
      metadata.columns.filter((each) => each.isVirtualProperty).map(({ databaseName }) => databaseName),
    );
    this.columns = [...resource.columns.values()].filter(({ id }) => !virtual.has(id));
    this.isJunction = metadata.tableType === 'junction';
    this.relations = this.isJunction
      ? resource.fields.flatMap((field) =>
          field.kind === 'to-one' ? { name: field.name, on: field.relation.on } : [],
        )
      : [...resource.relations.values()].filter((each) => each.kind === 'to-one');
  }

  /** Of the row that the condition selects, which it locks. */
  async ofLocked(where: Condition, runner: QueryRunner): Promise<StoredValues | undefined> {
    const { resource, columns, tools } = this;
    const values = await selectForUpdate(resource, { columns, where }, { runner, tools });
    return values && this.imageOf(values);
  }

  /** Of the rows of plans, which it locks: by one statement if they are those of one list of keys. In the order of the plans. */
  async ofEachLocked(
    plans: readonly { readonly where: Condition }[],
    runner: QueryRunner,
  ): Promise<readonly (StoredValues | undefined)[]> {
    const images: (StoredValues | undefined)[] = [];
    const selection = selectionOf(plans);
    const together = new LockTogether(this.resource, this.tools, this.columns);
    for await (const targets of inSlices(chunksOf(inLockOrder(selection?.targets ?? [])))) {
      const rows = selection && (await together.select({ ...selection, targets }, runner));
      for (const { index, key } of targets) {
        const values = rows?.get(keyTextOf(key));
        if (values) images[index] = this.imageOf(values);
      }
    }
    // Texts that the database takes for equal are found one by one.
    for await (const [index, { where }] of inSlices(plans.entries()))
      images[index] ??= await this.ofLocked(where, runner);
    return images;
  }

  /** Of the rows with these keys, by the texts of the keys. */
  async ofRows(
    identities: readonly Identity[],
    runner: QueryRunner,
  ): Promise<ReadonlyMap<string, StoredValues>> {
    const { dialect, tables, connections } = this.tools;
    const { identity } = this.resource;
    const columns = [...identity, ...this.columns];
    const operands = identity.map((column) => ({ joinPath: [], column }));
    const most = Math.min(MAX_ROWS, Math.floor(MAX_PARAMETERS / Math.max(1, identity.length)));
    const images = new Map<string, StoredValues>();
    for await (const keys of inSlices(chunksOf(identities, most))) {
      const scope = Scope.begin(dialect, tables, this.resource);
      const list = selectList(readColumns(columns, scope));
      const rows = keys.map((key) =>
        identity.map((column, index) => equals(column, key[index] ?? null) as Compare),
      );
      const condition = compileWhere(anyOf(operands, rows), scope);
      const sql = `SELECT ${list} FROM ${scope.from()} WHERE ${condition}`;
      for (const record of await connections.records(runner, { sql, parameters: scope.parameters })) {
        const values = decodeRecord(record, columns, dialect);
        images.set(keyText(values.slice(0, identity.length)), this.imageOf(values.slice(identity.length)));
      }
    }
    return images;
  }

  imageOf(values: readonly Json[]): StoredValues {
    const byColumn = new Map(this.columns.map(({ id }, index) => [id, values[index] ?? null]));
    const image: Record<string, Json> = {};
    const { isJunction, relations } = this;
    const isJoining = ({ id, path }: Column): boolean =>
      relations.some(
        ({ name, on }) =>
          (isJunction || path.startsWith(`${name}.`)) && on.some(({ localColumn }) => localColumn.id === id),
      );
    for (const column of this.columns)
      if (!isJoining(column)) image[column.path] = byColumn.get(column.id) ?? null;
    for (const { name, on } of relations) {
      const key = on.map(({ localColumn }) => byColumn.get(localColumn.id) ?? null);
      image[name] = key.length === 1 ? (key[0] ?? null) : key;
    }
    return Object.freeze(image);
  }
}
