import { aggregateParameters } from '../core/contracts/aggregates.js';
import { bulkParameters } from '../core/contracts/bulk.js';
import { fieldSelectionParameters } from '../core/contracts/field-selection.js';
import type { FieldSelection } from '../core/contracts/field-selection.js';
import { GROUPS_PARAMETER } from '../core/contracts/filters.js';
import type {
  Page,
  PageResponse,
  PageContext,
  PageQuery,
  PageRequest,
  Pagination,
  PaginationDescription,
  PaginationProblem,
} from '../core/contracts/pagination.js';
import { FORMAT_PARAMETER } from '../core/contracts/renderer.js';
import { InvalidInput } from '../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../core/errors/rest-exception.js';
import { parameterName } from '../core/schema/resource-schema.js';
import { trashParameters } from '../core/schema/trash.js';
import type { FilterTerm } from '../core/schema/resource-schema.js';
import type { Resource } from '../core/schema/resource.js';
import type { ResourceBuilder } from './resource-builder.js';

/**
 * Removes filters with the name of another parameter of the model: `search` is the search, and a field of that name is
 * filtered with `search__exact` (contract 4.13).
 */
export function reserveParameters(resource: Resource): ReadonlyMap<string, FilterTerm> {
  // A new name that is also a filter is reported after compilation.
  const chosen = new Set(resource.renamed.values());
  const taken = new Set([...takenByBackends(resource), ...ofFeatures(resource)]);
  return new Map(
    [...resource.filterTerms].filter(
      ([name, term]) => term.kind === 'custom' || chosen.has(name) || !taken.has(name),
    ),
  );
}

/** The parameters of a model other than filters, repeated for each feature that reads them. */
export function featureParameters(resource: Resource): readonly string[] {
  const unfiltered: Resource = { ...resource, filterTerms: new Map() };
  return [
    ...resource.backends.flatMap((backend) => [...new Set(backend.parameters?.(unfiltered))]),
    ...ofFeatures(resource),
  ];
}

function ofFeatures(resource: Resource): readonly string[] {
  const { pagination, fieldSelection, renderers, labelsParameter, counts } = resource;
  const addingParameter = labelsParameter ?? counts?.parameter;
  return [
    // An invalid one is reported after compilation.
    ...(typeof pagination?.parameters === 'function' ? pagination.parameters() : []),
    ...fieldSelectionParameters(fieldSelection),
    ...(addingParameter === undefined ? [] : [addingParameter]),
    ...(renderers.length > 0 ? [parameterName(FORMAT_PARAMETER, resource)] : []),
    ...trashParameters(resource),
    ...aggregateParameters(resource),
    ...bulkParameters(resource),
  ];
}

