/** The interface of a Nest pipe, called with Nest's `ArgumentMetadata`. */
export interface PipeLike {
  transform(value: never, metadata: never): unknown;
}

/** The argument that a pipe transforms: a body, with the entity's class as its metatype, or the parameters of a list. */
export type PipedArgument = 'body' | 'query';

/** The resolved pipes of a model, in their order. */
export interface Piping {
  /** In the form in which Nest runs them for a parameter of an action. */
  readonly pipes: readonly PipeLike[];
  transform(value: unknown, argument: PipedArgument): Promise<unknown>;
}
