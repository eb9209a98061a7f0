// @tags core
import { expect, test } from '@jest/globals';
import { classNameOf, laneTable } from './lane-table.js';

test('operations with the same lane and reason share a line', () => {
  const plain = { model: 'Tag', lane: 'json', reason: 'All fields.' };
  expect(
    laneTable([
      { ...plain, operation: 'list' },
      { ...plain, operation: 'retrieve' },
      { model: 'Order', operation: 'list', lane: 'entities', reason: 'A listener.' },
    ]),
  ).toBe('Tag    list, retrieve  json      All fields.\nOrder  list            entities  A listener.');
});

test('an object has the name of its class, if it has one', () => {
  const made: object = Object.create(null) as object;
  expect([new Map(), made, { constructor: undefined }].map(classNameOf)).toEqual([
    'Map',
    'without a class',
    'without a class',
  ]);
});

test('without models, the table is empty', () => {
  expect(laneTable([])).toBe('');
});
