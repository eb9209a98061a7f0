/** The query parameters of a path in their order. */
export function parametersOf(url: string): URLSearchParams {
  const query = url.indexOf('?');
  return new URLSearchParams(query < 0 ? '' : url.slice(query + 1));
}

/** A path without its query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** The URL with changed parameters; undefined and empty ones are removed. The others keep their order and repetitions. */
export function withParameters(url: string, changes: Readonly<Record<string, string | undefined>>): string {
  const parameters = parametersOf(url);
  for (const [name, value] of Object.entries(changes))
    if (value === undefined || value === '') parameters.delete(name);
    else parameters.set(name, value);
  return joinQuery(pathOf(url), parameters);
}

/** The URL without these parameters. */
export function withoutParameters(url: string, names: readonly string[]): string {
  return withParameters(url, Object.fromEntries(names.map((name) => [name, undefined])));
}

/** Readable: commas, parentheses, colons and slashes need no escapes in a query. */
function joinQuery(path: string, parameters: URLSearchParams): string {
  const query = parameters
    .toString()
    .replaceAll('%2C', ',')
    .replaceAll('%28', '(')
    .replaceAll('%29', ')')
    .replaceAll('%3A', ':')
    .replaceAll('%2F', '/');
  return query === '' ? path : `${path}?${query}`;
}

/** The path above a path, with a slash at its end; undefined at the top. */
export function parentPath(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.length === 0) return undefined;
  const above = parts.slice(0, -1);
  return above.length === 0 ? '/' : `/${above.join('/')}/`;
}

export function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}
