import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type {
  Page,
  PageResponse,
  PageContext,
  PageQuery,
  PageRequest,
  Pagination,
  PaginationDescription,
  PaginationProblem,
} from '../../core/contracts/pagination.js';

/** Wraps a pagination whose query parameters are renamed for clients: in queries, links, errors and its description. */
export class RenamedPagination implements Pagination {
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
