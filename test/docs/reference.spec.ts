// @tags core
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { LOOKUPS } from '../../src/core/query/lookups.js';
import * as limits from '../../src/core/schema/limits.js';
import { readDocument } from './document.js';
import { isShown, nodesOf, parseSource, textsOf } from './message-texts.js';
import { collectStartMessages } from './start-messages.js';

/** The lines of a document from one heading to the next one of its level. */
function section(path: string, heading: string): string {
  const [, behind = ''] = readDocument(path).text.split(`\n${heading}\n`);
  return behind.split('\n## ')[0] ?? '';
}

/** The words between backticks. */
function wordsIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word));
}

describe('docs/reference/errors-at-start.md', () => {
  const { messages, unread } = collectStartMessages();

  test('shows each message of a DeclarationError', () => {
    const { text } = readDocument('docs/reference/errors-at-start.md');
    expect(messages.map(({ what }) => what).filter((what) => !isShown(what, text))).toEqual([]);
    expect(messages.length).toBeGreaterThan(250);
  });

  test('misses no message, because all are texts of the source but those that other places of it pass on', () => {
    expect(unread).toEqual([
      'src/compiler/rules/browsable-kind.ts: PART.what',
      "src/compiler/rules/option-kinds.ts: typeof what === 'string' ? what : what(given)",
      'src/compiler/rules/option-kinds.ts: what',
      'src/compiler/rules/option-values.ts: what',
      'src/compiler/rules/problems.ts: what',
      'src/compiler/rules/verify-actions.ts: flaw.what',
      'src/compiler/rules/verify-entities.ts: what',
      'src/compiler/rules/verify-fixed-grants.ts: error.what',
      'src/compiler/rules/verify-nested.ts: what',
      'src/compiler/rules/verify-options.ts: what',
      'src/compiler/rules/verify-related-keys.ts: what',
    ]);
  });

  test.each([
    ['`"${name}" is not a field`', 'x "titel" is not a field of Post', true],
    ['`"${name}" is not a field`', 'titel is not a field', false],
    ["isOne ? 'one' : 'many'", 'one', true],
  ])('the message %s is shown by %j: %s', (source, text, isFound) => {
    const [statement] = ts.createSourceFile('a.ts', source, ts.ScriptTarget.Latest, true).statements;
    const { expression } = statement as ts.ExpressionStatement;
    expect((textsOf(expression) ?? []).some((message) => isShown(message, text))).toBe(isFound);
  });
});

test('docs/reference/bodies-and-errors.md has each text in "detail" of an error', () => {
  const calls = [...nodesOf(parseSource('src/core/errors/http-exceptions.ts'))].filter(
    (node): node is ts.CallExpression => ts.isCallExpression(node) && node.expression.getText() === 'detail',
  );
  const texts = calls.flatMap(({ arguments: [, text] }) => (text && textsOf(text)) ?? []);
  const page = section('docs/reference/bodies-and-errors.md', '## All errors').replaceAll('\\"', '"');
  expect(texts.filter((text) => !isShown(text.replace('… second.', '… seconds.'), page))).toEqual([]);
  expect(texts.length).toBeGreaterThan(15);
});

test('docs/reference/filters.md has each lookup in its table', () => {
  const [head = '', ...others] = section('docs/reference/filters.md', '## Lookups').split('\n| ');
  expect(head).not.toBe('');
  const rows = others.map((row) => row.split(' |')[0] ?? '').filter((cell) => cell.startsWith('`'));
  expect([...wordsIn(rows.join(' '))].sort()).toEqual([...LOOKUPS].sort());
});

