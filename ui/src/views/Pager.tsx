import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PaginationParameters } from '../../../src/core/contracts/route-description.js';
import { isCountedExactly } from '../api/count-rows.js';
import type { Count } from '../api/count-rows.js';
import type { ListPage } from '../api/page.js';
import { parametersOf, withParameters } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { usePage } from './context.js';
import { Link } from './Link.js';

const SIZES = [10, 25, 50, 100, 500] as const;

interface PagerProps {
  readonly page: ListPage;
  readonly count: Count | undefined;
  readonly pagination: PaginationParameters | undefined;
}

type PagerPart = Omit<PagerProps, 'page'> & { readonly pagination: PaginationParameters };

/** Links to the other pages of a list, and the number of its rows. */
export function Pager({ page, count, pagination }: PagerProps): JSX.Element | null {
  if (!pagination && page.next === undefined && page.previous === undefined) return null;
  return (
    <nav class="pager" aria-label={text('pages')}>
      <PageLink href={page.first} name="first" />
      <PageLink href={page.previous} name="previous" />
      {pagination?.kind === 'page-number' && <PageNumber count={count} pagination={pagination} />}
      <PageLink href={page.next} name="next" />
      <PageLink href={page.last ?? count?.last} name="last" />
      {pagination && <PageOptions count={count} pagination={pagination} />}
    </nav>
  );
}

interface PageLinkProps {
  readonly href: string | undefined;
  readonly name: 'first' | 'previous' | 'next' | 'last';
}

function PageLink({ href, name }: PageLinkProps): JSX.Element | null {
  return href === undefined ? null : <Link href={href}>{text(name)}</Link>;
}

function PageOptions({ count, pagination }: PagerPart): JSX.Element {
  const { url } = usePage();
  // A count that is under way has no link yet.
  const mayCount = count ? count.kind !== 'exact' : pagination.counts === undefined;
  return (
    <>
      {pagination.size !== undefined && <PageSize pagination={pagination} size={pagination.size} />}
      {pagination.count !== undefined && mayCount && !isCountedExactly(url, pagination) && (
        <CountLink parameter={pagination.count} />
      )}
    </>
  );
}

function CountLink({ parameter }: { readonly parameter: string }): JSX.Element {
  const { url } = usePage();
  return <Link href={withParameters(url, { [parameter]: 'exact' })}>{text('count')}</Link>;
}

/** The number of the page, and a form to go to another one. */
function PageNumber({ count, pagination }: PagerPart): JSX.Element {
  const { url, navigate } = usePage();
  const position = pagination.position ?? 'page';
  const current = Number(parametersOf(url).get(position) ?? 1) || 1;
  const [wanted, setWanted] = useState('');
  const size = sizeOf(url, pagination);
  const last = count?.kind === 'exact' ? Math.max(1, Math.ceil(count.total / size)) : undefined;
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault();
        navigate(withParameters(url, { [position]: wanted }));
        setWanted('');
      }}
    >
      <span>
        {last === undefined ? text('page', { page: current }) : text('pageOf', { page: current, last })}
      </span>
      <label>
        <span class="hidden">{text('goToPage')}</span>
        <input
          type="number"
          min={1}
          max={last}
          required
          value={wanted}
          placeholder={String(current)}
          onInput={(event) => {
            setWanted(event.currentTarget.value);
          }}
        />
      </label>
      <button type="submit">{text('go')}</button>
    </form>
  );
}

function PageSize({
  pagination,
  size,
}: {
  readonly pagination: PaginationParameters;
  readonly size: string;
}): JSX.Element {
  const { url, navigate } = usePage();
  const current = sizeOf(url, pagination);
  const most = pagination.max_page_size ?? current;
  const sizes = [...new Set([...SIZES.filter((each) => each <= most), current])].sort((a, b) => a - b);
  const { position } = pagination;
  return (
    <label class="inline">
      {text('pageSize')}
      <select
        value={String(current)}
        onChange={(event) => {
          const changes = position === undefined ? {} : { [position]: undefined };
          navigate(withParameters(url, { ...changes, [size]: event.currentTarget.value }));
        }}
      >
        {sizes.map((each) => (
          <option key={each} value={String(each)}>
            {each}
          </option>
        ))}
      </select>
    </label>
  );
}

function sizeOf(url: string, pagination: PaginationParameters | undefined): number {
  const own = pagination?.page_size ?? 50;
  const given =
    pagination?.size === undefined ? undefined : Number(parametersOf(url).get(pagination.size) ?? own);
  return given !== undefined && given > 0 ? Math.min(given, pagination?.max_page_size ?? given) : own;
}
