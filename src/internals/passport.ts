import { describePackage } from './installed-version.js';

/** The undocumented function of Passport that returns the strategy of a name. */
interface Registry {
  _strategy?(name: string): unknown;
}

/** A name that no application gives to a strategy. */
const NOBODYS_NAME = 'restify: a strategy that nobody registers';

/** Finds whether a strategy is registered; undefined if Passport keeps them in another way. */
export function probeStrategies(passport: object): ((name: string) => boolean) | undefined {
  const registry = passport as Registry;
  if (typeof registry._strategy !== 'function') return undefined;
  const isRegistered = (name: string): boolean => {
    const found = registry._strategy?.(name);
    return found !== undefined && found !== null;
  };
  try {
    return isRegistered(NOBODYS_NAME) ? undefined : isRegistered;
  } catch {
    return undefined;
  }
}

/** The warning at start of strategies that are not found. */
export function describeUnknownStrategies(): string {
  return `${describePackage('passport')} keeps its strategies in another way than this package knows, so that the start does not find names without a strategy: each request that needs one fails. Please report it.`;
}
