/** Names and limits of the query parameters that select fields and expand relations. Given as `shape`. */
export interface FieldSelectionOptions {
  /** Only these fields: `fields=id,votes`. Default: `fields`. */
  readonly fieldsParameter?: string;
  /** All fields but these: `omit=votes`. Default: `omit`. */
  readonly omitParameter?: string;
  /** Related objects instead of keys and links: `expand=question`. Default: `expand`. */
  readonly expandParameter?: string;
  /** Maximum number of objects that replace one link; a link to more of them is not expanded. Default: 100. */
  readonly maxChildren?: number;
  /** Maximum number of objects in a response with expansions, its own rows included; more are 400. Default: 10,000. */
  readonly maxObjects?: number;
}

/** The tree of relations that clients may expand, by field. */
export type Expandable = ReadonlyMap<string, Expandable>;

/** The compiled `FieldSelectionOptions` of a model. */
export interface FieldSelection {
  /** Undefined if field selection is disabled. */
  readonly fieldsParameter: string | undefined;
  readonly omitParameter: string | undefined;
  /** Undefined if no relation is expandable. */
  readonly expandParameter: string | undefined;
  /** Undefined if expanded lists take no parameters: `comments.limit=5` would limit the list `comments`. */
  readonly limitParameter: string | undefined;
  readonly expandable: Expandable;
  readonly maxChildren: number;
  readonly maxObjects: number;
}

/** The name, in `parameters` too, of the parameter that limits an expanded list. */
export const LIMIT_PARAMETER = 'limit';

/** The member beside an expanded list that has been cut: `comments_more`. */
export function moreMember(field: string): string {
  return `${field}_more`;
}

/** The value of the parameter `with` that adds the numbers of related objects, and the member of each object that has them. */
export const COUNTS_MEMBER = 'counts';

/** The lists of a model whose objects clients may count, and the query parameter by which they do. */
export interface Counts {
  readonly parameter: string;
  readonly names: readonly string[];
}

/** The query parameters of field selection and expansion, for lists and objects. */
export function fieldSelectionParameters(rules: FieldSelection | undefined): readonly string[] {
  return rules
    ? [rules.fieldsParameter, rules.omitParameter, rules.expandParameter].filter((name) => name !== undefined)
    : [];
}
