import { useEffect, useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { countList, isCounted } from '../api/count-rows.js';
import type { Count } from '../api/count-rows.js';
import type { Loaded } from '../api/load.js';
import type { ListPage } from '../api/page.js';
import { usePage } from './context.js';

/** The number of rows of a list, which is requested when its page is shown; undefined until it is known, or if it is not counted. */
export function useCount(
  loaded: Loaded,
  description: RouteDescription | undefined,
  page: ListPage,
): Count | undefined {
  const { client, links } = usePage();
  const [found, setFound] = useState<{ readonly of: Loaded; readonly count: Count | undefined }>();
  const { url, reply } = loaded;
  const pagination = description?.pagination;
  const hasTotal = page.total !== undefined;
  const isWhole = page.next === undefined && page.previous === undefined && !reply.cut;
  const isAsked = !hasTotal && !isWhole && isCounted(url, pagination);
  useEffect(() => {
    if (!isAsked) return undefined;
    const controller = new AbortController();
    countList(client, url, { pagination, signal: controller.signal }).then(
      (count) => {
        const last = count?.last === undefined ? undefined : links.toLocal(count.last);
        if (!controller.signal.aborted) setFound({ of: loaded, count: count && { ...count, last } });
      },
      // The list is shown without its count.
      () => undefined,
    );
    return () => {
      controller.abort();
    };
  }, [loaded, isAsked]);
  if (page.total !== undefined) return { total: page.total, kind: 'exact', last: page.last };
  if (isWhole && isCounted(url, pagination)) return { total: page.rows.length, kind: 'exact' };
  return found?.of === loaded ? found.count : undefined;
}
