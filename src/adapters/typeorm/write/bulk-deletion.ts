import { QueryFailedError } from 'typeorm';
import type { EntityMetadata, QueryRunner } from 'typeorm';
import { BulkWriteError } from '../../../core/errors/bulk-write-error.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import { inSlices } from '../../../core/event-loop.js';
import { conjunction, disjunction, equals } from '../../../core/query/condition.js';
import type { Condition, Operand } from '../../../core/query/condition.js';
import type { DeletePlan } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { keyText } from '../../../core/values/keys.js';
import { compileCondition, compileWhere } from '../../../sql/compile-where.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { lockOf } from '../../../sql/lock-clause.js';
import { Scope } from '../../../sql/query-scope.js';
import { decodeRecord, readColumns, selectList } from '../../../sql/select-columns.js';
import { mayDeleteTogether } from './bulk-deletion-rules.js';
import { whereIdentity } from './entity-values.js';
import { inLockOrder } from './lock-order.js';
import type { DeleteTogether, WriterTools } from './row-writer.js';
import { mayReadStaleRows, selectForDeletion } from './select-for-update.js';

/** The rows of one statement. */
const ROWS = 500;

type Compare = Extract<Condition, { kind: 'compare' }>;
type Identity = readonly Json[];

/** A row that is to be deleted. */
interface Target {
  /** Its place in the request. */
  readonly index: number;
  readonly where: Condition;
  /** The values of its key. */
  readonly key: readonly Compare[];
}

/** What selects the rows: conditions that all of them share, and the key of each. */
interface Selection {
  readonly shared: readonly Condition[];
  readonly operands: readonly Operand[];
  readonly targets: readonly Target[];
}

/** The number of rows that a statement has deleted is not that of the rows that were locked. */
class UnevenDeletion extends Error {}

/**
 * Deletes many rows by few statements, where nothing runs for each of them. It changes nothing but the number of statements:
 * where the database rejects one, the rows are deleted one by one in another transaction, which finds the row that it rejects.
 */
