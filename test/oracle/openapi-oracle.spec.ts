// @tags core
import { expect, test } from '@jest/globals';
import { runTrial } from './run-trial.js';
import type { Trial } from './run-trial.js';
import { startSubject } from './start-subject.js';
import type { SubjectOptions } from './start-subject.js';

/** The short form of `npm run trial:openapi`. */
function shortTrial(model: SubjectOptions['model'], requests: number): Promise<Trial> {
  return runTrial({
    seed: 16,
    requests,
    shrink: false,
    start: () => startSubject({ model, database: 'sqlite', platform: 'express' }),
  });
}

function problemsOf({ findings }: Trial): readonly string[] {
  return findings.map(({ signature, detail, sequence }) => [signature, detail, ...sequence].join('\n'));
}

test('the responses of the sample application conform to its document', async () => {
  const trial = await shortTrial('sample', 600);
  expect(problemsOf(trial)).toEqual([]);
  expect(trial.requests).toBe(600);
  expect(trial.operations.succeeded).toBeGreaterThan(150);
});

test('the responses of a model with all features conform to its document', async () => {
  const trial = await shortTrial('full', 450);
  expect(problemsOf(trial)).toEqual([]);
  expect(trial.requests).toBe(450);
  expect(trial.operations.succeeded).toBeGreaterThan(60);
});
