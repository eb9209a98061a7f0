import type { MaybePromise } from '../maybe-promise.js';

/** The interface of a Nest guard, called with Nest's `ExecutionContext`. */
export interface GuardLike {
  canActivate(context: never): unknown;
}

/** A guard class, instantiated by Nest's injector. */
export type GuardClass = new (...dependencies: never[]) => GuardLike;

/** Runs a guard: its decision, or a promise of it. Throws or rejects with the guard's error. */
export type RunGuard = (context: unknown) => MaybePromise<boolean>;

/** The interface of a Nest interceptor, called with Nest's `ExecutionContext` and `CallHandler`. */
export interface InterceptorLike {
  intercept(context: never, next: never): unknown;
}

/** The interface of a Nest pipe, called with Nest's `ArgumentMetadata`. */
export interface PipeLike {
  transform(value: never, metadata: never): unknown;
}

/** The argument that a pipe transforms: a body, with the entity's class as its metatype, or the parameters of a list. */
type PipedArgument = 'body' | 'query';

/** The resolved pipes of a model, in their order. */
export interface Piping {
  /** In the form in which Nest runs them for a parameter of an action. */
  readonly pipes: readonly PipeLike[];
  transform(value: unknown, argument: PipedArgument): Promise<unknown>;
}
