import { isDeepStrictEqual } from 'node:util';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors, isRestException } from '../../core/errors/rest-exception.js';
import type { FilterBackend, FilterContext, FilterResult } from '../../core/contracts/filter-backend.js';

/**
 * Rejects parameters that exclude no row, and values overridden by a later one of the same parameter: a bulk write must
 * not select more rows than intended. Parameters of an ordering need not exclude rows.
 */
export async function assertNoIgnoredParameters(
  context: FilterContext,
  backends: readonly FilterBackend[],
): Promise<void> {
  const { resource, parameters, values } = context;
  const errors = emptyFieldErrors();
  for (const backend of backends) {
    const names = (backend.parameters?.(resource) ?? []).filter((name) => parameters.has(name));
    if (names.length === 0) continue;
    const { rows, order } = await backend.filter(context);
    if (order) continue;
    for (const name of names) {
      if (isDeepStrictEqual(rows, await filterRows(backend, without(name, context))))
        errors[name] = ['This parameter leaves no object out.'];
      else if (
        values(name).length > 1 &&
        isDeepStrictEqual(rows, await filterRows(backend, once(name, context)))
      )
        errors[name] = ['Give this parameter once.'];
    }
  }
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
}

/** `refused` if the backend rejects the parameters without the removed one. */
async function filterRows(
  backend: FilterBackend,
  context: FilterContext,
): Promise<FilterResult['rows'] | 'refused'> {
  try {
    return (await backend.filter(context)).rows;
  } catch (error) {
    if (!isRestException(error)) throw error;
    return 'refused';
  }
}

function without(left: string, context: FilterContext): FilterContext {
  const { parameters, values } = context;
  return {
    ...context,
    parameters: new Map([...parameters].filter(([name]) => name !== left)),
    values: (name) => (name === left ? [] : values(name)),
  };
}

/** The parameter with its last value only. */
function once(repeated: string, context: FilterContext): FilterContext {
  const { values } = context;
  return { ...context, values: (name) => (name === repeated ? values(name).slice(-1) : values(name)) };
}
