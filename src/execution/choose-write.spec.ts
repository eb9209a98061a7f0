// @tags core
import { describe, expect, test } from '@jest/globals';
import {
  chooseByTriggers,
  chooseDeletion,
  chooseDeletions,
  chooseViewDeletions,
  chooseViewWrites,
  chooseWrite,
  VALUE_CHOICES,
} from './choose-write.js';
import type { DeletionFacts, LiveDeletion, LiveWrite, WriteFacts } from './choose-write.js';
import { WRITE_CAUSES } from './write-causes.js';
import type { WriteChoice } from './write-causes.js';

const PLAIN: WriteFacts = { tableName: 'orders', table: undefined, create: undefined, update: undefined };
const WRITE: LiveWrite = { kind: 'create', hooks: {}, errors: {} };

function textOf({ lane, reason }: WriteChoice): string {
  return `${lane}: ${reason}`;
}

function lanesOf(facts: Partial<WriteFacts>): readonly string[] {
  const writes = chooseViewWrites({ ...PLAIN, ...facts });
  return [writes.create, writes.update].map(textOf);
}

const DIRECT = 'direct: One statement writes the row and returns it.';
const DELETED = 'direct: One statement deletes the row.';

describe('the lanes of a view', () => {
  test('write a plain row directly', () => {
    expect(lanesOf({})).toEqual([DIRECT, DIRECT]);
  });

  test('name what is responsible for creates and changes', () => {
    const text = 'entities: The column price has a transformer or an expression.';
    expect(lanesOf({ table: { kind: 'column-code', name: 'price' } })).toEqual([text, text]);
  });

  test('name what is responsible for one of them', () => {
    expect(lanesOf({ create: { kind: 'insert-listener', name: 'Order.begin' } })).toEqual([
      'entities: The listener Order.begin runs at each INSERT.',
      DIRECT,
    ]);
    expect(lanesOf({ update: { kind: 'update-date', name: 'changed' } })).toEqual([
      DIRECT,
      'entities: The column changed of the last update is no date-time.',
    ]);
  });

  test('are pairs for a join table', () => {
    const text = 'pairs: The join table order_tags has no entity.';
    expect(lanesOf({ table: { kind: 'join-table', name: 'order_tags' } })).toEqual([text, text]);
  });

  test('keep special characters of names', () => {
    expect(lanesOf({ table: { kind: 'column-code', name: "a$'b" } })[0]).toContain("a$'b");
  });
});

describe('the lane of a write', () => {
  const writes = chooseViewWrites(PLAIN);
  test.each<[string, Partial<LiveWrite>, string | undefined, string]>([
    ['a plain body', {}, undefined, DIRECT],
    [
      'a serializer',
      { completed: () => undefined },
      undefined,
      'loaded: The response is made inside of the transaction.',
    ],
    [
      'a hook',
      { hooks: { after: () => undefined } },
      undefined,
      'loaded: A hook runs inside of the transaction.',
    ],
    [
      'If-Match',
      { kind: 'update', expected: {} },
      undefined,
      'locked: The expected content is compared with the locked row.',
    ],
    ['a subscriber', {}, 'Audit', 'entities: The subscriber Audit sees the writes of the entity.'],
    ['an invalid body', { errors: { name: ['Required.'] } }, undefined, 'loaded: The body is invalid.'],
  ])('of %s', (...[, plan, subscriber, expected]) => {
    expect(textOf(chooseWrite(writes, { ...WRITE, ...plan }, subscriber))).toBe(expected);
  });

  test('is that of the ORM if the table has triggers', () => {
    const choice = chooseWrite(writes, WRITE, undefined);
    expect(chooseByTriggers(writes, choice, true)).toBe(choice);
    expect(chooseByTriggers(writes, choice, false).reason).toContain('The table orders has triggers');
  });

  test('is the same object for each write', () => {
    expect(chooseWrite(writes, WRITE, undefined)).toBe(writes.create);
  });

  test('is another one for each cause in the values', () => {
    expect(Object.values(VALUE_CHOICES).map(({ lane }) => lane)).not.toContain('direct');
  });
});

const DELETIONS: DeletionFacts = { tableName: 'orders', entity: undefined, row: undefined };

describe('the lane of a deletion', () => {
  test.each<[string, Partial<DeletionFacts>, Partial<LiveDeletion>, string | undefined, string]>([
    ['a plain row', {}, {}, undefined, DELETED],
    [
      'a row with a listener',
      { entity: { kind: 'remove-listener', name: 'Order.end' } },
      {},
      undefined,
      'entities: The listener Order.end runs for each row that is deleted.',
    ],
    [
      'a row that is only marked',
      { row: { kind: 'soft-deletion', name: 'mariadb' } },
      {},
      undefined,
      'locked: No statement returns the row that it has changed on mariadb.',
    ],
    [
      'a row of the expected content',
      {},
      { expected: {} },
      undefined,
      'locked: The expected content is compared with the locked row.',
    ],
    [
      'a row with a hook',
      { row: { kind: 'soft-deletion', name: 'mariadb' } },
      { hooks: { before: () => undefined } },
      undefined,
      'entities: A hook runs inside of the transaction.',
    ],
    ['a row with a subscriber', {}, {}, 'Audit', 'entities: The subscriber Audit sees the deletion.'],
  ])('of %s', (...[, facts, plan, subscriber, expected]) => {
    const deletions = chooseViewDeletions({ ...DELETIONS, ...facts });
    expect(textOf(chooseDeletion(deletions, { hooks: {}, ...plan }, subscriber))).toBe(expected);
  });
});

describe('the lane of a bulk deletion', () => {
  const { many: together } = chooseViewDeletions(DELETIONS);
  const plan = { hooks: {} };

  test.each<[string, Parameters<typeof chooseDeletions>[1], string | undefined, string]>([
    ['a list of keys', [plan, plan], undefined, 'bulk-deletion: Nothing runs for each row that is deleted.'],
    ['one key', undefined, undefined, 'locked: The request deletes no list of keys.'],
    [
      'a hook',
      [plan, { hooks: { before: () => undefined } }],
      undefined,
      'entities: A hook runs inside of the transaction.',
    ],
    ['a subscriber', [plan, plan], 'Audit', 'entities: The subscriber Audit sees each row that is deleted.'],
  ])('of %s', (...[, plans, subscriber, expected]) => {
    expect(textOf(chooseDeletions(together, plans, subscriber))).toBe(expected);
  });

  test('names the listener', () => {
    const { many: choice } = chooseViewDeletions({
      ...DELETIONS,
      entity: { kind: 'remove-listener', name: 'Order.end' },
    });
    expect(textOf(chooseDeletions(choice, [plan, plan], undefined))).toBe(
      'entities: The listener Order.end runs for each row that is deleted.',
    );
  });
});

test('each cause has a text for the documents, once for the same writes', () => {
  const texts = WRITE_CAUSES.map(({ of, what }) => `${of}: ${what}`);
  expect(new Set(texts).size).toBe(texts.length);
});