describe('docs/reference/databases.md', () => {
  const page = section('docs/reference/databases.md', '## Column types');

  test('has each column type that is served', () => {
    const rules = [...nodesOf(parseSource('src/adapters/typeorm/metadata/column-data-type.ts'))].find(
      (node): node is ts.VariableDeclaration =>
        ts.isVariableDeclaration(node) && node.name.getText() === 'TYPE_RULES',
    );
    const names = [...(rules?.getText().matchAll(/\['([\w ]+)'/g) ?? [])].map(([, name = '']) => name);
    const words = wordsIn(page);
    expect(names.filter((name) => !words.has(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(40);
  });
});

/** The row of each limit of the source, and how many of its units are one of those of the row. */
const LIMITS: Readonly<Record<string, readonly [row: string, unit?: number]>> = {
  BODY_PARAMETERS: ['parameters of different names'],
  BODY_PARAMETER_LENGTH: ['characters of one of them'],
  MAX_LINK_HEADER: ['characters of the header `Link`'],
  BODY_BYTES: ['bytes of a body', 1024],
  BODY_DEPTH: ['nesting depth of objects and lists in a body'],
  NUMBER_TEXT: ['characters of a number'],
  MAX_NESTED_WRITES: ['objects and related keys that a request'],
  ACQUIRE_TIMEOUT: ['time that a request waits', 1000],
  AUTHENTICATION_TIMEOUT: ["duration of the check of a request's credentials", 1000],
  REMEMBERED_CALLERS: ['addresses, and user names'],
  STATEMENT_TIMEOUT: ['duration of a statement that reads', 1000],
  SHUTDOWN_GRACE: ['time for which an incomplete request', 1000],
  COMMIT_CALLS: ['calls of [`afterCommit`]'],
  PAGE_ROWS: ['rows of a list without pagination'],
  PAGE_CHARACTERS: ['rows of a list without pagination', 1024],
  PAGE_SIZE: ['rows of a [page]'],
  MAX_PAGE_SIZE: ['rows of a page'],
  MAX_OFFSET: ['rows before a page'],
  COUNTED_ROWS: ['rows up to which an [estimated count]'],
  MAX_CURSOR: ['characters of a cursor |'],
  MIN_SECRET: ['characters of a cursor secret'],
  MAX_EXPANDED_DEPTH: ['relations in a path of'],
  MAX_EXPANSIONS: ['relations that one request expands'],
  MAX_EXPANDED_CHILDREN: ['objects in place of one link'],
  MAX_EXPANDED_OBJECTS: ['objects of a response with expansions'],
  MAX_RELATED_KEYS: ['[related keys](relations.md#related-keys) of one field'],
  MAX_BULK_KEYS: ['the same in all objects of a [bulk write]'],
  HELD_CHARACTERS: ['characters of such a list'],
  MAX_SELECTED_VIEWS: ['[field selections]'],
  BULK_OBJECTS: ['objects of one [bulk write]'],
  MOST_BULK_OBJECTS: ['objects of one [bulk write]'],
  MAX_ENTITY_TAGS: ['entity tags in'],
  MAX_PRECONDITION: ['entity tags in'],
  MODIFIED_SETTLES: ['seconds after a change'],
  MAX_IDEMPOTENCY_KEY: ['characters of an [`Idempotency-Key`]'],
  IDEMPOTENCY_LIFE: ['seconds for which a response is stored'],
  MAX_IDEMPOTENCY_LIFE: ['seconds for which a response is stored'],
  CLAIM_LEASE: ['seconds after which an unfinished request'],
  EXPIRED_RECORDS: ['expired responses that are removed'],
};

describe('docs/reference/limits.md', () => {
  const { text } = readDocument('docs/reference/limits.md');
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  const numbers = Object.entries(limits).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );

  function numbersOfRow(start: string): readonly number[] {
    const found = rows.filter((row) => row.startsWith(`| ${start}`));
    expect(found).toHaveLength(1);
    return [...(found[0] ?? '').matchAll(/(?<![\w.])\d[\d,]*/g)].map(([digits]) =>
      Number(digits.replaceAll(',', '')),
    );
  }

  /** The last number of a cell, which may be one of MiB. */
  function numberOf(cell = ''): number | undefined {
    const [, digits = '', unit] = /(?:^|, )(\d[\d,]*)( MiB)?(?: \|)?$/.exec(cell) ?? [];
    return Number(digits.replaceAll(',', '')) * (unit ? 1024 * 1024 : 1);
  }

  test.each(numbers.filter(([name]) => name in LIMITS))('has the number of %s: %s', (name, value) => {
    const [row, unit = 1] = LIMITS[name] ?? [''];
    expect(numbersOfRow(row)).toContain(value / unit);
  });

  test('has a row for each number of the source but those of internal work and of warnings', () => {
    expect(numbers.map(([name]) => name).filter((name) => !(name in LIMITS))).toEqual([
      'ANSWER_PART',
      'EXPIRY_INTERVAL',
      'EXPIRY_RESCAN_INTERVAL',
      'LONGEST_TIMER',
      'MISSING_INDEX_ROWS',
    ]);
  });

  test.each(Object.keys(limits.QUERY_LIMITS) as (keyof limits.QueryLimits)[])(
    'has queryLimits.%s with its default and its maximum',
    (name) => {
      const found = rows.filter((row) => row.includes(`\`queryLimits: { ${name} }\``));
      expect(found).toHaveLength(1);
      const [, usual, , most] = (found[0] ?? '').split(' | ');
      expect([usual, most].map(numberOf)).toEqual([limits.QUERY_LIMITS[name], limits.MOST_OF_QUERY[name]]);
    },
  );
});
