import type { DeclarationProblem } from '../../errors/declaration-error.js';
import type { Authentication } from '../../model/authentication.js';

type Unfit = Pick<DeclarationProblem, 'what' | 'repair'>;

/** RFC 9110, 5.6.2: what names a scheme and a header. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Why something that stands in `authentication` is no scheme; undefined for one. */
export function unfitScheme(given: unknown): Unfit | undefined {
  if (typeof given === 'string') return unfitName(given);
  const { kind, verify, name, challenge, credentials } = (given ?? {}) as Readonly<Record<string, unknown>>;
  switch (kind) {
    case 'basic':
      if (typeof verify !== 'function')
        return {
          what: 'basic() has no function that checks a password',
          repair: 'Write basic((username, password) => …), which gives the actor or null.',
        };
      return unfitChallenge(challenge);
    case 'strategy':
      return unfitName(name) ?? unfitCredentials(credentials);
    default:
      return {
        what: 'this is no scheme',
        repair: "Write basic(verify), or the name of a Passport strategy: 'jwt'.",
      };
  }
}

/** Those of them that are schemes: what is wrong with the others is told once everything is compiled. */
export function fitSchemes(given: unknown): readonly Authentication[] {
  return Array.isArray(given)
    ? given.filter((each): each is Authentication => unfitScheme(each) === undefined)
    : [];
}

function unfitName(name: unknown): Unfit | undefined {
  return typeof name === 'string' && name !== ''
    ? undefined
    : {
        what: 'a strategy has no name',
        repair: "Write the name under which it is registered with Passport: 'jwt'.",
      };
}

function unfitCredentials(credentials: unknown): Unfit | undefined {
  const { scheme, header, challenge } = (credentials ?? {}) as Readonly<Record<string, unknown>>;
  const place = header ?? scheme;
  if (typeof place !== 'string' || !TOKEN.test(place))
    return {
      what: `"${String(place)}" is no place of credentials`,
      repair:
        "Name a scheme, strategy('jwt', 'Bearer'), or a header: strategy('key', { header: 'X-API-Key' }).",
    };
  return unfitChallenge(challenge);
}

function unfitChallenge(challenge: unknown): Unfit | undefined {
  if (challenge === undefined || (typeof challenge === 'string' && TOKEN.test(challenge))) return undefined;
  return {
    what: `"${String(challenge)}" is no name of a challenge`,
    repair: "Write one word: challenge: 'XBasic'.",
  };
}
