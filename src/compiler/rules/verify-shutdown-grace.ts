import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { LONGEST_TIMER, SHUTDOWN_GRACE } from '../../core/schema/limits.js';
import type { CompilerInput } from '../compiler-input.js';

/** Verifies the shutdown grace; 0 closes incomplete requests as soon as the application shuts down. */
export function verifyShutdownGrace({ prefix, shutdownGrace }: CompilerInput): readonly DeclarationProblem[] {
  if (typeof shutdownGrace === 'number' && shutdownGrace >= 0 && shutdownGrace < LONGEST_TIMER) return [];
  const repair = `Give milliseconds, from 0 and below ${LONGEST_TIMER}; without the option they are ${SHUTDOWN_GRACE}.`;
  return [
    {
      where: `RestifyModule.forRoot('${prefix}').shutdownGrace`,
      what: `${String(shutdownGrace)} is not a valid waiting time`,
      repair,
    },
  ];
}
