/** The exposure of a property by decorators of class-transformer. */
export interface Exposure {
  /** Whether `instanceToPlain` includes it. */
  readonly readable: boolean;
  /** Whether `plainToInstance` accepts it. */
  readonly writable: boolean;
  /** Ignored effects of the decorators, each as a predicate that follows the property's name: `is renamed …`. */
  readonly ignoredEffects: readonly string[];
}

/** A class, whatever the arguments of its constructor. */
export type ExposedClass = abstract new (...given: never[]) => object;

/**
 * Determines the exposure of the properties of a class with sample values for each of them. Properties without decorators
 * are omitted.
 */
export type ReadExposures = (
  type: ExposedClass,
  samples: ReadonlyMap<string, readonly unknown[]>,
) => ReadonlyMap<string, Exposure>;