export class BulkDeletion {
  private readonly metadata: EntityMetadata;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
  ) {
    this.metadata = tools.tables.of(resource).metadata;
  }

  /** Undefined if the rows have to be deleted one by one. */
  async prepare(plans: readonly DeletePlan[]): Promise<DeleteTogether | undefined> {
    const selection = selectionOf(plans);
    if (!selection || !(await mayDeleteTogether(plans, this.resource, this.tools))) return undefined;
    return async (runner, { skipsMissing }) => {
      const { found, missing } = await this.lock(selection, runner);
      if (missing.length > 0 && !skipsMissing)
        throw new BulkWriteError(new Map(missing.map((index) => [index, 'missing'])));
      for await (const identities of inSlices(chunksOf(found))) await this.delete(identities, runner);
    };
  }

  /** Whether the rows have to be deleted one by one after this error. TypeORM 0.3 leaves an error of COMMIT as the driver throws it. */
  static isOfOneRow(error: unknown, { errorFor }: Pick<Dialect, 'errorFor'>): boolean {
    if (error instanceof QueryFailedError || error instanceof UnevenDeletion) return true;
    const known = isRestException(error) ? undefined : errorFor(error);
    return known !== undefined && !isTemporary(known);
  }

  /** Locks the rows, all of them before the first one is deleted. */
  private async lock(
    selection: Selection,
    runner: QueryRunner,
  ): Promise<{ readonly found: readonly Identity[]; readonly missing: readonly number[] }> {
    const found = new Map<string, Identity>();
    const missing: number[] = [];
    for await (const targets of inSlices(chunksOf(inLockOrder(selection.targets)))) {
      const rows = await this.selectCurrent({ ...selection, targets }, runner);
      for (const { index, where, key } of targets) {
        const identity =
          rows.get(keyText(key.map(({ value }) => value))) ?? (await this.selectAlone(where, runner));
        if (identity) found.set(keyText(identity), identity);
        else missing.push(index);
      }
    }
    return { found: [...found.values()], missing: missing.sort((a, b) => a - b) };
  }

  /** As `selectTogether`; once more where the first statement may have waited, and the rows depend on others. */
  private async selectCurrent(
    selection: Selection,
    runner: QueryRunner,
  ): Promise<ReadonlyMap<string, Identity>> {
    const rows = await this.selectTogether(selection, runner);
    const isStale = rows.size > 0 && mayReadStaleRows(conjunction(selection.shared), this.tools.dialect);
    return isStale ? this.selectTogether(selection, runner) : rows;
  }

  /** The identities of rows by their keys: none if the statement would lock rows of other tables, and scan these. */
  private async selectTogether(
    { shared, operands, targets }: Selection,
    runner: QueryRunner,
  ): Promise<ReadonlyMap<string, Identity>> {
    const { dialect, tables, connections } = this.tools;
    const { identity } = this.resource;
    const columns = [...identity, ...operands.map(({ column }) => column)];
    const scope = Scope.begin(dialect, tables, this.resource);
    const list = selectList(readColumns(columns, scope));
    const keys = targets.map(({ key }) => key);
    const condition = compileWhere(conjunction([...shared, anyOf(operands, keys)]), scope);
    const order = operands.map((operand) => scope.operand(operand)).join(', ');
    const from = scope.from();
    if (from.includes(' JOIN ') && dialect.lockRow !== '' && !dialect.lockNamesTable) return new Map();
    const records = await connections.records(runner, {
      sql: `SELECT ${list} FROM ${from} WHERE ${condition} ORDER BY ${order}${lockOf(scope, from)}`,
      parameters: scope.parameters,
    });
    return new Map(
      records.map((record) => {
        const values = decodeRecord(record, columns, dialect);
        return [keyText(values.slice(identity.length)), values.slice(0, identity.length)];
      }),
    );
  }

  private selectAlone(where: Condition, runner: QueryRunner): Promise<Identity | undefined> {
    const { resource, tools } = this;
    return selectForDeletion(resource, { columns: resource.identity, where }, { runner, tools });
  }

  /** @throws UnevenDeletion if the statement has deleted fewer rows. */
  private async delete(identities: readonly Identity[], runner: QueryRunner): Promise<void> {
    const affected = await (this.metadata.deleteDateColumn
      ? this.softDelete(identities, runner)
      : this.deleteRows(identities, runner));
    if (affected !== identities.length) throw new UnevenDeletion();
  }

  private async deleteRows(identities: readonly Identity[], runner: QueryRunner): Promise<unknown> {
    const { dialect, tables } = this.tools;
    const { identity } = this.resource;
    const scope = Scope.ofTable(dialect, tables, this.resource);
    const rows = identities.map((values) => comparisonsOf(identity, values));
    const condition = compileCondition(anyOf(identity.map(ownOperand), rows), scope);
    const order = identity.map((column) => scope.own(column)).join(', ');
    const end = dialect.limitsChanges ? ` ORDER BY ${order} LIMIT ${identities.length}` : '';
    const sql = `DELETE FROM ${scope.table.path} WHERE ${condition}${end}`;
    return (await runner.query(sql, [...scope.parameters], true)).affected;
  }

  /** By the statement of TypeORM, which also changes versions and dates of updates. */
  private async softDelete(identities: readonly Identity[], { manager }: QueryRunner): Promise<unknown> {
    const { resource, metadata, tools } = this;
    const update = manager
      .createQueryBuilder()
      .callListeners(false)
      .softDelete()
      .from(metadata.target)
      .whereInIds(identities.map((each) => whereIdentity(each, resource, metadata)));
    if (tools.dialect.limitsChanges) {
      update.limit(identities.length);
      for (const { propertyPath } of metadata.primaryColumns)
        update.addOrderBy(`${update.alias}.${propertyPath}`);
    }
    return (await update.execute()).affected;
  }
}

/** Undefined if the plans are not those of one list of keys. */
function selectionOf(plans: readonly DeletePlan[]): Selection | undefined {
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
      key.every(({ operand }, at) => operand.column.id === operands[at]?.column.id) &&
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
    condition.asKey !== true &&
    condition.value !== null &&
    condition.operand.hops.length === 0
  );
}

function ownOperand(column: Column): Operand {
  return { hops: [], column };
}

function comparisonsOf(columns: readonly Column[], values: Identity): readonly Compare[] {
  return columns.map((column, index) => equals(column, values[index] ?? null) as Compare);
}

/** The rows with one of these keys. */
function anyOf(operands: readonly Operand[], keys: readonly (readonly Compare[])[]): Condition {
  const [operand, ...more] = operands;
  return operand && more.length === 0
    ? { kind: 'compare', operand, lookup: 'in', value: keys.map(([first]) => first?.value ?? null) }
    : disjunction(keys.map(conjunction));
}

function* chunksOf<Each>(all: readonly Each[]): Generator<readonly Each[]> {
  for (let at = 0; at < all.length; at += ROWS) yield all.slice(at, at + ROWS);
}
