/** The names of options in the first column of the tables below a heading of a document. */
export function optionsInTables(text: string, heading: string): readonly string[] {
  const [, behind = ''] = text.split(`\n${heading}\n`);
  return namesInRows(behind.split('\n## ')[0] ?? '');
}

/** The names in the first column of a table, whose lines may be those of a comment. */
export function namesInRows(text: string): readonly string[] {
  const cells = [...text.matchAll(/^(?: \* )?\| ([^|]*) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
}
