/** A guard of Nest, as far as it is run here. What it is given is Nest's own `ExecutionContext`. */
export interface GuardLike {
  canActivate(context: never): unknown;
}

/** A class of a guard, made by Nest's injector. */
export type GuardClass = new (...dependencies: never[]) => GuardLike;

/** A guard, ready to run: whether it lets a request pass. Rejects with what the guard throws. */
export type RunGuard = (context: unknown) => Promise<boolean>;
