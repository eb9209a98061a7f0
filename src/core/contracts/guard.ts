import type { MaybePromise } from '../maybe-promise.js';

/** The interface of a Nest guard, called with Nest's `ExecutionContext`. */
export interface GuardLike {
  canActivate(context: never): unknown;
}

/** A guard class, instantiated by Nest's injector. */
export type GuardClass = new (...dependencies: never[]) => GuardLike;

/** Runs a guard: its decision, or a promise of it. Throws or rejects with the guard's error. */
export type RunGuard = (context: unknown) => MaybePromise<boolean>;
