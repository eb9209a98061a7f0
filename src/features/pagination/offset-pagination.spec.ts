import { expect, test } from '@jest/globals';
import type { PageQuery, PageRequest } from '../../core/contracts/pagination.js';
import { PageNumberPagination } from './offset-pagination.js';

/** Its first rows are on no page. */
class SkippingPagination extends PageNumberPagination {
  override page(query: PageQuery): PageRequest {
    const request = super.page(query);
    const { window } = request;
    return window.kind === 'offset'
      ? { ...request, window: { ...window, offset: window.offset + 5 } }
      : request;
  }
}

test.each([
  [1, 5, [null, '?page=2']],
  [2, 15, ['?page=undefined', '?page=3']],
  [3, 25, ['?page=2', '?page=4']],
])('page %i of a subclass that skips rows has the links of its number', (number, offset, links) => {
  const pagination = new SkippingPagination({ pageSize: 10, count: false });
  const parameters = new Map([['page', String(number)]]);
  const { window } = pagination.page({ parameters, place: '' });
  expect(window).toEqual({ kind: 'offset', limit: 10, offset });
  const page = {
    size: 10,
    limit: 10,
    offset,
    more: true,
    count: undefined,
    before: undefined,
    after: undefined,
  };
  const link = (changes: object): string =>
    Object.entries(changes)
      .map(([name, value]) => `?${name}=${value}`)
      .join('');
  const { envelope } = pagination.present(page, { parameters, place: '', link });
  expect([envelope?.members.previous, envelope?.members.next]).toEqual(links);
});
