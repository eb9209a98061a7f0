import { QueryFailedError } from 'typeorm';
import type { QueryRunner } from 'typeorm';
import { isPromise, mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { ColumnValue, CreatePlan, NewChildren } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { isChoice } from '../../../execution/choose-write.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import type { Statement } from '../../../sql/statement.js';
import type { DirectStatements } from './direct-statements.js';
import { assertExactKey } from './entity-values.js';
import { NotInsertedTogether } from './insert-together.js';
import { identityOfRow } from './recorded-writes.js';
import type { InsertableRow, RowWriter, WriterTools } from './row-writer.js';

/** New rows that refer to the one above them. */
interface ChildRows {
  readonly rows: readonly InsertableRow[];
  /** The columns by which they do, and the place of their values among those that identify that row. */
  readonly references: readonly { readonly column: Column; readonly at: number }[];
}

/**
 * Inserts a row and its new children in one transaction, where nothing but statements sees any of them: the row by one, and the children of
 * each field by few.
 */
export class InsertWithChildren {
  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly statements: DirectStatements,
  ) {}

  /** `others` writes the rows one by one, where something sees them, or the database rejects one, and has to say which. */
  async create(plan: CreatePlan, others: Pick<RowWriter, 'create'>): Promise<Row> {
    return (await this.tryCreate(plan)) ?? others.create(plan);
  }

  /** As in `RowWriter`. */
  insertable(
    plan: CreatePlan,
    below: readonly Column[],
    by: InsertableRow['by'],
  ): MaybePromise<InsertableRow | undefined> {
    return mapMaybe(this.tools.choices.choose(plan), ({ lane }) => {
      const columns = lane === 'direct' ? this.statements.newRow(plan) : undefined;
      return columns && !isChoice(columns) && this.statements.mayAdd(below, columns)
        ? { by, columns, keys: plan.keys }
        : undefined;
    });
  }

  /** Undefined if nothing is written. */
  private async tryCreate(given: CreatePlan): Promise<Row | undefined> {
    const { connections, choices, dialect } = this.tools;
    const { children, pairs, recording, requester } = given;
    const plan: CreatePlan = { ...given, children: undefined };
    if (pairs || recording || (await choices.choose(plan)).lane !== 'direct') return undefined;
    const columns = this.statements.newRow(plan);
    // Before the transaction: what is asked about a table once may need another connection.
    const below = isChoice(columns) ? undefined : await this.childrenOf(children?.creations);
    if (isChoice(columns) || !below) return undefined;
    const statement = this.statements.insert(columns, plan, { isAlone: false });
    children?.beginTogether();
    const size = below.reduce((sum, { rows }) => sum + rows.length, 1);
    try {
      return await connections.transact((runner) => this.insert(statement, below, runner), requester, size);
    } catch (error) {
      const found = dialect.errorFor(error);
      // A constraint may be checked at the COMMIT.
      if (error instanceof NotInsertedTogether || (found && !isTemporary(found))) return undefined;
      throw error;
    }
  }

  private async childrenOf(
    creations: readonly NewChildren[] | undefined,
  ): Promise<readonly ChildRows[] | undefined> {
    const found: ChildRows[] = [];
    for (const each of creations ?? []) {
      const rows = await this.rowsOf(each);
      if (!rows) return undefined;
      found.push(rows);
    }
    return creations && found;
  }

  private async rowsOf(children: NewChildren): Promise<ChildRows | undefined> {
    const { identity } = this.resource;
    const references = children.on.map(({ localColumn, referencedColumn }) => ({
      column: referencedColumn,
      at: identity.findIndex(({ id }) => id === localColumn.id),
    }));
    if (references.some(({ at }) => at < 0)) return undefined;
    const columns = references.map(({ column }) => column);
    const rows: InsertableRow[] = [];
    for (const plan of children.plans() ?? []) {
      const found = plan.recording
        ? undefined
        : this.tools.writerOf(plan.resource).insertable?.(plan, columns);
      const row = isPromise(found) ? await found : found;
      if (!row || row.by !== (rows[0] ?? row).by) return undefined;
      rows.push(row);
    }
    const given = rows.map((row) => row.columns);
    return rows[0]?.by.mayInsert(given, columns) === true ? { rows, references } : undefined;
  }

  private async insert(statement: Statement, below: readonly ChildRows[], runner: QueryRunner): Promise<Row> {
    const { connections, reader, dialect } = this.tools;
    let row: Row | undefined;
    try {
      row = reader.rowOf(await connections.records(runner, statement));
    } catch (error) {
      throw error instanceof QueryFailedError ? NotInsertedTogether.by(error, dialect) : error;
    }
    // A key of the body names no row that the caller may name.
    if (!row) throw new NotInsertedTogether('A row with children was not inserted');
    assertExactKey(row.key, this.resource);
    const identity = identityOfRow(row);
    for (const { rows, references } of below) {
      const fixed = references.map(({ column, at }): ColumnValue => ({
        column,
        value: identity[at] ?? null,
      }));
      const complete = rows.map(({ columns, ...rest }) => ({
        ...rest,
        columns: new Map([...columns, ...fixed.map((each) => [each.column.id, each] as const)]),
      }));
      if (!(await rows[0]?.by.insert(complete, runner, true)))
        throw new NotInsertedTogether('The children of a row were not inserted together');
    }
    return row;
  }
}
