/** The names of options in the first column of the tables below a heading of a document. */
export function optionsInTables(text: string, heading: string): readonly string[] {
  const [, behind = ''] = text.split(`\n${heading}\n`);
  const cells = [...(behind.split('\n## ')[0] ?? '').matchAll(/^\| ([^|]*) \|/gm)];
  return cells.flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
}
