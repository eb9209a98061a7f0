import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { isObservable, lastValueFrom } from 'rxjs';
import type { GuardLike, RunGuard } from '../core/contracts/guard.js';

/** A guard as Nest runs one: of an Observable the last value counts. */
export function runGuard(guard: GuardLike): RunGuard {
  const nests = guard as CanActivate;
  return async (context) => {
    const answer = nests.canActivate(context as ExecutionContext);
    return isObservable(answer) ? lastValueFrom(answer) : answer;
  };
}
