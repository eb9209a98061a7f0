import type { Resource } from './resource.js';

/** New names of query parameters, by their names without it: `{ search: 'q' }`. Given as `parameters`. */
export type ParameterNames = Readonly<Record<string, string>>;

/** What a query parameter of this name is called in a model. */
export function parameterName(name: string, { renamed }: Pick<Resource, 'renamed'>): string {
  return renamed.get(name) ?? name;
}
