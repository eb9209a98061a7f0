/** An interceptor of Nest, as far as it is run here. What it is given is Nest's own `ExecutionContext` and `CallHandler`. */
export interface InterceptorLike {
  intercept(context: never, next: never): unknown;
}