/** Names that a backend reads other than as a field filter, or that two backends read. */
export function takenByBackends(resource: Resource): ReadonlySet<string> {
  const readers = resource.backends.flatMap((backend) => [...new Set(backend.parameters?.(resource))]);
  const meant = new Set(resource.filterTerms.keys());
  // The first backend that reads a name as a field filter owns it.
  const taken = new Set(readers.filter((name) => !meant.delete(name)));
  return resource.filterGroups ? taken.add(parameterName(GROUPS_PARAMETER, resource)) : taken;
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
export function renameParameters(shell: ResourceBuilder, names: Readonly<Record<string, unknown>>): void {
  const used = new Set([...featureParameters(shell), ...ofExpansions(shell)]);
  const renamed = new Map(
    Object.entries(names).flatMap(([name, given]) =>
      used.has(name) && isParameterName(given) ? [[name, given] as const] : [],
    ),
  );
  if (renamed.size === 0) return;
  shell.renamed = renamed;
  // An invalid one is reported after compilation.
  if (typeof shell.pagination?.parameters === 'function')
    shell.pagination = new RenamedPagination(shell.pagination, renamed);
  shell.fieldSelection = renamedShape(shell);
  if (shell.labelsParameter !== undefined)
    shell.labelsParameter = parameterName(shell.labelsParameter, shell);
  if (shell.counts)
    shell.counts = { ...shell.counts, parameter: parameterName(shell.counts.parameter, shell) };
  const now = new Set([...featureParameters(shell), ...ofExpansions(shell)]);
  shell.renamed = new Map([...renamed].filter(([, name]) => now.has(name)));
}

/** The parameter of expanded lists alone: it stands behind their paths, so that it may have the name of another one. */
function ofExpansions({ fieldSelection }: Resource): readonly string[] {
  return fieldSelection?.limitParameter === undefined ? [] : [fieldSelection.limitParameter];
}

function renamedShape(resource: Pick<Resource, 'fieldSelection' | 'renamed'>): FieldSelection | undefined {
  const { fieldSelection } = resource;
  const renamed = (name: string | undefined): string | undefined =>
    name === undefined ? undefined : parameterName(name, resource);
  return (
    fieldSelection && {
      ...fieldSelection,
      fieldsParameter: renamed(fieldSelection.fieldsParameter),
      omitParameter: renamed(fieldSelection.omitParameter),
      expandParameter: renamed(fieldSelection.expandParameter),
      limitParameter: renamed(fieldSelection.limitParameter),
    }
  );
}

/** Wraps a pagination whose query parameters are renamed for clients: in queries, links, errors and its description. */
class RenamedPagination implements Pagination {
  readonly pageSize?: number;
  readonly describe?: () => PaginationDescription;

  /** `names` has all renamed parameters of the model, not only those of the pagination. */
  constructor(
    private readonly inner: Pagination,
    private readonly names: ReadonlyMap<string, string>,
  ) {
    if (inner.pageSize !== undefined) this.pageSize = inner.pageSize;
    if (inner.describe) this.describe = () => this.renamed(inner.describe?.());
  }

  parameters(): readonly string[] {
    return this.inner.parameters().map((name) => this.nameOf(name));
  }

  page(question: PageQuery): PageRequest {
    return this.telling(() => this.inner.page({ ...question, parameters: this.read(question) }));
  }

  present(page: Page, context: PageContext): PageResponse {
    return this.telling(() =>
      this.inner.present(page, {
        ...context,
        parameters: this.read(context),
        link: (changes) =>
          context.link(
            Object.fromEntries(Object.entries(changes).map(([name, value]) => [this.nameOf(name), value])),
          ),
      }),
    );
  }

  problems(): readonly PaginationProblem[] {
    return this.inner.problems?.() ?? [];
  }

  private nameOf(name: string): string {
    return this.names.get(name) ?? name;
  }

  /** The parameters by the pagination's own names. */
  private read({ parameters }: PageQuery): ReadonlyMap<string, string> {
    const own = this.inner.parameters();
    const given = new Map([...parameters].filter(([name]) => !own.includes(name)));
    for (const name of own) {
      const value = parameters.get(this.nameOf(name));
      if (value !== undefined) given.set(name, value);
    }
    return given;
  }

  private telling<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      const fields = emptyFieldErrors();
      for (const [name, messages] of Object.entries(error.fields)) fields[this.nameOf(name)] = messages;
      throw new InvalidInput(fields);
    }
  }

  private renamed(described: PaginationDescription | undefined): PaginationDescription {
    const { parameters = {}, missing = true, standard, ...rest } = described ?? {};
    const renamed = (name: string | undefined): string | undefined => name && this.nameOf(name);
    return {
      ...rest,
      ...(standard && {
        standard: {
          ...standard,
          position: this.nameOf(standard.position),
          size: renamed(standard.size),
          count: renamed(standard.count),
        },
      }),
      missing,
      parameters: Object.fromEntries(
        Object.entries(parameters).map(([name, value]) => [this.nameOf(name), value]),
      ),
    };
  }
}
