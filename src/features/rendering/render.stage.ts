import type { Renderer, RenderedRows } from '../../core/contracts/renderer.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import type { PageLink } from '../../core/contracts/pagination.js';
import type { Located } from '../../request/rest-context.js';
import type { Operations } from '../../pipeline/operations.js';
import type { PagedLists } from '../pagination/paginate.stage.js';
import { renderRows } from './render-rows.js';
import { valueResponse } from '../../request/response/rest-response.js';
import type { RestResponse } from '../../request/response/rest-response.js';

/** What is read in another form than JSON: the rows of a list or of one page of it, or one row. They throw the errors of contract 6.1. */
export class RenderedAnswers {
  constructor(
    private readonly operations: Operations,
    private readonly paged: PagedLists,
  ) {}

  async read(
    operation: 'list' | 'retrieve',
    asked: Located,
    { renderer, link }: { readonly renderer: Renderer; readonly link: PageLink },
  ): Promise<RestResponse> {
    const located = await this.operations.shaped(asked);
    const { pagination } = located.resource;
    if (operation === 'retrieve')
      return renderRows(renderer, {
        ...about(located),
        pages: onePage([(await this.operations.retrieve(located)).value]),
      });
    if (!pagination) {
      const { pages, represent } = await this.operations.list(located);
      return renderRows(renderer, { ...about(located), pages: represented(pages, represent) });
    }
    const page = await this.paged.value(located, pagination, link);
    return renderRows(renderer, { ...about(located), pages: onePage(page.rows) }, page.headers);
  }

  /** What interceptors of the application have made of an answer: its rows, those of its envelope, or the one that it is. Of no rows: the value as JSON. */
  whole(
    value: unknown,
    located: Located,
    {
      renderer,
      headers,
      rows: name,
    }: {
      readonly renderer: Renderer;
      readonly headers: Readonly<Record<string, string>>;
      readonly rows: string | undefined;
    },
  ): Promise<RestResponse> {
    const rows = rowsOf(value, name);
    return rows
      ? renderRows(renderer, { ...about(located), pages: onePage(rows) }, headers)
      : Promise.resolve(valueResponse(200, value, headers));
  }
}

function about({ resource, shape }: Located): Omit<RenderedRows, 'pages'> {
  return {
    model: resource.model,
    fields: (shape?.view ?? resource).fields.filter(({ readable }) => readable).map(({ name }) => name),
  };
}

async function* represented(
  pages: AsyncIterable<readonly Row[]>,
  represent: (row: Row) => Representation,
): AsyncGenerator<readonly Representation[]> {
  for await (const rows of pages) yield rows.map(represent);
}

async function* onePage(rows: readonly Representation[]): AsyncGenerator<readonly Representation[]> {
  yield await Promise.resolve(rows);
}

/** `name`: where the rows stand in the envelope of a page, if there is one. An object of that field is no envelope. */
function rowsOf(value: unknown, name: string | undefined): readonly Representation[] | undefined {
  const enclosed =
    name !== undefined && isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  const rows: readonly unknown[] = Array.isArray(enclosed)
    ? (enclosed as unknown[])
    : Array.isArray(value)
      ? (value as unknown[])
      : [value];
  return rows.every(isObject) ? rows : undefined;
}

function isObject(value: unknown): value is Representation {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
