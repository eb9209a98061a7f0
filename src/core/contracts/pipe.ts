/** A pipe of Nest, as far as it is run here. What it is given is Nest's own `ArgumentMetadata`. */
export interface PipeLike {
  transform(value: never, metadata: never): unknown;
}

/** What a pipe is run over: a body, with the entity's class as its metatype, or the parameters of a list. */
export type PipedArgument = 'body' | 'query';

/** The pipes of a model, ready to run in their order. */
export interface Piping {
  /** As Nest would run them over a parameter of an action. */
  readonly pipes: readonly PipeLike[];
  transform(value: unknown, argument: PipedArgument): Promise<unknown>;
}
