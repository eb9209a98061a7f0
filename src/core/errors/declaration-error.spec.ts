import { describe, expect, test } from '@jest/globals';
import { DeclarationError, didYouMean, nearestName } from './declaration-error.js';

const NAMES = ['id', 'title', 'body', 'pub_date', 'question_text', 'votes'];

describe('nearestName', () => {
  test.each([
    ['titel', 'title'],
    ['title', 'title'],
    ['TITLE', 'title'],
    ['Votes', 'votes'],
    ['vote', 'votes'],
    ['votess', 'votes'],
    ['pubDate', 'pub_date'],
    ['pub-date', 'pub_date'],
    ['questiontext', 'question_text'],
    ['quetsion_txet', 'question_text'],
    ['bdy', 'body'],
  ])('of %s is %s', (name, nearest) => {
    expect(nearestName(name, NAMES)).toBe(nearest);
  });

  test.each([
    'author',
    'created_at',
    'password',
    'xxxxxxxxxxxxxxxxxxxx',
    '\u{1f600}\u{1f600}\u{1f600}\u{1f600}\u{1f600}',
    'title'.repeat(3),
  ])('of %s is none', (name) => {
    expect(nearestName(name, NAMES)).toBeUndefined();
  });

  test('is missing where there is nothing to name', () => {
    expect(nearestName('title', [])).toBeUndefined();
  });

  test('is the first of those that are equally near', () => {
    expect([nearestName('cat_x', ['cat_a', 'cat_b']), nearestName('cat_x', ['cat_b', 'cat_a'])]).toEqual([
      'cat_a',
      'cat_b',
    ]);
  });

  test('is the nearest, wherever it stands', () => {
    expect(nearestName('title', ['titles', 'tilte', 'title', 'titl'])).toBe('title');
  });

  test.each<[name: string, edits: number, found: boolean]>([
    ['abcdefghi', 3, true],
    ['abcdefghi', 4, false],
    ['abcdefghijkl', 4, true],
    ['abcdefghijkl', 5, false],
  ])('is within a third of the length in edits: %s with %d of them', (name, edits, found) => {
    const other = '_'.repeat(edits) + name.slice(edits);
    expect(nearestName(name, [other])).toBe(found ? other : undefined);
  });

  test('suggests between two very long names', () => {
    const long = 'a'.repeat(2000);
    expect(nearestName(`${long}b`, [`${'c'.repeat(2000)}b`, `${long}c`])).toBe(`${long}c`);
  });

  test.each(['__proto__', 'constructor', 'toString', ''])('takes %j for a name like any other', (name) => {
    expect(nearestName(name, ['something else', name])).toBe(name);
  });
});

test.each<[name: string, known: readonly string[], sentence: string]>([
  ['titel', ['id', 'title'], 'Did you mean "title"?'],
  ['author', ['id', 'title'], 'Known here: "id", "title".'],
  ['author', ['id'], 'Known here: "id".'],
  ['author', [], 'There is none to name here.'],
])('didYouMean(%j, %j) says %j', (name, known, sentence) => {
  expect(didYouMean(name, known)).toBe(sentence);
  expect(didYouMean(name, new Set(known))).toBe(sentence);
});

describe('a DeclarationError', () => {
  const TITLE = {
    where: 'Post.filterFields[2]',
    what: '"titel" is not a field of Post',
    repair: 'Did you mean "title"?',
  };
  const APP = { where: 'Comment', what: 'it is in no app', repair: 'Name one.' };

  test('has the problem, its location and the repair', () => {
    const error = new DeclarationError([TITLE]);
    expect(error.message).toBe(
      'nestjs-restify does not start, because a declaration is wrong:\n  - Post.filterFields[2]: "titel" is not a field of Post. Did you mean "title"?',
    );
    expect(error).toMatchObject({ name: 'DeclarationError', problems: [TITLE] });
  });

  test('lists all problems, one per line', () => {
    expect(new DeclarationError([TITLE, APP]).message).toBe(
      'nestjs-restify does not start, because 2 declarations are wrong:\n  - Post.filterFields[2]: "titel" is not a field of Post. Did you mean "title"?\n  - Comment: it is in no app. Name one.',
    );
  });
});
