import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import type { Row } from '../api/page.js';

/** The numbers of objects in the lists below an object that were requested; undefined where its model counts none. */
export function countsOf(
  row: Row,
  description: RouteDescription | undefined,
): Readonly<Record<string, number>> | undefined {
  return description?.counts && (row.counts as Readonly<Record<string, number>> | undefined);
}
