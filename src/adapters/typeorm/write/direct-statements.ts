import { randomUUID } from 'node:crypto';
import { touches } from '../../../core/query/condition.js';
import { evaluateCondition } from '../../../core/query/evaluate-condition.js';
import type { ColumnValue, CreatePlan, KeyCheck, UpdatePlan } from '../../../core/query/plan.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { VALUE_CHOICES } from '../../../execution/choose-write.js';
import type { WriteChoice } from '../../../execution/write-causes.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { readColumns, selectList, Scope } from '../../../sql/query-scope.js';
import type { Statement, SelectedRows } from '../../../sql/statement.js';
import { labelStatement } from '../../../sql/statement.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import type { ChangeDetection, ColumnChange, RowChanges } from './change-detection.js';
import { columnsOf, isKeptAsGiven } from './column-values.js';
import type { NewRow } from './column-values.js';
import type { DirectWriterRules } from './direct-writer-rules.js';
import type { StoredRow, StoredRows } from './stored-rows.js';
import type { WriterTools } from './row-writer.js';

/** Builds the statements that write one row and return it. */
export class DirectStatements {
  private readonly shapes: StatementCache;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly rules: DirectWriterRules,
  ) {
    this.shapes = new StatementCache(tools.dialect);
  }

  /** The values of a new row; the lane if they need TypeORM, or it is unknown before the write whether the caller may have the row. */
  newRow({ values, fixed, added, keys, hiddenKeys, where }: CreatePlan): NewRow | WriteChoice {
    const { create, alike, inserting } = this.rules;
    if (!inserting.showsTriggers && where.kind !== 'always') return VALUE_CHOICES['unseen-trigger'];
    if (!inserting.selectsRows && keys.length > 0) return VALUE_CHOICES['checked-key'];
    const given = columnsOf(values, this.resource, alike);
    const others = [...fixed, ...added];
    // Defaults may complete the key.
    if (hiddenKeys.length > 0) return VALUE_CHOICES['hidden-key'];
    if (!create || !given || !others.every(({ column }) => create.writable.has(column.id)))
      return VALUE_CHOICES.values;
    const columns = distinct([...given, ...others, ...generateValues(create.generated, given)]);
    if (!columns || (inserting.generatesForZero && this.hasKeyOfZero(columns))) return VALUE_CHOICES.values;
    return evaluateCondition(where, (id) => keptValue(columns.get(id))) === true
      ? columns
      : VALUE_CHOICES.grants;
  }

  /** Whether the values of these columns may follow, once they are known. */
  mayAdd(columns: readonly Column[], row: NewRow): boolean {
    const writable = this.rules.create?.writable;
    return columns.every(({ id }) => writable?.has(id) === true && !row.has(id));
  }

  private hasKeyOfZero(row: NewRow): boolean {
    return this.resource.identity.some(({ id }) => Number(row.get(id)?.value ?? 1) === 0);
  }

  /** `isAlone`: outside of a transaction, which could undo it. */
  insert(
    columns: NewRow,
    { keys }: Pick<CreatePlan, 'keys'>,
    { isAlone }: { readonly isAlone: boolean },
  ): Statement {
    const { inserting } = this.rules;
    const defaults = this.rules.create?.defaults ?? [];
    const parameters = [...columns.values()].map((each) => this.encode(each));
    return this.shapes.ofWrite(
      JSON.stringify(['insert', [...columns.keys()], targetsOf(keys), isAlone]),
      { written: parameters, conditions: keys.map((key) => key.exact) },
      () => {
        const scope = Scope.ofTable(this.tools.dialect, this.tools.tables, this.resource);
        const names = [...columns.values()].map(({ column }) => scope.table.name(column));
        const placed = [...columns.values()].map(({ column }, index) =>
          inserting.value(scope.bindRaw(parameters[index]), column.type),
        );
        for (const { columnId, name, sql } of defaults) {
          if (columns.has(columnId)) continue;
          names.push(name);
          placed.push(sql);
        }
        const selected = conditionOn(keys, scope);
        const list = placed.join(', ');
        const rows =
          names.length === 0
            ? inserting.noColumns
            : ` (${names.join(', ')}) ${inserting.selectsRows ? `SELECT ${list}${selected}` : `VALUES (${list})`}`;
        const sql = `INSERT INTO ${scope.table.path}${rows} RETURNING ${this.returned(scope, isAlone ? this.exactKeys(scope) : [])}`;
        return this.label('create', { sql, parameters: scope.parameters }, selectedBy(keys));
      },
    );
  }

  /**
   * One statement for several new rows, whatever the keys in their bodies refer to. The order of the returned rows is not defined. `more`:
   * columns that it returns behind the others.
   */
  insertAll(rows: readonly NewRow[], more: readonly Column[] = []): Statement {
    const scope = Scope.ofTable(this.tools.dialect, this.tools.tables, this.resource);
    const { inserting } = this.rules;
    const defaults = this.rules.create?.defaults ?? [];
    const names = new Map(defaults.map(({ columnId, name }) => [columnId, name]));
    for (const row of rows)
      for (const [id, { column }] of row) if (!names.has(id)) names.set(id, scope.table.name(column));
    const omitted = new Map(defaults.map(({ columnId, sql }) => [columnId, sql]));
    const values = rows.map((row) => {
      const placed = [...names.keys()].map((id) => {
        const given = row.get(id);
        return given
          ? inserting.value(scope.bindRaw(this.encode(given)), given.column.type)
          : (omitted.get(id) ?? 'DEFAULT');
      });
      return `(${placed.join(', ')})`;
    });
    const sql = `INSERT INTO ${scope.table.path} (${[...names.values()].join(', ')}) VALUES ${values.join(', ')} RETURNING ${this.returned(scope, readColumns(more, scope))}`;
    return { sql, parameters: scope.parameters };
  }

  /** A query for values of an expression, or for one row: without a row if one of the keys may not be written. */
  mayRefer(keys: readonly KeyCheck[], drawn?: { readonly value: string; readonly count: number }): Statement {
    const scope = Scope.ofTable(this.tools.dialect, this.tools.tables, this.resource);
    const { generating } = this.rules.inserting;
    const values =
      drawn && generating ? `${drawn.value} AS c0 FROM ${generating.rows(drawn.count)}` : '1 AS c0';
    return { sql: `SELECT ${values}${conditionOn(keys, scope)}`, parameters: scope.parameters };
  }

  /** The changes of an update; the lane if it needs TypeORM, or a condition that UPDATE cannot evaluate. */
  changesOf({ values, where, after, hiddenKeys }: UpdatePlan): RowChanges | WriteChoice {
    const { update, alike, overlapping } = this.rules;
    // The stored row completes the key.
    if (hiddenKeys.length > 0) return VALUE_CHOICES['hidden-key'];
    const given = columnsOf(values, this.resource, alike);
    const columns = given && distinct(given);
    if (!update || !columns) return VALUE_CHOICES.values;
    if (columns.size === 0) return VALUE_CHOICES.nothing;
    // The stored row decides whether other relations change.
    if (overlapping.size > 0 && [...columns.keys()].some((id) => overlapping.has(id)))
      return VALUE_CHOICES['shared-column'];
    const computed = update.computed.filter(({ columnId }) => !columns.has(columnId));
    const isChanged = (id: string): boolean =>
      columns.has(id) || computed.some(({ columnId }) => columnId === id);
    // A condition over other rows would need a join, which UPDATE does not have.
    if (touches(where, () => false) || touches(after, isChanged)) return VALUE_CHOICES.grants;
    const changes: ColumnChange[] = [];
    for (const each of columns.values()) {
      const detection = update.detections.get(each.column.id);
      // JSON that differs only in the order of its keys stays as it is stored.
      const needsDetection = computed.length > 0 || each.column.type.kind === 'json';
      if (detection === undefined && needsDetection)
        return VALUE_CHOICES[this.tools.dialect.returning ? 'comparison' : 'counted-change'];
      changes.push({ column: each.column, raw: this.encode(each), detection });
    }
    return { changes, computed };
  }

  /** `as`: the state that the row must still have. */
  update(
    { keys, where }: UpdatePlan,
    changes: RowChanges,
    as?: { readonly rows: StoredRows; readonly row: StoredRow },
  ): Statement {
    return this.shapes.ofWrite(
      JSON.stringify(['update', changes.changes.map(statementShape), targetsOf(keys), as !== undefined]),
      {
        written: as ? [...parametersOfChanges(changes), ...as.row.state] : parametersOfChanges(changes),
        conditions: [where, ...keys.map((key) => key.exact)],
      },
      () => {
        const scope = Scope.ofTable(this.tools.dialect, this.tools.tables, this.resource);
        const assignments = compileChanges(changes, scope);
        const state = as ? as.rows.isUnchanged(as.row, scope) : [];
        const conditions = [...state, compileWhere(where, scope), ...existing(keys, scope)];
        const returning = scope.dialect.returning ? ` RETURNING ${this.returned(scope)}` : '';
        const sql = `UPDATE ${scope.table.path} SET ${assignments.join(', ')} WHERE ${conditions.join(' AND ')}${returning}`;
        const { resource } = this;
        return this.label('update', { sql, parameters: scope.parameters }, [
          { resource, where },
          ...selectedBy(keys),
        ]);
      },
    );
  }

  private label(operation: string, statement: Statement, selected: readonly SelectedRows[]): Statement {
    return labelStatement(statement, { operation, resource: this.resource }, selected);
  }

  private encode({ column, value }: ColumnValue): unknown {
    return value === null ? null : this.tools.dialect.encode(value, column.type);
  }

  private returned(scope: Scope, more: readonly string[] = []): string {
    return selectList([...this.tools.reader.selection.expressions(scope), ...more]);
  }

  /** Expressions that fail, so that nothing is stored, if a generated key would be returned rounded. */
  private exactKeys(scope: Scope): readonly string[] {
    const { failIfRounded } = this.rules.inserting;
    if (!failIfRounded) return [];
    return this.resource.identity
      .filter(({ type }) => type.kind === 'integer')
      .map((column) => failIfRounded(scope.own(column)));
  }
}

