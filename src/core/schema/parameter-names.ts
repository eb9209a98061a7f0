import type { ResourceSchema } from './resource-schema.js';

/** New names of query parameters by their default names: `{ search: 'q' }`. Given as `parameters`. */
export type ParameterNames = Readonly<Record<string, string>>;

/** The name of a query parameter in a model. */
export function parameterName(name: string, { renamed }: Pick<ResourceSchema, 'renamed'>): string {
  return renamed.get(name) ?? name;
}
