/** Result records: each an array of the driver's values, in the order of the select list. */
export type Records = readonly (readonly unknown[])[];

/** What a statement does, for its name in the database. */
export interface StatementLabel {
  readonly operation: string;
  readonly model: string;
}

/** SQL text and the values of its placeholders, in the driver's form. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Whether the same SQL is executed again with other values, so that it is worth preparing. */
  readonly reusable?: boolean;
  /** Set if one plan fits all values, so that the database may keep the statement prepared (`labelStatement`). */
  readonly label?: StatementLabel | undefined;
  /** Whether a client has selected the fields: such statements must not evict others from the caches. */
  readonly isClientSelected?: boolean;
}
