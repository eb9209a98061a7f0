import type { Requester } from '../../../core/contracts/requester.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { BatchPlan, ColumnValue, UpsertPlan } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { WriterTools } from './row-writer.js';

type Step = BatchPlan['steps'][number];
type Tools = Pick<WriterTools, 'connections' | 'dialect' | 'tables'>;

/** The steps, where upserts that identify the row of an earlier one are rejected: the result would depend on their order. */
export async function rejectRepeatedRows(
  steps: readonly Step[],
  requester: Requester | undefined,
  tools: Tools,
): Promise<readonly Step[]> {
  const upserts = steps.filter((step) => step.kind === 'upsert');
  if (upserts.length < 2) return steps;
  const firstOf = await equalTexts(upserts, requester, tools);
  const seen = new Set<string>();
  return steps.map((step) => {
    if (step.kind !== 'upsert') return step;
    const row = JSON.stringify(step.identifying.map((each) => firstOf(each)));
    if (seen.has(row)) return { kind: 'refused', errors: step.repeated };
    seen.add(row);
    return step;
  });
}

/** Maps a value to the first one that the database takes for equal. Values of other kinds than texts have one form each. */
async function equalTexts(
  upserts: readonly UpsertPlan[],
  requester: Requester | undefined,
  { connections, dialect, tables }: Tools,
): Promise<(value: ColumnValue) => Json> {
  const byColumn = new Map<Column, ReadonlyMap<Json, Json>>();
  const [first] = upserts;
  for (const [index, { column }] of (first?.identifying ?? []).entries()) {
    if (!first || column.type.kind !== 'string') continue;
    const texts = [...new Set(upserts.map(({ identifying }) => String(identifying[index]?.value)))];
    const table = tables.of(first.update.resource);
    const named = { path: table.path, name: table.name(column), type: column.type };
    const statement = dialect.equalTexts(named, texts);
    const found =
      statement && texts.length > 1 ? await connections.read(statement, 'primary', requester) : [];
    byColumn.set(
      column,
      new Map(found.map(([place, same]) => [texts[Number(place)] ?? '', texts[Number(same)] ?? ''])),
    );
  }
  return ({ column, value }) => byColumn.get(column)?.get(value) ?? value;
}
