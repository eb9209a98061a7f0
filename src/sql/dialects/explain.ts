/** The first number of this name in the JSON output of EXPLAIN (text or parsed), searched breadth-first. */
export function numberIn(result: unknown, name: string): number | undefined {
  const level: unknown[] = [typeof result === 'string' ? JSON.parse(result) : result];
  for (let each = level.shift(); each !== undefined; each = level.shift()) {
    if (typeof each !== 'object' || each === null) continue;
    const found = (each as Record<string, unknown>)[name];
    if (found !== undefined && Number.isFinite(Number(found))) return Math.max(0, Math.round(Number(found)));
    level.push(
      ...(Object.values(each) as readonly unknown[]).filter(
        (inner) => typeof inner === 'object' && inner !== null,
      ),
    );
  }
  return undefined;
}