/** The parts of a change on which the SQL depends. */
function statementShape({
  column,
  raw,
  detection,
}: ColumnChange): readonly [string, ChangeDetection?, boolean?] {
  return detection === 'always' ? [column.id, detection, raw === null] : [column.id];
}

function selectedBy(keys: readonly KeyCheck[]): readonly SelectedRows[] {
  return keys.map(({ relation, exact }) => ({ resource: relation.target, where: exact }));
}

function targetsOf(keys: readonly KeyCheck[]): readonly string[] {
  return keys.map(({ relation, forbidden }) => `${forbidden ? '!' : ''}${relation.target.id}`);
}

/** Values for the columns that are not given. */
function generateValues(columns: readonly Column[], given: readonly ColumnValue[]): readonly ColumnValue[] {
  return columns
    .filter((column) => !given.some((each) => each.column.id === column.id))
    .map((column) => ({ column, value: randomUUID() }));
}

/** Undefined if the stored value has to be read back. */
function keptValue(given: ColumnValue | undefined): Json | undefined {
  return given && isKeptAsGiven(given.column) ? given.value : undefined;
}

/** The values by column; undefined if a column occurs twice. */
function distinct(values: readonly ColumnValue[]): ReadonlyMap<string, ColumnValue> | undefined {
  const byColumn = new Map(values.map((each) => [each.column.id, each]));
  return byColumn.size === values.length ? byColumn : undefined;
}

