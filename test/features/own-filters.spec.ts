// @tags db http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { basic } from 'nestjs-restify';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { ChoiceFilters, fillLookups, LOOKUP_MODELS } from './lookup-models.js';

onEachDatabase("filters of a model's own", (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: LOOKUP_MODELS,
      database,
      providers: [ChoiceFilters],
      restify: { authentication: [basic((name) => ({ name }))] },
    });
    await fillLookups(started.dataSource);
  });
  afterAll(() => started.close());

  const choices = async (query: string, who = ''): Promise<unknown> => {
    const headers: Record<string, string> =
      who === '' ? {} : { authorization: `Basic ${Buffer.from(`${who}:pw`).toString('base64')}` };
    const { status, json, text } = await started.client.get(`/rest/v1/polls/choice/?${query}`, { headers });
    return status === 200 ? (json as { id: number }[]).map(({ id }) => id) : [status, JSON.parse(text)];
  };
  const ALL = [1, 2, 3, 4, 5, 6];

  describe('named by the option', () => {
    test.each<[string, unknown]>([
      ['votes__near=8', [2, 4]],
      ['votes__near=', ALL],
      ['votes__near=x', [400, { votes__near: ['Enter a number.'] }]],
      ['votes__near=1e3', [400, { votes__near: ['Enter a number.'] }]],
      ['named=Ada', [1]],
      ['named=Ada,second', [1, 3, 4]],
      ['named=%22A_a,%20%5C%22b%5C%22%22', [3]],
      ['votes__near=8&open=true', [2]],
      ['filter=or(votes__near=8,named=Ada)', [1, 2, 4]],
      ['filter=not(votes__near=8)', [1, 3, 5, 6]],
      ['filter=or(votes__near=x)', [400, { filter: ['Position 4: votes__near: Enter a number.'] }]],
      ['rival=7', [3, 4]],
    ])('?%s', async (query, expected) => {
      expect(await choices(query)).toEqual(expected);
    });

    test("a value that no column can hold is the caller's mistake", async () => {
      expect(await choices('votes__near=9007199254740991')).toEqual([
        400,
        { votes__near: [expect.stringMatching(/^Ensure this value is less than/)] },
      ]);
    });

    test('do not exist for a caller who may not read their fields', async () => {
      expect(await choices('votes__near=8', 'blind')).toEqual(ALL);
      expect(await choices('votes__near=x', 'blind')).toEqual(ALL);
      expect(await choices('named=Ada', 'blind')).toEqual(ALL);
      expect(await choices('rival=7', 'blind')).toEqual(ALL);
    });

    test('count related rows that the caller may see, and are not called if no row is visible', async () => {
      expect(await choices('named=first', 'half')).toEqual([1, 2]);
      expect(await choices('named=second', 'half')).toEqual([]);
      expect(await choices('rival=7', 'half')).toEqual([1, 2, 3, 5, 6]);
      expect(await choices('rival=x', 'half')).toEqual([1, 2, 3, 5, 6]);
    });
  });

  describe('of a class', () => {
    test.each<[string, unknown]>([
      ['liked=true', [2, 4]],
      ['liked=0', [1, 3, 6]],
      ['liked=', ALL],
      ['liked=maybe', [400, { liked: ['Must be a valid boolean.'] }]],
      ['around=1,8', [1, 2, 4]],
      ['around=1,x', [400, { around: ['Enter a number.'] }]],
      [`around=${'1,'.repeat(100)}1`, [400, { around: ['Ensure there are no more than 100 values.'] }]],
      [
        'around=9007199254740991',
        [400, { around: [expect.stringMatching(/^Ensure this value is less than/)] }],
      ],
      ['since=2000-01-01T00:00Z', ALL],
      ['since=2100-01-01T00:00Z', []],
      ['since=soon', [400, { since: ['Enter a valid date/time.'] }]],
      ['mine=no', ALL],
      ['mine=perhaps', [400, { mine: ['"perhaps" is not a valid choice.'] }]],
      [
        'liked=1&since=x&mine=z',
        [400, { since: ['Enter a valid date/time.'], mine: ['"z" is not a valid choice.'] }],
      ],
      ['liked=true&votes=9', [4]],
    ])('?%s', async (query, expected) => {
      expect(await choices(query)).toEqual(expected);
    });

    test('receive the caller', async () => {
      expect(await choices('mine=yes', 'Ada')).toEqual([1]);
      expect(await choices('mine=yes')).toEqual([]);
    });
  });
});
