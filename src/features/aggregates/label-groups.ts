import type { DataAdapter } from '../../core/data-adapter.js';
import type { AggregateResult } from '../../core/query/aggregate.js';
import { keyText, parseKeySegment } from '../../core/values/keys.js';
import type { RestContext } from '../../request/rest-context.js';
import { readLabels } from '../labels/read-labels.js';
import type { ParsedAggregates } from './parse-aggregates.js';

/** The labels of each group, by the names of its keys. */
export type GroupLabels = readonly Readonly<Record<string, string>>[];

/** Reads the labels of the keys of groups: one statement for each relation. Undefined if none are asked for. */
export async function labelGroups(
  { groups }: AggregateResult,
  parsed: ParsedAggregates,
  reading: { readonly context: RestContext; readonly adapter: DataAdapter },
): Promise<GroupLabels | undefined> {
  if (parsed.groups.every(({ labelled }) => !labelled)) return undefined;
  const found: Record<string, string>[] = groups.map(() => ({}));
  for (const [place, { name, labelled }] of parsed.groups.entries()) {
    if (!labelled) continue;
    const { key } = labelled.target;
    const texts = groups.map(({ keys }) => {
      const value = keys[place] ?? null;
      // A composite key is its text already.
      if (value === null) return undefined;
      return key.columns.length > 1 ? String(value) : keyText([value]);
    });
    const known = [...new Set(texts)].filter((text) => text !== undefined);
    const keys = known.flatMap((text) => {
      const values = parseKeySegment(text, key);
      return values ? [values] : [];
    });
    const labels = await readLabels(labelled, keys, reading);
    for (const [index, text] of texts.entries()) {
      const label = text === undefined ? undefined : labels.get(text);
      const group = found[index];
      if (group && label !== undefined) group[name] = label;
    }
  }
  return found;
}
