import { describe, expect, test } from '@jest/globals';
import type { Operand } from '../../core/query/condition.js';
import type { OrderingField } from '../../core/schema/resource-schema.js';
import { parseOrdering } from './ordering-filter.js';

const LONG = 200_000;

function operand(id: string): Operand {
  return { joinPath: [], column: { id, path: id, type: { kind: 'string', trim: true }, nullable: false } };
}

const FIELDS: ReadonlyMap<string, OrderingField> = new Map<string, OrderingField>([
  ['id', { operands: [operand('id')] }],
  ['votes', { operands: [operand('votes')] }],
  ['address.city', { operands: [operand('address_city')] }],
  ['pair', { operands: [operand('pair_a'), operand('pair_b')] }],
  ['seen', { operands: [operand('seen')], nulls: 'last' }],
]);

/** `votes` ascending, `-votes` descending, by the columns' names in the database. */
function ordered(text: string): readonly string[] {
  return parseOrdering(text, { orderingFields: FIELDS, orderingNulls: false }).map(
    ({ operand: { column }, descending }) => (descending ? `-${column.id}` : column.id),
  );
}

test.each<[text: string, columns: readonly string[]]>([
  ['votes', ['votes']],
  ['-votes', ['-votes']],
  ['votes,id', ['votes', 'id']],
  ['-id,votes', ['-id', 'votes']],
  [' votes , -id ', ['votes', '-id']],
  [',,votes,,', ['votes']],
  ['address.city', ['address_city']],
  ['pair', ['pair_a', 'pair_b']],
  ['-pair,id', ['-pair_a', '-pair_b', 'id']],
])('%j orders by %j', (text, columns) => {
  expect(ordered(text)).toEqual(columns);
});

test.each<[text: string, columns: readonly string[]]>([
  ['votes,votes', ['votes']],
  ['votes,-votes', ['votes']],
  ['-votes,votes', ['-votes']],
  ['votes,id,-votes,-id,pair,-pair', ['votes', 'id', 'pair_a', 'pair_b']],
])('of a name twice the first wins: %j orders by %j', (text, columns) => {
  expect(ordered(text)).toEqual(columns);
});

describe('what may not be ordered by', () => {
  test.each([
    '',
    ' ',
    ',',
    '-',
    '--',
    '--votes',
    '- votes',
    '-,-',
    '+votes',
    'VOTES',
    'Votes',
    'votes desc',
    'votes DESC',
    'votes;id',
    'votes id',
    'vote',
    'votess',
    'votes.id',
    'address',
    'city',
    'address_city',
    'pair_a',
    '?',
    'random',
    '*',
    '1',
    'hidden',
    'password',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '-__proto__',
    'votes)',
    '(votes',
    'votes--',
    '"votes"',
    '`votes`',
    "votes'",
    'votes/**/',
    'CASE WHEN 1=1 THEN votes END',
    '\u0000',
    'votes\u0000',
    '\uff56otes',
    '\u2212votes',
    '\u2010votes',
  ])('is dropped: %j', (text) => {
    expect(ordered(text)).toEqual([]);
  });

  test('is dropped between names that may, and keeps no place for them', () => {
    expect(ordered('nothing,-votes,votes) OR (1=1,--id,id')).toEqual(['-votes', 'id']);
  });

  test('is dropped the second time as the first', () => {
    expect([ordered('hidden,votes'), ordered('hidden,votes')]).toEqual([['votes'], ['votes']]);
  });
});

test.each<[name: string, text: string, columns: readonly string[]]>([
  ['commas', ','.repeat(LONG), []],
  ['hyphens', '-'.repeat(LONG), []],
  ['one name many times', 'votes,'.repeat(LONG), ['votes']],
  ['names that do not exist', 'x,'.repeat(LONG), []],
  ['blanks around a name', `${' '.repeat(LONG)}votes${' '.repeat(LONG)}`, ['votes']],
])('a long text of %s orders by what it names', (_name, text, columns) => {
  expect(ordered(text)).toEqual(columns);
});
