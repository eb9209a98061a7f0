// @tags db
import { expect, test } from '@jest/globals';
import { onEachDatabase } from '../support/each-database.js';
import { runTrial } from './run-trial.js';
import { startSubject } from './start-subject.js';

onEachDatabase('entities that were there before', ({ name }) => {
  test('respond in conformance with their document', async () => {
    const trial = await runTrial({
      seed: 17,
      requests: 400,
      shrink: false,
      start: () => startSubject({ model: 'wild', database: name, platform: 'express' }),
    });
    const problems = trial.findings.map(({ signature, detail, sequence }) =>
      [signature, detail, ...sequence].join('\n'),
    );
    expect(problems).toEqual([]);
    expect(trial.requests).toBe(400);
    expect(trial.operations.succeeded).toBeGreaterThan(50);
  });
});
