import type { DataAdapter } from '../../core/data-adapter.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { RenderedRows, Renderer } from '../../core/contracts/renderer.js';
import type { Representation } from '../../core/contracts/serializer.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { ListPlan } from '../../core/query/plan.js';
import { HELD_CHARACTERS } from '../../core/schema/limits.js';
import { pagesToJson, pagesToObjects } from '../../core/values/rows-to-json.js';
import { JSON_ARRAY } from '../../core/values/text-pieces.js';
import { chooseForm, chooseOutput } from '../../execution/choose-read.js';
import type { RowForm } from '../../execution/choose-read.js';
import { expandedList } from '../../features/field-selection/expanded-list.js';
import { aggregateRows, rejectGroups } from '../../features/aggregates/aggregate-rows.stage.js';
import { addCounts } from '../../features/field-selection/add-counts.stage.js';
import { addLabels } from '../../features/labels/add-labels.stage.js';
import { selectFields } from '../../features/field-selection/select-fields.stage.js';
import type { RowPages } from '../../features/field-selection/expanded-list.js';
import { authorizeQueries, planRows } from '../../features/filtering/plan-rows.stage.js';
import { readPage } from '../../features/pagination/paginate.stage.js';
import { renderFormat } from '../../features/rendering/render.stage.js';
import { jsonOutput, represent } from '../../request/represent-row.js';
import { runStages } from '../../request/rest-context.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { readBody } from '../../request/response/rest-response.js';
import type { ResponseBody } from '../../request/response/rest-response.js';
import type { Route } from '../../core/schema/route.js';
import type { PipelineServices, OperationDefinition } from '../pipeline-services.js';
import { rejectDeletedRows } from './reject-parameters.js';

export const list: OperationDefinition = {
  name: 'list',
  method: 'GET',
  status: 200,
  operate: (route, services) =>
    withAggregates(route, services, [
      ...planListRows(route, services),
      route.resource.pagination ? readPage(route.resource.pagination, services) : readList(services.adapter),
    ]),
};

/** The stages of a list, or of aggregates of its rows where the request asks for these. */
export function withAggregates(
  { resource }: Route,
  { adapter }: PipelineServices,
  rows: readonly Stage[],
): readonly Stage[] {
  if (!resource.aggregates) return rows;
  const aggregates = [...authorizeQueries(resource), ...rejectDeletedRows(resource), aggregateRows(adapter)];
  const listed = [rejectGroups, ...rows];
  return [(context) => runStages(context.isAggregate ? aggregates : listed, context)];
}

/** Sets `context.list`: all rows that the parameters select. Throws 400. */
export function planListRows({ resource }: Route, { adapter, selector }: PipelineServices): readonly Stage[] {
  return [
    ...authorizeQueries(resource),
    ...rejectDeletedRows(resource),
    ...(resource.fieldSelection ? [selectFields(selector, true)] : []),
    ...addCounts(resource, selector),
    ...addLabels(resource, adapter),
    planRows,
  ];
}

/** Reads all rows, whatever the pagination of the model. The statement includes the deferred checks. */
export function openList(context: RestContext, adapter: DataAdapter): RowPages {
  const pages = adapter.read(takePlan(context), 'rows');
  return context.fieldSelection && chooseForm(context) === 'expanded'
    ? expandedList(pages, context.fieldSelection)
    : { pages, represent: (row) => represent(row, context) };
}

/** Streams the list, or reads all rows where their value is needed. */
function readList(adapter: DataAdapter): Stage {
  const readValue = readAll(adapter);
  return (context) => {
    const { use, form } = chooseOutput(context);
    if (use === 'value') return readValue(context);
    return context.renderer
      ? renderList(context, context.renderer, renderedRows(context, form, adapter))
      : writeJson(context, form, adapter);
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
function writeJson(context: RestContext, form: RowForm, adapter: DataAdapter): MaybePromise<void> {
  const rows = form === 'expanded' ? openList(context, adapter) : undefined;
  const texts = rows ? pagesToJson(rows.pages, rows) : adapter.read(takePlan(context), jsonOutput(context));
  // An error on a later page of an expanded list of ordinary length still becomes an error response.
  const hold = rows ? HELD_CHARACTERS : 0;
  return mapMaybe(texts, (read) =>
    mapMaybe(renderTexts(read, hold), (body) => {
      context.response = { status: 200, body };
    }),
  );
}

/** Streams a whole list in a format other than JSON. */
async function renderList(
  context: RestContext,
  renderer: Renderer,
  rows: Pick<RenderedRows, 'pages' | 'lines'>,
): Promise<void> {
  context.response = await renderFormat(context, renderer, rows);
}

function renderedRows(
  context: RestContext,
  form: RowForm,
  adapter: DataAdapter,
): Pick<RenderedRows, 'pages' | 'lines'> {
  if (form === 'expanded') {
    const rows = openList(context, adapter);
    return { pages: pagesToObjects(rows.pages, rows) };
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
  if (!context.list)
    throw new Error(`The list of ${context.resource.className} is read before it is planned.`);
  context.moveChecksIntoStatement();
  return context.list;
}

/**
 * Joins texts of pages into a JSON array of any length. An empty text is a page without rows. Of a list of one page that is one
 * text; a longer one is read by `readBody`.
 */
export function renderTexts(texts: string | AsyncIterable<string>, hold = 0): MaybePromise<ResponseBody> {
  return typeof texts === 'string'
    ? { kind: 'text', text: `[${texts}]` }
    : readBody(texts, { frame: JSON_ARRAY, hold });
}
