import type { QueryRunner } from 'typeorm';
import { conjunction, disjunction } from '../../../core/query/condition.js';
import type { Condition, Operand } from '../../../core/query/condition.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { DeletePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { keyText } from '../../../core/values/keys.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { decodeRecord, lockOf, readColumns, Scope, selectList } from '../../../sql/query-scope.js';
import { inSlices } from '../../../core/event-loop.js';
import { inLockOrder, mayReadStaleRows } from './row-locks.js';
import type { WriterTools } from './row-writer.js';

/** The rows of one statement. */
const ROWS = 500;

export type Compare = Extract<Condition, { kind: 'compare' }>;
export type Identity = readonly Json[];

/** A row that is to be locked. */
export interface Target {
  /** Its place in the request. */
  readonly index: number;
  readonly where: Condition;
  /** The values of its key. */
  readonly key: readonly Compare[];
}

/** What selects the rows: conditions that all of them share, and the key of each. */
export interface Selection {
  readonly shared: readonly Condition[];
  readonly operands: readonly Operand[];
  readonly targets: readonly Target[];
}

/** A write of a row that exists. */
export interface RowPlan {
  readonly resource: ResourceSchema;
  readonly where: Condition;
}

/** The keys of the rows of these plans, where they were found when they were locked, and nothing has been written since; null if there is none. */
export type LockedRows = Map<UpdatePlan | DeletePlan, Identity | null | undefined>;

/** Locks many rows by one statement, in the order of an index on numbers. */
export class LockTogether {
  /** @param read the columns to read: by default those that identify the row. */
  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly read: readonly Column[] = resource.identity,
  ) {}

  /**
   * The read values of the rows by the texts of their keys; undefined if the statement would lock rows of other tables, and scan these, or
   * other rows of the table. They are read once more where the first statement may have waited, and the rows depend on others.
   */
  async select(
    selection: Selection,
    runner: QueryRunner,
  ): Promise<ReadonlyMap<string, Identity> | undefined> {
    if (this.mayScanTable(selection)) return undefined;
    const rows = await this.selectTogether(selection, runner);
    const isStale =
      rows !== undefined &&
      rows.size > 0 &&
      mayReadStaleRows(conjunction(selection.shared), this.tools.dialect);
    return isStale ? this.selectTogether(selection, runner) : rows;
  }

  /**
   * Whether MySQL may read a small table as a whole, and lock each row that it reads: by an index that is not the primary key, if that
   * does not have all columns of the statement.
   */
  private mayScanTable({ shared, operands }: Selection): boolean {
    const { dialect, tables } = this.tools;
    if (!dialect.limitsChanges) return false;
    const { primaryColumns } = tables.of(this.resource).metadata;
    const primary = new Set(primaryColumns.map(({ databaseName }) => databaseName));
    const compared = operands.map(({ column }) => column.id);
    if (compared.every((id) => primary.has(id))) return false;
    return (
      shared.length > 0 || this.resource.identity.some(({ id }) => !primary.has(id) && !compared.includes(id))
    );
  }

  private async selectTogether(
    { shared, operands, targets }: Selection,
    runner: QueryRunner,
  ): Promise<ReadonlyMap<string, Identity> | undefined> {
    const { dialect, tables, connections } = this.tools;
    const { read } = this;
    const columns = [...read, ...operands.map(({ column }) => column)];
    const scope = Scope.begin(dialect, tables, this.resource);
    const list = selectList(readColumns(columns, scope));
    const keys = targets.map(({ key }) => key);
    const condition = compileWhere(conjunction([...shared, anyOf(operands, keys)]), scope);
    const order = operands.map((operand) => scope.operand(operand)).join(', ');
    const from = scope.from();
    if (from.includes(' JOIN ') && dialect.lockRow !== '' && !dialect.lockNamesTable) return undefined;
    const records = await connections.records(runner, {
      sql: `SELECT ${list} FROM ${from} WHERE ${condition} ORDER BY ${order}${lockOf(scope, from)}`,
      parameters: scope.parameters,
    });
    return new Map(
      records.map((record) => {
        const values = decodeRecord(record, columns, dialect);
        return [keyText(values.slice(read.length)), values.slice(0, read.length)];
      }),
    );
  }
}

