// @tags core
import { expect, test } from '@jest/globals';
import { runRound } from './run/round.js';

const REQUESTS = { database: 'sqlite', platform: 'express', clients: 4, requests: 50 } as const;

// `npm run trial:fuzz` uses random seeds.
test.each([1, 2, 3, 4, 5])(
  'answers are those of the model, and the rows are, from the seed %i',
  async (seed) => {
    const { disagreements, statuses } = await runRound({ ...REQUESTS, seed });
    const shown = disagreements.map(({ client, differences, requests }) => ({
      client,
      differences,
      request: requests.at(-1),
    }));
    expect(shown).toEqual([]);
    expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([]);
    expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(200);
  },
);
