import { InvalidSearchPattern } from '../../core/errors/http-exceptions.js';
import { parameterName } from '../../core/schema/parameter-names.js';
import type { Resource } from '../../core/schema/resource.js';
import { isPromise } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';

/** Adds the search parameter to an error of a pattern: the database does not know its name. */
export function nameSearchErrors<Result>(
  resource: Resource,
  work: () => MaybePromise<Result>,
): MaybePromise<Result> {
  if (!resource.renamed.has('search')) return work();
  const failed = (error: unknown): never => {
    throw error instanceof InvalidSearchPattern
      ? new InvalidSearchPattern(parameterName('search', resource))
      : error;
  };
  try {
    const given = work();
    return isPromise(given) ? given.catch(failed) : given;
  } catch (error) {
    return failed(error);
  }
}
