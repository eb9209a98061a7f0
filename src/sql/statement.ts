/** Each an array of the driver's values, in the order of the select list. */
export type Records = readonly (readonly unknown[])[];

/** SQL text and the values of its placeholders, as the driver takes them. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Its text comes again with other values. */
  readonly reusable?: boolean;
  /** A client has chosen what it brings out: such statements may not push others out. */
  readonly chosen?: boolean;
}
