/** What a page by hand has beside its rows, with and without a framework. */
export const PAGE_SIZE = 100;

export interface Page {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly object[];
}

/** A page with the links to its neighbours; undefined if there is none of this number. */
export function pageFrom(
  rows: readonly object[],
  { page, count, url }: { readonly page: number; readonly count: number; readonly url: string },
): Page | undefined {
  if (rows.length === 0 && page > 1) return undefined;
  const link = (to: number): string => (to === 1 ? url : `${url}?page=${to}`);
  return {
    count,
    next: page * PAGE_SIZE < count ? link(page + 1) : null,
    previous: page === 1 ? null : link(page - 1),
    results: rows,
  };
}

export function withLinks(post: { readonly id?: unknown }): object {
  const path = `/rest/v1/blog/post/${String(post.id)}`;
  return { ...post, comments: `${path}/comments/`, revisions: `${path}/revisions/` };
}
