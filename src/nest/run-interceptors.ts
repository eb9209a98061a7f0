import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { defer, lastValueFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import type { InterceptorChain } from '../pipeline/rest-pipeline.js';

/** Runs interceptors around an operation as Nest runs them around a handler: the first is the outermost. */
export function composeInterceptors(
  interceptors: readonly NestInterceptor[],
  context: ExecutionContext,
): InterceptorChain {
  return async (operate) => {
    const handlerAt = (index: number): CallHandler<unknown> => ({
      handle: (): Observable<unknown> =>
        defer(async () =>
          index < interceptors.length
            ? lastOf(await interceptors[index]?.intercept(context, handlerAt(index + 1)))
            : operate(),
        ),
    });
    return lastOf(handlerAt(0).handle());
  };
}

/** Undefined for an observable that completes without a value. */
function lastOf(values: Observable<unknown> | undefined): Promise<unknown> {
  return values ? lastValueFrom(values, { defaultValue: undefined }) : Promise.resolve(undefined);
}
