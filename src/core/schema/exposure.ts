/** What decorators of class-transformer make of a property. */
export interface Exposure {
  /** `instanceToPlain` would show it. */
  readonly shown: boolean;
  /** `plainToInstance` would take it. */
  readonly taken: boolean;
  /** What else is said of it and has no place here, each behind the property's name: `is renamed …`. */
  readonly unheeded: readonly string[];
}

/** A class whose objects have prototypes; it need not be one that can be called without arguments. */
export type ExposedClass = abstract new (...given: never[]) => object;

/**
 * What becomes of the properties of a class, asked with values that fit each of them. Properties of which nothing is said are
 * left out.
 */
export type AskExposures = (
  type: ExposedClass,
  samples: ReadonlyMap<string, readonly unknown[]>,
) => ReadonlyMap<string, Exposure>;
