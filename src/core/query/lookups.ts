/** The lookups of a column (contract 4.7). `exact` respects case, accents and trailing blanks on every database. */
export const LOOKUPS = [
  'exact',
  'iexact',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'range',
  'contains',
  'icontains',
  'startswith',
  'istartswith',
  'endswith',
  'iendswith',
  'isnull',
  'ne',
] as const;

export type Lookup = (typeof LOOKUPS)[number];

/** Lookups whose value need not be a valid value of the column: a substring, or a text in another case. */
export const TEXT_LOOKUPS: ReadonlySet<string> = new Set<Lookup>([
  'iexact',
  'contains',
  'icontains',
  'startswith',
  'istartswith',
  'endswith',
  'iendswith',
]);
