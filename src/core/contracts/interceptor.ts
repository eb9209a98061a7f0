/** The interface of a Nest interceptor, called with Nest's `ExecutionContext` and `CallHandler`. */
export interface InterceptorLike {
  intercept(context: never, next: never): unknown;
}
