/** A guard of Nest, as far as it is run here. What it is given is Nest's own `ExecutionContext`. */
export interface GuardLike {
  canActivate(context: never): unknown;
}
