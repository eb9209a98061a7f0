import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import {
  AUTHENTICATION_TIMEOUT,
  LONGEST_TIMER,
  MOST_REFUSALS,
  REFUSAL_LIMITS,
} from '../../core/schema/limits.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { optionLocations } from './option-locations.js';
import type { OptionLocation } from './option-locations.js';
import { unfitScheme } from './unfit-scheme.js';

/** Verifies schemes, their challenges, and the timeout of authentication. */
export function verifyAuthentication(
  input: CompilerInput,
  _model: CompiledModel,
): readonly DeclarationProblem[] {
  return [
    ...optionLocations(input).flatMap(problemsOfSchemes),
    ...problemsOfTimeout(input),
    ...problemsOfThrottle(input),
  ];
}

function problemsOfSchemes({
  where,
  options: { authentication },
}: OptionLocation): readonly DeclarationProblem[] {
  if (authentication === undefined) return [];
  if (!Array.isArray(authentication))
    return [
      {
        where: `${where}.authentication`,
        what: 'this is not a list of schemes',
        repair: "Write authentication: [basic(verify)], or ['jwt'].",
      },
    ];
  return authentication.flatMap((given: unknown, index): readonly DeclarationProblem[] => {
    const unfit = unfitScheme(given);
    return unfit ? [{ where: `${where}.authentication[${index}]`, ...unfit }] : [];
  });
}

function problemsOfTimeout({ prefix, authenticationTimeout }: CompilerInput): readonly DeclarationProblem[] {
  const given: unknown = authenticationTimeout;
  if (typeof given === 'number' && given > 0 && given < LONGEST_TIMER) return [];
  const repair = `Give milliseconds, above 0 and below ${LONGEST_TIMER}; without the option they are ${AUTHENTICATION_TIMEOUT}.`;
  return [
    {
      where: `RestifyModule.forRoot('${prefix}').authenticationTimeout`,
      what: `${String(given)} is not a valid waiting time`,
      repair,
    },
  ];
}

const MAX_OF_THROTTLE: ReadonlyMap<string, number> = new Map(Object.entries(MOST_REFUSALS));

function problemsOfThrottle({
  prefix,
  authenticationThrottle: given,
}: CompilerInput): readonly DeclarationProblem[] {
  if (given === false) return [];
  const where = `RestifyModule.forRoot('${prefix}').authenticationThrottle`;
  const { perAddress, perUser, ttl } = REFUSAL_LIMITS;
  const repair = `Write false, or { perAddress: ${perAddress}, perUser: ${perUser}, ttl: ${ttl} }, with any of them.`;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return [{ where, what: 'this does not configure refused credentials', repair }];
  return Object.entries(given as Readonly<Record<string, unknown>>).flatMap(
    ([name, limit]): readonly DeclarationProblem[] => {
      const most = MAX_OF_THROTTLE.get(name);
      if (most === undefined)
        return [
          {
            where: `${where}.${name}`,
            what: `"${name}" is not a limit`,
            repair: didYouMean(name, MAX_OF_THROTTLE.keys()),
          },
        ];
      if (limit === undefined || isLimit(limit, most)) return [];
      return [
        {
          where: `${where}.${name}`,
          what: `${String(limit)} is not a limit`,
          repair: `Write a whole number from 1 to ${most}.`,
        },
      ];
    },
  );
}

function isLimit(given: unknown, most: number): boolean {
  return typeof given === 'number' && Number.isSafeInteger(given) && given > 0 && given <= most;
}
