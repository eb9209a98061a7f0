// @tags core
import { describe, expect, test } from '@jest/globals';
import {
  chooseOutput,
  chooseRead,
  chooseViewReads,
  explainRead,
  isWritten,
  READ_CAUSES,
  withoutJson,
} from './choose-read.js';
import type { OutputFacts, ReadFacts } from './choose-read.js';

const PLAIN: ReadFacts = { entities: undefined, obstacle: undefined };
const REQUEST: OutputFacts = {
  resource: { hasDefaultSerializer: true },
  fieldSelection: undefined,
  needsValue: false,
  renderer: undefined,
};

describe('the lane of a view', () => {
  test.each<[string, ReadFacts, string]>([
    ['plain columns', PLAIN, 'json: The database can write all fields.'],
    [
      'a computed field',
      { ...PLAIN, entities: { kind: 'computed', name: 'total' } },
      'entities: The computed field total is made of the entity.',
    ],
    [
      'a listener',
      { ...PLAIN, entities: { kind: 'after-load', name: 'Order.load' } },
      'entities: The listener Order.load runs after each entity is loaded.',
    ],
    [
      'a float',
      { ...PLAIN, obstacle: { kind: 'column-type', name: 'price, float' } },
      'rows: The database cannot write the JSON of the field price, float.',
    ],
    [
      'a computed field and a float',
      {
        entities: { kind: 'computed', name: 'total' },
        obstacle: { kind: 'column-type', name: 'price, float' },
      },
      'entities: The computed field total is made of the entity.',
    ],
  ])('of %s names what is responsible', (_, facts, expected) => {
    const { lane, reason } = chooseRead(chooseViewReads(facts), true, undefined);
    expect(`${lane}: ${reason}`).toBe(expected);
  });

  test('is rows where values are needed', () => {
    expect(chooseRead(chooseViewReads(PLAIN), false, undefined).lane).toBe('rows');
  });

  test('loads entities if a subscriber receives them', () => {
    const view = chooseViewReads(PLAIN);
    expect(chooseRead(view, true, 'Audit')).toEqual({
      lane: 'entities',
      reason: 'The subscriber Audit sees each entity that is loaded.',
    });
    expect(chooseRead(view, true, undefined).lane).toBe('json');
  });

  test('is the same object for each read', () => {
    const view = chooseViewReads(PLAIN);
    expect(chooseRead(view, true, undefined)).toBe(chooseRead(view, true, undefined));
  });

  test('is rows from the read that finds a column of another type', () => {
    const view = withoutJson(chooseViewReads(PLAIN));
    expect(chooseRead(view, true, undefined)).toEqual({
      lane: 'rows',
      reason: 'A column of the table has another type than its entity declares.',
    });
  });

  test('is rows for a page that the database has not written', () => {
    expect([undefined, '', '{}'].map(isWritten)).toEqual([false, true, true]);
  });
});

describe('the output of a request', () => {
  const expands = { expands: true };
  test.each<[string, Partial<OutputFacts>, string]>([
    ['a plain request', {}, 'response stored'],
    ['selected fields', { fieldSelection: { expands: false } }, 'response stored'],
    ['an expansion', { fieldSelection: expands }, 'response expanded'],
    ['a serializer', { resource: { hasDefaultSerializer: false } }, 'response serialized'],
    ['a format', { renderer: {} }, 'format stored'],
    ['a format with an expansion', { renderer: {}, fieldSelection: expands }, 'format expanded'],
    ['an interceptor', { needsValue: true, renderer: {} }, 'value stored'],
  ])('of %s', (_, facts, expected) => {
    const { use, form } = chooseOutput({ ...REQUEST, ...facts });
    expect(`${use} ${form}`).toBe(expected);
  });

  test('is the reason of rows, but not of entities', () => {
    const output = chooseOutput({ ...REQUEST, resource: { hasDefaultSerializer: false } });
    const explain = (facts: ReadFacts): unknown =>
      explainRead(output, {
        read: (isStored) => chooseRead(chooseViewReads(facts), isStored, undefined),
        name: 'Compact',
      });
    expect(explain(PLAIN)).toEqual({ lane: 'rows', reason: 'The serializer Compact runs for each row.' });
    expect(explain({ ...PLAIN, entities: { kind: 'transformer', name: 'price' } })).toEqual({
      lane: 'entities',
      reason: 'The transformer of the column price changes its values.',
    });
  });
});

test('each cause has a text for the documents, once', () => {
  const texts = READ_CAUSES.map(({ what }) => what);
  expect(new Set(texts).size).toBe(texts.length);
});
