import type { RouteDescription, TrashDescription } from '../../../src/core/contracts/route-description.js';
import type { Row } from '../api/page.js';
import { parametersOf, withParameters } from '../api/urls.js';

type Described = Pick<RouteDescription, 'trash' | 'pagination'> | undefined;

/** Which deleted objects a URL shows, by the query parameter of its model: `only` or `with`; undefined if none. */
export function deletedIn(url: string, description: Described): string | undefined {
  const parameter = description?.trash?.parameter;
  const value = parameter === undefined ? null : parametersOf(url).get(parameter);
  return value === null || value === '' ? undefined : value;
}

/** The URL with these deleted objects, or without any, on its first page. */
export function withDeleted(url: string, description: Described, rows: string | undefined): string {
  const parameter = description?.trash?.parameter;
  const position = description?.pagination?.position;
  return withParameters(url, {
    ...(parameter === undefined ? {} : { [parameter]: rows }),
    ...(position === undefined ? {} : { [position]: undefined }),
  });
}

/** The trash of an object that is deleted; undefined of any other one. */
export function trashOf(description: RouteDescription, url: string, row: Row): TrashDescription | undefined {
  const { trash } = description;
  const date = trash?.date === undefined ? null : (row[trash.date] ?? null);
  return date !== null && deletedIn(url, description) !== undefined ? trash : undefined;
}
