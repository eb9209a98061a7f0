import type { Idempotency, IdempotencyOptions } from '../core/contracts/idempotency.js';
import { IDEMPOTENCY_LIFE } from '../core/schema/limits.js';

export function compileIdempotency(given: boolean | IdempotencyOptions | undefined): Idempotency | undefined {
  if (given === undefined || given === false) return undefined;
  const { require = false, life = IDEMPOTENCY_LIFE, key } = given === true ? {} : given;
  return { require, life, key };
}
