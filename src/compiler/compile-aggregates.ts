import { MEASURE_KINDS } from '../core/query/aggregate.js';
import type { Aggregates, GroupField, MeasureField } from '../core/query/aggregate.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import { resolveReadablePath } from './compile-queries.js';
import type { EffectiveOptions } from './effective-options.js';

/** Compiles the option `aggregate`; what it leaves out is reported by `verifyAggregates`. */
export function compileAggregates(
  { aggregate }: Pick<EffectiveOptions, 'aggregate'>,
  resource: ResourceSchema,
): Aggregates | undefined {
  if (aggregate === undefined) return undefined;
  const groups = new Map<string, GroupField>();
  for (const path of namesIn(aggregate.group)) {
    const field = groupField(path, resource);
    if (field) groups.set(path, field);
  }
  const measures = new Map<string, MeasureField>();
  for (const kind of MEASURE_KINDS)
    for (const path of namesIn(aggregate[kind])) {
      const operand = resolveReadablePath(path, resource)?.operands[0];
      if (operand) measures.set(`${kind}.${path}`, { kind, path, operand });
    }
  return { groups, measures, minGroup: aggregate.minGroup };
}

/** Ignores other values than texts, which are reported. */
export function namesIn(given: unknown): readonly string[] {
  return Array.isArray(given) ? given.filter((each): each is string => typeof each === 'string') : [];
}

/** The key of a composite relation is null where one of its columns is. */
function groupField(path: string, resource: ResourceSchema): GroupField | undefined {
  const resolved = resolveReadablePath(path, resource);
  if (!resolved) return undefined;
  const { operands, row, relation } = resolved;
  const present = operands.map(({ column }) => column);
  return {
    row,
    relation,
    operands: operands.length < 2 ? operands : operands.map((operand) => ({ ...operand, present })),
  };
}
