import type { Api } from '../core/schema/route.js';

/**
 * The start-up log line: how many models are served below which path, with the global prefix and the version. `mounts`
 * are the paths before the prefixes.
 */
export function describeServedModels(apis: readonly Api[], mounts: readonly string[]): string {
  return apis
    .flatMap(({ prefix, routes }) => {
      const count = new Set(routes.flatMap(({ parent, resource }) => (parent ? [] : resource))).size;
      return mounts.map(
        (mount, index) =>
          `${index === 0 ? `${count} model${count === 1 ? '' : 's'} below ` : 'and '}${mount}/${prefix === '' ? '' : `${prefix}/`}`,
      );
    })
    .join(', ')
    .replaceAll(', and ', ' and ');
}
