import type { DataAdapter } from '../../core/data-adapter.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { RenderedRows, Renderer } from '../../core/contracts/renderer.js';
import type { Representation } from '../../core/contracts/serializer.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { ListPlan } from '../../core/query/plan.js';
import { pagesToObjects } from '../../core/values/rows-to-json.js';
import { expandedList, expandedTexts } from '../../features/field-selection/expanded-list.js';
import { addLabels } from '../../features/labels/add-labels.stage.js';
import { selectFields } from '../../features/field-selection/select-fields.stage.js';
import type { RowPages } from '../../features/field-selection/expanded-list.js';
import { authorizeQueries, planRows } from '../../features/filtering/plan-rows.stage.js';
import { readPage } from '../../features/pagination/paginate.stage.js';
import { renderFormat } from '../../features/rendering/render.stage.js';
import { jsonOutput, represent } from '../../request/represent-row.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import type { ResponseBody } from '../../request/response/rest-response.js';
import type { Route } from '../../core/schema/route.js';
import type { PipelineServices } from '../pipeline-services.js';
import type { OperationDefinition } from './operation-definition.js';

export const list: OperationDefinition = {
  name: 'list',
  method: 'GET',
  status: 200,
  operate: (route, services) => [
    ...planListRows(route, services),
    route.resource.pagination ? readPage(route.resource.pagination, services) : readList(services.adapter),
  ],
};

/** Sets `context.list`: all rows that the parameters select. Throws 400. */
export function planListRows({ resource }: Route, { adapter, selector }: PipelineServices): readonly Stage[] {
  return [
    ...authorizeQueries(resource),
    ...(resource.shape ? [selectFields(selector, true)] : []),
    ...addLabels(resource, adapter),
    planRows,
  ];
}

/** Reads all rows, whatever the pagination of the model. The statement includes the deferred checks. */
export function openList(context: RestContext, adapter: DataAdapter): RowPages {
  const pages = adapter.read(takePlan(context), 'rows');
  return context.shape?.expands === true
    ? expandedList(pages, context.shape)
    : { pages, represent: (row) => represent(row, context) };
}

/** Streams the list, or reads all rows where their value is needed. */
function readList(adapter: DataAdapter): Stage {
  const readValue = readAll(adapter);
  return (context) => {
    if (context.needsValue) return readValue(context);
    return context.renderer ? renderList(context, context.renderer, adapter) : writeJson(context, adapter);
  };
}

/** Reads all rows into memory. */
export function readAll(adapter: DataAdapter): Stage {
  return async (context) => {
    const { pages, represent } = openList(context, adapter);
    const rows: Representation[] = [];
    for await (const page of pages) for (const row of page) rows.push(represent(row));
    context.result = { value: rows };
  };
}

/** Streams a long list page by page, as JSON that the database serializes where possible. */
function writeJson(context: RestContext, adapter: DataAdapter): MaybePromise<void> {
  const plan = takePlan(context);
  const texts =
    context.shape?.expands === true
      ? expandedTexts(adapter.read(plan, 'rows'), context.shape)
      : adapter.read(plan, jsonOutput(context));
  return mapMaybe(texts, (read) =>
    mapMaybe(renderTexts(read), (body) => {
      context.response = { status: 200, body };
    }),
  );
}

/** Streams a whole list in a format other than JSON. */
async function renderList(context: RestContext, renderer: Renderer, adapter: DataAdapter): Promise<void> {
  context.response = await renderFormat(context, renderer, renderedRows(context, adapter));
}

function renderedRows(context: RestContext, adapter: DataAdapter): Pick<RenderedRows, 'pages' | 'lines'> {
  if (context.shape?.expands === true) {
    const { pages, represent: toObject } = openList(context, adapter);
    return { pages: pagesToObjects(pages, { represent: toObject }) };
  }
  const plan = takePlan(context);
  const output = jsonOutput(context);
  return {
    pages: adapter.read(plan, { ...output, as: 'objects' }),
    lines: iterateTexts(() => adapter.read(plan, { ...output, separator: '\n' })),
  };
}

async function* iterateTexts(
  read: () => MaybePromise<string | AsyncIterable<string>>,
): AsyncGenerator<string> {
  const texts = await read();
  if (typeof texts === 'string') yield texts;
  else yield* texts;
}

function takePlan(context: RestContext): ListPlan {
  if (!context.list) throw new Error(`The list of ${context.resource.label} is read before it is planned.`);
  context.clearDeferredChecks();
  return context.list;
}

/**
 * Joins texts of pages into a JSON array of any length. An empty text is a page without rows. A list of one page is one
 * text; a longer one is streamed. An error before the second page is thrown, so that it becomes an ordinary error
 * response.
 */
export function renderTexts(texts: string | AsyncIterable<string>): MaybePromise<ResponseBody> {
  return typeof texts === 'string' ? { kind: 'text', text: `[${texts}]` } : renderPages(texts);
}

async function renderPages(texts: AsyncIterable<string>): Promise<ResponseBody> {
  const iterator = texts[Symbol.asyncIterator]();
  const first = await iterator.next();
  const second = first.done === true ? first : await iterator.next();
  if (first.done === true) return { kind: 'text', text: '[]' };
  if (second.done === true) return { kind: 'text', text: `[${first.value}]` };
  // Both are read here, so that an error of serialization becomes an ordinary error response.
  return { kind: 'stream', pieces: new JsonArrayPieces([first.value, second.value], iterator) };
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** The pieces of a JSON array. It refers to no page that it has returned, as the frame of a generator would. */
class JsonArrayPieces implements AsyncIterableIterator<string> {
  private separator = '[';
  private hasEnded = false;

  /** @param pages the pages that have been read already. */
  constructor(
    private readonly pages: string[],
    private readonly rest: AsyncIterator<string>,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string>> {
    if (this.hasEnded) return DONE;
    try {
      const page = await this.nextPage();
      if (page === undefined) return await this.end();
      const value = this.separator + page;
      this.separator = ',';
      return { done: false, value };
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<string>> {
    this.hasEnded = true;
    await this.rest.return?.();
    return DONE;
  }

  private async end(): Promise<IteratorResult<string>> {
    await this.return();
    return { done: false, value: this.separator === '[' ? '[]' : ']' };
  }

  /** The next page that has rows; undefined at the end. */
  private async nextPage(): Promise<string | undefined> {
    for (;;) {
      const page = this.pages.shift() ?? (await this.readRest());
      if (page !== '') return page;
    }
  }

  private async readRest(): Promise<string | undefined> {
    const next = await this.rest.next();
    return next.done === true ? undefined : next.value;
  }
}
