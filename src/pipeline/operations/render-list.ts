import type { Representation, Row } from '../../core/contracts/serializer.js';
import type { Route } from '../../core/schema/route.js';
import { renderPages } from '../../features/rendering/render.stage.js';
import type { Stage } from '../../request/stage.js';
import type { PipelineServices } from '../services.js';
import { openList, planList } from './list.js';

/** Streams a whole list in a format other than JSON. */
export function renderList(route: Route, services: PipelineServices): readonly Stage[] {
  return [
    ...planList(route, services),
    async (context) => {
      if (!context.renderer) throw new Error('A list is rendered before its format is negotiated.');
      const { pages, represent } = openList(context, services.adapter);
      context.response = await renderPages(context, context.renderer, represented(pages, represent));
    },
  ];
}

async function* represented(
  pages: AsyncIterable<readonly Row[]>,
  represent: (row: Row) => Representation,
): AsyncGenerator<readonly Representation[]> {
  for await (const rows of pages) yield rows.map(represent);
}
