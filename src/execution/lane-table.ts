/** The lane of one operation of a model. */
export interface LaneRow {
  readonly model: string;
  readonly operation: string;
  readonly lane: string;
  /** A sentence that names what is responsible. */
  readonly reason: string;
}

/** For a reason: what applications provide may be any object. */
export function classNameOf(instance: object): string {
  const { constructor } = instance as { readonly constructor?: { readonly name?: unknown } };
  return typeof constructor?.name === 'string' ? constructor.name : 'without a class';
}

/** A table for the log: operations of a model with the same lane and reason share a line. */
export function laneTable(rows: readonly LaneRow[]): string {
  const merged = new Map<string, LaneRow>();
  for (const row of rows) {
    const { model, operation, lane, reason } = row;
    const name = JSON.stringify([model, lane, reason]);
    const known = merged.get(name);
    merged.set(name, known ? { ...known, operation: `${known.operation}, ${operation}` } : row);
  }
  const lines = [...merged.values()].map(({ model, operation, lane, reason }) => [
    model,
    operation,
    lane,
    reason,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n');
}
