import { expect, test } from '@jest/globals';
import { pageLink } from './resource-urls.js';

const URL = 'http://h/rest/v1/polls/choice/';

test.each<[query: string, changes: Record<string, string | undefined>, link: string]>([
  ['', {}, URL],
  ['', { page: '2' }, `${URL}?page=2`],
  ['page=2', { page: undefined }, URL],
  ['page=2&page=3', { page: '4' }, `${URL}?page=4`],
  ['a=1&page=2&b=2', { page: '3' }, `${URL}?a=1&b=2&page=3`],
  ['p%61ge=2&b', { page: '3' }, `${URL}?b=&page=3`],
  ['&&a=1&', { limit: '2', offset: undefined }, `${URL}?a=1&limit=2`],
  ['q=x+y%2Bz&e=%C3%A9', {}, `${URL}?q=x%20y%2Bz&e=%C3%A9`],
  ['q=<">\'&r=%0D%0A,;', { page: '2' }, `${URL}?q=%3C%22%3E'&r=%0D%0A%2C%3B&page=2`],
  ['constructor=1&__proto__=2', { page: '2' }, `${URL}?constructor=1&__proto__=2&page=2`],
])('of the query %j with %j is %s', (query, changes, link) => {
  expect(pageLink(URL, query)(changes)).toBe(link);
});

test('a query that is no text is left to who reads it', () => {
  expect(() => pageLink(URL, 'a=%zz')).not.toThrow();
});
