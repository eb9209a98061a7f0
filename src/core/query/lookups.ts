/** What distinguishes a lookup from others. Its SQL is in `sql/compile-where.ts`. */
interface LookupRules {
  /**
   * What it compares with: a value of the column, several of them, a range of two, a text that need not be a valid value of
   * the column (a part of one, or in another case), or a boolean.
   */
  readonly value: 'one' | 'several' | 'range' | 'text' | 'boolean';
  /** Whether it depends on the order of values, which booleans do not have. */
  readonly isOrdered: boolean;
  /** Whether it compares keys of related objects. */
  readonly fitsKeys: boolean;
  /** Whether its SQL binds each value once and unchanged, and so is the same for other values. */
  readonly bindsValues: boolean;
}

const KEY = { isOrdered: false, fitsKeys: true, bindsValues: true } as const;
const ORDER = { isOrdered: true, fitsKeys: false, bindsValues: true } as const;
const TEXT = { value: 'text', isOrdered: false, fitsKeys: false, bindsValues: false } as const;

const RULES = {
  exact: { ...KEY, value: 'one' },
  iexact: TEXT,
  gt: { ...ORDER, value: 'one' },
  gte: { ...ORDER, value: 'one' },
  lt: { ...ORDER, value: 'one' },
  lte: { ...ORDER, value: 'one' },
  in: { ...KEY, value: 'several' },
  range: { ...ORDER, value: 'range' },
  contains: TEXT,
  icontains: TEXT,
  startswith: TEXT,
  istartswith: TEXT,
  endswith: TEXT,
  iendswith: TEXT,
  isnull: { ...KEY, value: 'boolean', bindsValues: false },
  ne: { ...KEY, value: 'one' },
} as const satisfies Readonly<Record<string, LookupRules>>;

/** The lookups of a column (contract 4.7). `exact` respects case, accents and trailing blanks on every database. */
export type Lookup = keyof typeof RULES;

export const LOOKUP_RULES: Readonly<Record<Lookup, LookupRules>> = RULES;

export const LOOKUPS = Object.keys(RULES) as readonly Lookup[];

/** Lookups that compare texts. */
export type TextLookup = {
  [Name in Lookup]: (typeof RULES)[Name]['value'] extends 'text' ? Name : never;
}[Lookup];

/** Lookups that depend on the order of values. */
export type OrderLookup = {
  [Name in Lookup]: (typeof RULES)[Name]['isOrdered'] extends true ? Name : never;
}[Lookup];

/** Whether a lookup compares with several values. */
export function comparesSeveral(lookup: Lookup): boolean {
  const { value } = LOOKUP_RULES[lookup];
  return value === 'several' || value === 'range';
}
