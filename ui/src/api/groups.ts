/** One comparison of a filter group: `votes__gte=3`. */
export interface Comparison {
  readonly name: string;
  readonly value: string;
}

/** A group of which at least one comparison matches: `or(votes__gte=3,text="A, b")`. */
export function alternatives(comparisons: readonly Comparison[]): string {
  return `or(${comparisons.map(({ name, value }) => `${name}=${quoteValue(value)}`).join(',')})`;
}

/** Values with characters of the syntax are quoted, with `\` before quotes and itself. */
function quoteValue(value: string): string {
  return /^[\w.:+-]+$/.test(value) ? value : `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
