import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { SQLITE_PACKAGE } from '../../scripts/sqlite-package.cjs';
import { PROJECT } from './document.js';

const { SWC_OPTIONS } = createRequire(import.meta.url)('../support/compile-typescript.cjs') as {
  readonly SWC_OPTIONS: object;
};

/** What Jest says of one file. */
export interface SpecResult {
  readonly passed: number;
  readonly failures: readonly string[];
}

/** The part of `--json` that is read. */
interface JestReport {
  readonly numPassedTests: number;
  readonly success: boolean;
  readonly testResults: readonly { readonly message: string; readonly status: string }[];
}

/** Runs a spec that a document shows as an application would: by Jest, in a process of its own, as ES modules. */
export async function runSpec(path: string): Promise<SpecResult> {
  const config = {
    rootDir: dirname(path),
    testEnvironment: 'node',
    // On a machine with other work.
    testTimeout: 60_000,
    testMatch: ['**/*.spec.ts'],
    extensionsToTreatAsEsm: ['.ts'],
    moduleNameMapper: {
      '^nestjs-restify$': join(PROJECT, 'src/index.ts'),
      '^better-sqlite3$': SQLITE_PACKAGE,
      '^(\\.{1,2}/.*)\\.js$': '$1',
    },
    transform: { '^.+\\.ts$': ['@swc/jest', SWC_OPTIONS] },
  };
  const jest = join(PROJECT, 'node_modules/jest/bin/jest.js');
  const options = ['--config', JSON.stringify(config), '--runInBand', '--json', '--runTestsByPath', path];
  const report = await promisify(execFile)(
    process.execPath,
    ['--experimental-vm-modules', '--no-warnings', jest, ...options],
    { cwd: PROJECT },
  ).then(
    ({ stdout }) => stdout,
    // Jest ends with 1 where a test fails, and reports it.
    (error: unknown) => {
      const { stdout, message } = error as Error & { readonly stdout: string };
      if (stdout === '') throw new Error(message, { cause: error });
      return stdout;
    },
  );
  const { numPassedTests, success, testResults } = JSON.parse(report) as JestReport;
  const failures = testResults.filter(({ status }) => status !== 'passed').map(({ message }) => message);
  return { passed: numPassedTests, failures: success || failures.length > 0 ? failures : [report] };
}
