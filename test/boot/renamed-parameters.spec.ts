// @tags nest
import { expect, test } from '@jest/globals';
import { PageNumberPagination } from 'nestjs-restify';
import type { FilterBackend, FilterResult } from 'nestjs-restify';
import { startApp } from '../support/start-app.js';
import { declareUnchecked, entityOf, problemsOf } from './refused-start.js';

const NAME = 'Begin with a letter or "_", and go on with letters, digits, "-" and "_", without "__".';
const OTHER = 'Give the parameter another name.';

/** Reads a parameter of its own, which it does not know by another name. */
class Drafts implements FilterBackend {
  filter(): FilterResult {
    return {};
  }
  parameters(): readonly string[] {
    return ['drafts'];
  }
}

/** The problems of a model with these fields beside `id`, which has pages. */
function problemsWith(parameters: unknown, options: object = {}): Promise<readonly string[]> {
  const Note = entityOf('Note', ['title', 'search']);
  declareUnchecked(Note, { app: 'desk', pagination: new PageNumberPagination(), ...options, parameters });
  return problemsOf({ entities: [Note] });
}

test.each<[parameters: unknown, lines: readonly string[]]>([
  [5, ['Note.parameters: 5 is not an object. Write an object, such as { name: value }.']],
  ...['', 'a b', 'q[]', 'q=', 'ü', '1q', 'title__q', '__proto__', 5, null, undefined].map(
    (name): [unknown, readonly string[]] => [
      { search: name },
      [
        `Note.parameters.search: ${name === undefined ? 'undefined' : JSON.stringify(name)} is not a valid name of a query parameter. ${NAME}`,
      ],
    ],
  ),
  [
    { serch: 'q' },
    [
      'Note.parameters.serch: "serch" is not a query parameter of Note that can be renamed. Did you mean "search"?',
    ],
  ],
  [
    { limit: 'rows' },
    [
      'Note.parameters.limit: "limit" is not a query parameter of Note that can be renamed. Known here: "search", "ordering", "page", "page_size".',
    ],
  ],
  [{ search: 'title' }, [`Note.parameters.search: "title" is a filter of the model. ${OTHER}`]],
  [{ ordering: 'search' }, [`Note.parameters.ordering: "search" is a filter of the model. ${OTHER}`]],
  [{ search: 'page' }, [`Note.parameters.search: "page" is another query parameter too. ${OTHER}`]],
])('a model with parameters %j does not start', async (parameters, lines) => {
  expect(await problemsWith(parameters)).toEqual(expect.arrayContaining([...lines]));
});

test('two parameters of one name do not start', async () => {
  expect(await problemsWith({ search: 'q', page: 'q' })).toEqual(
    expect.arrayContaining(
      ['search', 'page'].map(
        (name) => `Note.parameters.${name}: "q" is another query parameter too. ${OTHER}`,
      ),
    ),
  );
});

test('a field that is no filter is not in conflict with a new name', async () => {
  expect(await problemsWith({ page: 'title' }, { filterFields: ['id'] })).toEqual([
    `Note.parameters.page: "title" is a field of the model. ${OTHER}`,
  ]);
});

test('a backend of the application names its parameters itself', async () => {
  expect(await problemsWith({ drafts: 'd' }, { filterBackends: [Drafts] })).toEqual([
    expect.stringContaining('"drafts" is not a query parameter of Note that can be renamed'),
  ]);
});

test('names of a prefix that have another meaning in one of its models are errors, and unknown ones, too', async () => {
  const Note = entityOf('Note', ['q']);
  declareUnchecked(Note, { app: 'desk' });
  expect(
    await problemsOf({ entities: [Note], restify: { parameters: { search: 'q', serch: 's', page: 'a b' } } }),
  ).toEqual([
    `RestifyModule.forRoot('rest/v1').parameters.page: "a b" is not a valid name of a query parameter. ${NAME}`,
    `RestifyModule.forRoot('rest/v1').parameters.serch: "serch" is not a query parameter that can be renamed. Did you mean "search"?`,
    `Note.parameters.search: "q", as the prefix or the relation calls it, is a filter of the model. Give it another name in this model: parameters: { search: '…' }.`,
  ]);
});

test('a prefix renames parameters that not all of its models have, and names of a pagination of its own', async () => {
  const [Note, Page] = [entityOf('Note'), entityOf('Page')];
  declareUnchecked(Note, { app: 'desk' });
  declareUnchecked(Page, {
    app: 'desk',
    pagination: new PageNumberPagination({ pageParameter: 'seite', pageSize: 1 }),
    parameters: { seite: 'p' },
  });
  const started = await startApp({
    entities: [Note, Page],
    restify: { parameters: { page: 'number', cursor: 'after' } },
  });
  for (const _ of [1, 2]) await started.client.post('/rest/v1/desk/page/', {});
  const { json } = await started.client.get('/rest/v1/desk/page/?p=2');
  await started.close();
  expect(json).toMatchObject({ count: 2, results: [{ id: 2 }] });
});
