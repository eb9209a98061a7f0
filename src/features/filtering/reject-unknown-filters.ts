import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import type { Resource } from '../../core/schema/resource.js';
import { listParameters } from '../../request/parse/unknown-parameters.js';
import { FieldFilter } from './field-filter.js';

const SEPARATOR = '__';
/** Of one response: a suggestion compares a name with all filters of its field. */
const MAX_ERRORS = 10;
/** In characters. A longer name gets no suggestion. */
const MAX_NAME = 100;

/**
 * Throws 400 for a parameter `<field>__<rest>` of a list that nothing reads, where the caller may read the field: a misspelt
 * lookup must not return all rows. `resource` is the model as the caller may query it, so that the error is the same
 * whether a filter of that name is hidden, undeclared or impossible. Does nothing without the field filter, or with a
 * backend that does not declare its parameters.
 */
export function rejectUnknownFilters(parameters: ReadonlyMap<string, string>, resource: Resource): void {
  const suspects = [...parameters.keys()].filter((name) => isUnknownFilter(name, resource));
  if (suspects.length === 0 || !readsAllFilters(resource)) return;
  const known = new Set(listParameters(resource));
  const unknown = suspects.filter((name) => !known.has(name)).slice(0, MAX_ERRORS);
  if (unknown.length === 0) return;
  const errors = emptyFieldErrors();
  for (const name of unknown)
    errors[name] = [
      name.length > MAX_NAME
        ? 'There is no such filter.'
        : `There is no such filter. ${didYouMean(name, filtersOf(fieldOf(name), resource))}`,
    ];
  throw new InvalidInput(errors);
}

function isUnknownFilter(name: string, { filterTerms, fieldsByName }: Resource): boolean {
  return !filterTerms.has(name) && fieldsByName.get(fieldOf(name))?.readable === true;
}

/** The part before the first separator; empty without one. */
function fieldOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf(SEPARATOR, 1)));
}

function readsAllFilters({ backends }: Resource): boolean {
  return (
    backends.some((backend) => backend instanceof FieldFilter) &&
    backends.every((backend) => backend.parameters !== undefined)
  );
}

/** The filters of a field that the caller has, without aliases. */
function filtersOf(field: string, { filterTerms }: Resource): readonly string[] {
  return [...filterTerms.keys()].filter(
    (name) =>
      (name === field || name.startsWith(`${field}${SEPARATOR}`)) &&
      !(name.endsWith('__exact') && filterTerms.has(name.slice(0, -'__exact'.length))),
  );
}