/**
 * Conditions that the rows exist to which the keys of the body refer, with exactly these keys: the general writer stores
 * a key that the database compares as equal in the form of the related row. Rows that are forbidden must not exist.
 */
function existing(keys: readonly KeyCheck[], scope: Scope): readonly string[] {
  return keys.map(({ relation, exact, forbidden }) => {
    const target = scope.within(relation.target);
    const condition = compileWhere(exact, target);
    return `${forbidden ? 'NOT ' : ''}EXISTS (SELECT 1 FROM ${target.from()} WHERE ${condition})`;
  });
}

function conditionOn(keys: readonly KeyCheck[], scope: Scope): string {
  const conditions = existing(keys, scope);
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}

/** The assignments of SET. They bind exactly `parametersOfChanges`, in this order. */
function compileChanges({ changes, computed }: RowChanges, scope: Scope): readonly string[] {
  const assigned = changes.map((change) => {
    const { column, raw } = change;
    const name = scope.table.name(column);
    // On MariaDB, a cast would cut off what a column refuses.
    const parameter = (): string =>
      scope.dialect.returning ? scope.dialect.parameter(scope.bindRaw(raw), column.type) : scope.bindRaw(raw);
    return keepsEqualValue(change)
      ? `${name} = CASE WHEN ${differsFromStored(change, scope)} THEN ${parameter()} ELSE ${name} END`
      : `${name} = ${parameter()}`;
  });
  const updated = computed.map(({ name, sql }) => {
    if (isAlwaysChanged(changes)) return `${name} = ${sql}`;
    const conditions = changes.map((change) => differsFromStored(change, scope));
    return `${name} = CASE WHEN ${conditions.join(' OR ')} THEN ${sql} ELSE ${name} END`;
  });
  return [...assigned, ...updated];
}

function parametersOfChanges({ changes, computed }: RowChanges): unknown[] {
  const parameters: unknown[] = [];
  for (const change of changes) {
    parameters.push(change.raw);
    if (keepsEqualValue(change)) parameters.push(change.raw);
  }
  if (computed.length === 0 || isAlwaysChanged(changes)) return parameters;
  const compared = changes.filter(({ detection }) => detection !== 'always').map(({ raw }) => raw);
  for (let index = 0; index < computed.length; index++) parameters.push(...compared);
  return parameters;
}

/** Whether an equal value may be stored in another form, which TypeORM would leave as it is. */
function keepsEqualValue({ detection }: ColumnChange): boolean {
  return detection === 'json' || detection === 'jsonb';
}

function isAlwaysChanged(changes: readonly ColumnChange[]): boolean {
  return changes.some(({ raw, detection }) => detection === 'always' && raw !== null);
}

/** @param given the SQL of the new value. Default: it is bound; of the values that are always taken for changed, only null occurs then. */
export function differsFromStored(
  { column, raw, detection }: ColumnChange,
  scope: Scope,
  given?: string,
): string {
  const name = scope.table.name(column);
  const { returning } = scope.dialect;
  if (detection === undefined || detection === 'always' || !returning)
    return `${given === undefined ? '' : `${given} IS NOT NULL OR `}${name} IS NOT NULL`;
  const placeholder = given ?? scope.dialect.parameter(scope.bindRaw(raw), column.type);
  return returning.differs(detection, { column: name, placeholder, type: column.type });
}
