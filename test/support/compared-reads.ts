import { TypeOrmAdapter } from '../../src/adapters/typeorm/typeorm-adapter.js';
import type { Route } from '../../src/core/schema/route.js';
import type { RestPipeline } from '../../src/pipeline/rest-pipeline.js';
import type { Compared } from './comparison.js';

/** The counters of `Compared` for reads. */
export const READS = ['pages', 'rows', 'askedPages'] as const satisfies readonly (keyof Compared)[];

export type Read = (typeof READS)[number];

/**
 * The counter that a GET of this route increments in an application with comparison; undefined if the response does
 * not come from a compared path, or if that depends on the parameters of the request.
 */
export function comparedRead({ resource, operations }: Route, pipeline: RestPipeline): Read | undefined {
  const { adapter } = pipeline.services;
  const { renderers, fieldSelection, interceptors, pagination, conditional, labelsParameter, counts } =
    resource;
  const hasOwnForm =
    renderers.length > 0 ||
    interceptors.length > 0 ||
    [fieldSelection, labelsParameter, counts].some((each) => each !== undefined);
  if (hasOwnForm || !resource.hasDefaultSerializer || !(adapter instanceof TypeOrmAdapter)) return undefined;
  const operation = operations.get('GET');
  if (operation !== 'list') return operation === 'retrieve' ? 'rows' : undefined;
  if (pagination) return 'askedPages';
  const isWritten = adapter['reader'].of(resource).json.jsonRowsFor({ isDefault: true }) !== undefined;
  return isWritten && !conditional ? 'pages' : undefined;
}