/**
 * Locks the rows of plans of one model, as if one statement for each did so. Returns for each plan the key of its row, null if there is none,
 * and undefined if that is not known; undefined if the rows have to be locked one by one.
 */
export async function lockTogether(
  plans: readonly RowPlan[],
  tools: WriterTools,
  runner: QueryRunner,
): Promise<readonly (Identity | null | undefined)[] | undefined> {
  const [first] = plans;
  if (!first || plans.length < 2 || plans.some(({ resource }) => resource !== first.resource))
    return undefined;
  const selection = selectionOf(plans);
  if (!selection) return undefined;
  const together = new LockTogether(first.resource, tools);
  const found: (Identity | null | undefined)[] = [];
  for await (const targets of inSlices(chunksOf(inLockOrder(selection.targets)))) {
    const rows = await together.select({ ...selection, targets }, runner);
    if (!rows) return undefined;
    for (const { index, key } of targets) found[index] = rows.get(keyTextOf(key));
    // A row whose key the database takes for equal to another text is none of the others.
    const isComplete = targets.filter(({ index }) => found[index]).length === rows.size;
    for (const { index } of targets) if (isComplete) found[index] ??= null;
  }
  return found;
}

/** Undefined if the plans are not those of one list of keys. */
export function selectionOf(plans: readonly Pick<RowPlan, 'where'>[]): Selection | undefined {
  const [first, second] = plans.map(({ where }) => partsOf(where));
  if (!first || !second) return undefined;
  const others = new Set(second);
  const shared = first.filter((each) => others.has(each));
  const common = new Set(shared);
  const operands = first.flatMap((each) => (!common.has(each) && isKeyValue(each) ? [each.operand] : []));
  const targets: Target[] = [];
  for (const [index, { where }] of plans.entries()) {
    const parts = partsOf(where);
    const key = parts.filter((each): each is Compare => !common.has(each) && isKeyValue(each));
    const isOfList =
      key.length > 0 &&
      key.length === operands.length &&
      key.every(
        ({ operand, asKey }, at) =>
          operand.column.id === operands[at]?.column.id &&
          (targets[0] === undefined || asKey === targets[0].key[at]?.asKey),
      ) &&
      parts.length === shared.length + key.length &&
      shared.every((each, at) => parts[at] === each);
    if (!isOfList) return undefined;
    targets.push({ index, where, key });
  }
  return { shared, operands, targets };
}

function partsOf(where: Condition): readonly Condition[] {
  return where.kind === 'and' ? where.conditions : [where];
}

function isKeyValue(condition: Condition): condition is Compare {
  return (
    condition.kind === 'compare' &&
    condition.lookup === 'exact' &&
    condition.value !== null &&
    condition.operand.joinPath.length === 0
  );
}

/** The text of a key, as `LockTogether.select` returns it. */
export function keyTextOf(key: Target['key']): string {
  return keyText(key.map(({ value }) => value));
}

/** The rows with one of these keys. */
export function anyOf(operands: readonly Operand[], keys: readonly (readonly Compare[])[]): Condition {
  const [operand, ...more] = operands;
  return operand && more.length === 0
    ? {
        kind: 'compare',
        operand,
        lookup: 'in',
        value: keys.map(([first]) => first?.value ?? null),
        ...(keys[0]?.[0]?.asKey ? { asKey: true } : {}),
      }
    : disjunction(keys.map(conjunction));
}

export function* chunksOf<Each>(all: readonly Each[], length = ROWS): Generator<readonly Each[]> {
  for (let at = 0; at < all.length; at += length) yield all.slice(at, at + length);
}
