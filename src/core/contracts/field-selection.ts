/** What the parameters of a model's clients are called, and how much they may ask for. Given as `shape`. */
export interface FieldSelectionOptions {
  /** Only these fields: `fields=id,votes`. Default: `fields`. */
  readonly fieldsParameter?: string;
  /** All fields but these: `omit=votes`. Default: `omit`. */
  readonly omitParameter?: string;
  /** Related objects in the place of keys and links: `expand=question`. Default: `expand`. */
  readonly expandParameter?: string;
  /** Objects that stand in the place of one link; a link to more of them stays a link. Default: 100. */
  readonly maxChildren?: number;
  /** Objects that an answer with expansions may hold, its own rows included; more are 400. Default: 10,000. */
  readonly maxObjects?: number;
}

/** Relations that clients may expand, by field, and what they may expand behind each. */
export type Expandable = ReadonlyMap<string, Expandable>;

/** How clients may shape the answers of a model. Compiled at boot. */
export interface FieldSelection {
  /** Undefined where clients may not choose fields. */
  readonly fieldsParameter: string | undefined;
  readonly omitParameter: string | undefined;
  /** Undefined where nothing is expandable. */
  readonly expandParameter: string | undefined;
  readonly expandable: Expandable;
  readonly maxChildren: number;
  readonly maxObjects: number;
}

/** The query parameters that shape answers, in lists and objects alike. */
export function fieldSelectionParameters(rules: FieldSelection | undefined): readonly string[] {
  return rules
    ? [rules.fieldsParameter, rules.omitParameter, rules.expandParameter].filter((name) => name !== undefined)
    : [];
}
