import type { RenderedRows, Renderer } from '../../core/contracts/renderer.js';
import type { Representation } from '../../core/contracts/serializer.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { readBody } from '../../request/response/rest-response.js';
import type { RestResponse } from '../../request/response/rest-response.js';

/** Renders pages of rows in another format than JSON. */
export async function renderFormat(
  context: RestContext,
  renderer: Renderer,
  rows: Pick<RenderedRows, 'pages' | 'lines'>,
): Promise<RestResponse> {
  return renderRows(renderer, { ...describeRows(context), ...rows }, context.result?.headers);
}

/**
 * Renders the value of the result: the rows of a list, those in its envelope, or one object. Undefined if an interceptor
 * has changed it to something else, which is sent as JSON.
 */
function renderValue(context: RestContext, renderer: Renderer): Promise<RestResponse> | undefined {
  const rows = rowsInValue(context.result?.value, context.result?.rowsMember);
  return rows && renderFormat(context, renderer, { pages: onePage(rows) });
}

/** Renders the result, where another format than JSON was negotiated. */
export const renderResult: Stage = (context) => {
  const rendered = context.renderer && renderValue(context, context.renderer);
  if (!rendered) return undefined;
  return mapMaybe(rendered, (response) => {
    context.response = response;
  });
};

function describeRows({
  resource,
  fieldSelection,
  result,
}: RestContext): Omit<RenderedRows, 'pages' | 'lines'> {
  return {
    model: resource.model,
    ...(fieldSelection?.expandedFields && { expanded: fieldSelection.expandedFields() }),
    fields:
      result?.fields ??
      (fieldSelection?.view ?? resource).fields.filter(({ readable }) => readable).map(({ name }) => name),
  };
}

async function* onePage(rows: readonly Representation[]): AsyncGenerator<readonly Representation[]> {
  yield await Promise.resolve(rows);
}

/** `name` is the member of a page's envelope with the rows. Without it, an object is a row itself. */
function rowsInValue(value: unknown, name: string | undefined): readonly Representation[] | undefined {
  const enclosed =
    name !== undefined && isRepresentation(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  const found = Array.isArray(enclosed) ? enclosed : value;
  const rows: readonly unknown[] = Array.isArray(found) ? found : [found];
  return rows.every(isRepresentation) ? rows : undefined;
}

function isRepresentation(value: unknown): value is Representation {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Renders the rows. An error before the second chunk is thrown, so that it becomes an ordinary error response. */
async function renderRows(
  renderer: Renderer,
  rows: RenderedRows,
  headers: Readonly<Record<string, string>> = {},
): Promise<RestResponse> {
  return {
    status: 200,
    body: await readBody(renderer.render(rows), {}),
    headers: {
      ...headers,
      ...renderer.headers?.(rows),
      'Content-Type': renderer.contentType ?? renderer.mediaType,
    },
  };
}
