import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { isObservable, lastValueFrom } from 'rxjs';
import type { GuardLike, RunGuard } from '../core/contracts/guard.js';

/** Runs a guard as Nest does: the last value of an Observable is the result. */
export function runGuard(guard: GuardLike): RunGuard {
  const nests = guard as CanActivate;
  return (context) => {
    const answer = nests.canActivate(context as ExecutionContext);
    return isObservable(answer) ? lastValueFrom(answer) : answer;
  };
}
