/** A problem with a value, and its path within the option: `.limit`, `[2]`, or empty. */
export interface OptionFlaw {
  readonly at: string;
  readonly what: string;
  readonly repair: string;
}

/** A validator of an option's value. Never called with undefined, which means an absent option. */
export type OptionKind = (given: unknown) => readonly OptionFlaw[];
