import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { LONGEST_TIMER } from '../../core/schema/limits.js';
import type { CompilerInput } from '../compiler-input.js';

/** Verifies the timeouts: positive and finite; only the statement timeout may be disabled, with `false`. */
export function verifyTimeouts({
  prefix,
  acquireTimeout,
  statementTimeout,
}: CompilerInput): readonly DeclarationProblem[] {
  const range = `Give milliseconds, above 0 and below ${LONGEST_TIMER}`;
  const problems: DeclarationProblem[] = [];
  if (!isTime(acquireTimeout))
    problems.push({
      where: `RestifyModule.forRoot('${prefix}').acquireTimeout`,
      what: `${String(acquireTimeout)} is not a valid waiting time`,
      repair: `${range}; without the option they are 10000.`,
    });
  if (statementTimeout !== undefined && !isTime(statementTimeout)) {
    problems.push({
      where: `RestifyModule.forRoot('${prefix}').statementTimeout`,
      what: `${String(statementTimeout)} is not a valid time limit for statements`,
      repair: `${range}, or false for any time; without the option they are 30000.`,
    });
  }
  return problems;
}

function isTime(milliseconds: unknown): boolean {
  return typeof milliseconds === 'number' && milliseconds > 0 && milliseconds < LONGEST_TIMER;
}
