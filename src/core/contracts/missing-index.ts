/** What would read an index. */
export interface IndexUse {
  /** The model, `polls.question`. */
  readonly model: string;
  /** `filter` and `ordering`: a field of `filterFields` or `orderingFields`; `default-order`: the option `ordering`. */
  readonly kind: 'filter' | 'ordering' | 'default-order' | 'foreign-key';
  /** The path of the field: `status`, `customer.name`; of a foreign key, its columns. */
  readonly name: string;
}

/** An index that a table lacks. */
export interface MissingIndex {
  /** The table, with its schema if it has one, as the database's statements name it. */
  readonly table: string;
  /** The columns that the index has to begin with, by their names in the database, in order. */
  readonly columns: readonly string[];
  /** The number of rows of the table by the database's statistics; on SQLite counted, up to 1,000,000. */
  readonly rows: number;
  readonly uses: readonly IndexUse[];
  /** The statement that creates it. */
  readonly statement: string;
}

/** The indexes of several sources, with the uses of equal ones together. */
export function mergeMissingIndexes(found: readonly MissingIndex[]): readonly MissingIndex[] {
  const byStatement = new Map<string, MissingIndex>();
  for (const index of found) {
    const before = byStatement.get(index.statement);
    const uses = [...(before?.uses ?? []), ...index.uses];
    byStatement.set(index.statement, { ...index, uses: distinctUses(uses) });
  }
  return [...byStatement.values()];
}

/** Each use once. */
export function distinctUses(uses: readonly IndexUse[]): readonly IndexUse[] {
  return [...new Map(uses.map((use) => [`${use.model} ${use.kind} ${use.name}`, use])).values()];
}

const KINDS: Readonly<Record<IndexUse['kind'], string>> = {
  filter: 'filterFields',
  ordering: 'orderingFields',
  'default-order': 'ordering',
  'foreign-key': 'foreign key',
};

/** The text of a warning. */
export function describeMissingIndex({ table, columns, rows, uses, statement }: MissingIndex): string {
  const needed = uses.map(({ model, kind, name }) => `${KINDS[kind]} of ${model}: ${name}`).join('; ');
  return `No index of the table ${table}, which has about ${rows.toLocaleString('en-US')} rows, begins with ${columns[0] ?? ''} (${needed}): the database reads the whole table. ${statement}; missingIndexRows: false in RestifyModule.forRoot turns this warning off.`;
}
