import type { Column } from '../../../core/schema/column.js';
import type { Scope } from '../../../sql/query-scope.js';
import type { ChangeDetection } from './change-detection.js';
import type { ComputedColumn } from './update-rules.js';

/** The new value of a column, in the driver's form. */
export interface ColumnChange {
  readonly column: Column;
  readonly raw: unknown;
  readonly detection: ChangeDetection | undefined;
}

/** The changes of one UPDATE. */
export interface RowChanges {
  readonly changes: readonly ColumnChange[];
  /** Set only if a value changes. */
  readonly computed: readonly ComputedColumn[];
}

/** The assignments of SET. They bind exactly `parametersOfChanges`, in this order. */
export function compileChanges({ changes, computed }: RowChanges, scope: Scope): readonly string[] {
  const assigned = changes.map((change) => {
    const { column, raw } = change;
    const name = scope.table.name(column);
    const parameter = (): string => scope.dialect.parameter(scope.bindRaw(raw), column.type);
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

export function parametersOfChanges({ changes, computed }: RowChanges): readonly unknown[] {
  const assigned = changes.flatMap((change) =>
    keepsEqualValue(change) ? [change.raw, change.raw] : [change.raw],
  );
  const compared = isAlwaysChanged(changes)
    ? []
    : changes.flatMap(({ raw, detection }) => (detection === 'always' ? [] : [raw]));
  return [...assigned, ...computed.flatMap(() => compared)];
}

/** Whether an equal value may be stored in another form, which TypeORM would leave as it is. */
function keepsEqualValue({ detection }: ColumnChange): boolean {
  return detection === 'json';
}

function isAlwaysChanged(changes: readonly ColumnChange[]): boolean {
  return changes.some(({ raw, detection }) => detection === 'always' && raw !== null);
}

function differsFromStored({ column, raw, detection }: ColumnChange, scope: Scope): string {
  const name = scope.table.name(column);
  const { returning } = scope.dialect;
  // Of the values that are always taken for changed, only null occurs here.
  if (detection === undefined || detection === 'always' || !returning) return `${name} IS NOT NULL`;
  const placeholder = scope.dialect.parameter(scope.bindRaw(raw), column.type);
  return returning.differs(detection, { column: name, placeholder, type: column.type });
}
