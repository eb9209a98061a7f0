import { parameterName } from '../core/schema/parameter-names.js';
import type { Resource } from '../core/schema/resource.js';
import type { FieldSelection } from '../core/contracts/field-selection.js';
import type { Pagination } from '../core/contracts/pagination.js';
import type { ResourceBuilder } from './resource-builder.js';
import { featureParameters } from './yield-parameters.js';

/** Wraps a pagination to rename its parameters. */
export interface PaginationRenamer {
  renamedPagination(pagination: Pagination, names: ReadonlyMap<string, string>): Pagination;
}

/** The syntax of the names in `parameters`. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export function isParameterName(name: unknown): name is string {
  return typeof name === 'string' && NAME.test(name) && !name.includes('__');
}

/**
 * Renames the query parameters of a model. Parameters that the model does not read are skipped, so that the option of a prefix
 * also applies to models with fewer parameters; so are those that a backend reads under a name of its own.
 */
export function renameParameters(
  shell: ResourceBuilder,
  names: Readonly<Record<string, unknown>>,
  parts: PaginationRenamer,
): void {
  const used = new Set(featureParameters(shell));
  const renamed = new Map(
    Object.entries(names).flatMap(([name, given]) =>
      used.has(name) && isParameterName(given) ? [[name, given] as const] : [],
    ),
  );
  if (renamed.size === 0) return;
  shell.renamed = renamed;
  // An invalid one is reported after compilation.
  if (typeof shell.pagination?.parameters === 'function')
    shell.pagination = parts.renamedPagination(shell.pagination, renamed);
  shell.shape = renamedShape(shell);
  if (shell.labelsParameter !== undefined)
    shell.labelsParameter = parameterName(shell.labelsParameter, shell);
  const now = new Set(featureParameters(shell));
  shell.renamed = new Map([...renamed].filter(([, name]) => now.has(name)));
}

function renamedShape(resource: Pick<Resource, 'shape' | 'renamed'>): FieldSelection | undefined {
  const { shape } = resource;
  const renamed = (name: string | undefined): string | undefined =>
    name === undefined ? undefined : parameterName(name, resource);
  return (
    shape && {
      ...shape,
      fieldsParameter: renamed(shape.fieldsParameter),
      omitParameter: renamed(shape.omitParameter),
      expandParameter: renamed(shape.expandParameter),
    }
  );
}
