import type { QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import type { BatchPlan } from '../../../core/query/plan.js';
import type { LockedRows } from './lock-together.js';
import type { ChangeableRow, LockedChange, PreparedWrite } from './row-writer.js';

type Step = BatchPlan['steps'][number];
type Together = Pick<PreparedWrite<unknown>, 'insertable' | 'changeable'>;

/**
 * Writes all rows of a batch by few statements if each of them may be, and there are several (at `least` two): the new ones, and then the others, of which
 * none changes a value that has to be unique. Undefined if nothing has been written: the rows have to be written one by one.
 * @throws NotInsertedTogether
 */
export async function writeTogether(
  writes: readonly Together[],
  {
    steps,
    locked,
    least = 2,
  }: { readonly steps: readonly Step[]; readonly locked: LockedRows; readonly least?: number },
  runner: QueryRunner,
): Promise<readonly Row[] | undefined> {
  const inserts = writes.flatMap(({ insertable }) => insertable ?? []);
  const changes = writes.flatMap(({ changeable }) => changeable ?? []);
  if (writes.length < least || inserts.length + changes.length < writes.length) return undefined;
  const [insert, change] = [inserts[0]?.by, changes[0]?.by];
  if (inserts.some(({ by }) => by !== insert) || changes.some(({ by }) => by !== change)) return undefined;
  const found = writes.flatMap(
    ({ changeable }, index) => lockedChange(changeable, steps[index], locked) ?? [],
  );
  if (found.length < changes.length) return undefined;
  const update = change ? await change.prepare(found, runner) : undefined;
  if (change && !update) return undefined;
  const inserted = insert ? await insert.insert(inserts, runner, least === 1) : [];
  if (!inserted) return undefined;
  const changed = update ? await update() : [];
  const [news, others] = [inserted.values(), changed.values()];
  return writes.flatMap(({ insertable }): Row[] => {
    const row = (insertable ? news : others).next().value;
    if (!row) return [];
    return [insertable ? row : { ...row, changed: true }];
  });
}

const NO_COLUMNS: ReadonlySet<string> = new Set();

function lockedChange(
  row: ChangeableRow | undefined,
  step: Step | undefined,
  locked: LockedRows,
): LockedChange | undefined {
  if (!row || (step?.kind !== 'update' && step?.kind !== 'upsert')) return undefined;
  const identity = locked.get(step.kind === 'upsert' ? step.update : step);
  const identifying =
    step.kind === 'upsert' ? new Set(step.identifying.map(({ column }) => column.id)) : NO_COLUMNS;
  return identity ? { row, identity, identifying } : undefined;
}
