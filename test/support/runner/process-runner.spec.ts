// @tags nest
import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';

import { WORLD } from '../world.js';

const ROOT = process.cwd();
const CONFIG = {
  rootDir: ROOT,
  runner: '<rootDir>/test/support/runner/process-runner.mjs',
  testMatch: ['<rootDir>/test/fixtures/runner/*.case.ts'],
  extensionsToTreatAsEsm: WORLD.format === 'esm' ? ['.ts'] : [],
  globals: { RESTIFY_WORLD: WORLD },
};

interface Assertion {
  readonly title: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}
interface Report {
  readonly success: boolean;
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly Assertion[];
  }[];
}

/** Runs the fixtures by Jest with the runner, in the given order of files, in one process. */
function runFixtures(...files: readonly string[]): Promise<Report> {
  const paths = files.map((file) => join(ROOT, 'test/fixtures/runner', `${file}.case.ts`));
  const args = ['--config', JSON.stringify(CONFIG), '--json', '--maxWorkers=1', '--runTestsByPath', ...paths];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [join(ROOT, 'node_modules/jest/bin/jest.js'), ...args],
      { cwd: ROOT, env: { ...process.env, NODE_OPTIONS: '' }, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        try {
          resolve(JSON.parse(stdout) as Report);
        } catch {
          reject(new Error(`Jest reported nothing: ${String(error)}\n${stderr}`));
        }
      },
    );
  });
}

function outcomes({ testResults }: Report): Record<string, readonly string[]> {
  const entries = testResults.map(({ name, status, assertionResults }): [string, readonly string[]] => [
    /([^/\\]+)\.case\.ts$/.exec(name)?.[1] ?? name,
    [status, ...assertionResults.map((each) => each.status)],
  ]);
  return Object.fromEntries(entries);
}

test('reports what passes, fails, is skipped and is to do, and shares modules between files', async () => {
  const report = await runFixtures('outcomes', 'later');
  expect(outcomes(report)).toEqual({
    outcomes: ['failed', 'passed', 'failed', 'pending', 'todo', 'passed'],
    later: ['passed', 'passed'],
  });
  expect(report.success).toBe(false);
  const failed = report.testResults.find(({ status }) => status === 'failed');
  expect(failed?.message).toContain('outcomes.case.ts:9');
});

test('fails a file that ends its process, changes the environment or cannot be loaded, and runs the others', async () => {
  const report = await runFixtures('ends', 'environment', 'broken', 'later');
  expect(outcomes(report)).toEqual({
    ends: ['failed'],
    environment: ['failed'],
    broken: ['failed'],
    later: ['passed', 'passed'],
  });
  expect(report.success).toBe(false);
  const messages = report.testResults.map(({ message }) => message).join('\n');
  expect(messages).toContain('The test process ended by itself (SIGKILL)');
  expect(messages).toContain('leaves the environment changed: RESTIFY_LEFT');
  expect(messages).toContain('Cannot find module');
});
