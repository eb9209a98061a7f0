// npm run trial:openapi -- [--model sample|full|wild] [--database sqlite|postgres|mariadb] [--platform express|fastify]
//     [--requests 20000] [--seed <number>]; comma-separated lists run every combination.
import { parseArgs } from 'node:util';
import { findServers } from '../support/find-servers.mjs';
import { launchServers } from '../support/launch-servers.mjs';
import { reportOf } from './report.js';
import { runTrial } from './run-trial.js';
import { startSubject } from './start-subject.js';
import type { SubjectOptions } from './start-subject.js';

const CHOICES = {
  model: ['sample', 'full', 'wild'],
  database: ['sqlite', 'postgres', 'mariadb'],
  platform: ['express', 'fastify'],
} as const;

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'sample,full,wild' },
    database: { type: 'string', default: 'sqlite' },
    platform: { type: 'string', default: 'express' },
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    most: { type: 'string', default: '20' },
    'no-shrink': { type: 'boolean', default: false },
  },
});

function chosen<Name extends keyof typeof CHOICES>(name: Name): readonly (typeof CHOICES)[Name][number][] {
  return values[name].split(',').map((each) => {
    const found = CHOICES[name].find((choice) => choice === each);
    if (found === undefined)
      throw new Error(`--${name} is one of ${CHOICES[name].join(', ')}, and not "${each}"`);
    return found;
  });
}

const runs: readonly SubjectOptions[] = chosen('model').flatMap((model) =>
  chosen('database').flatMap((database) =>
    chosen('platform').map((platform) => ({ model, database, platform })),
  ),
);
const stopServers = runs.some(({ database }) => database !== 'sqlite') ? await launchServers() : undefined;
await findServers();
let failed = false;
for (const run of runs) {
  const begin = Date.now();
  const trial = await runTrial({
    seed: Number(values.seed),
    requests: Number(values.requests),
    most: Number(values.most),
    shrink: !values['no-shrink'],
    start: () => startSubject(run),
  });
  console.log(reportOf(trial, { ...run, seconds: (Date.now() - begin) / 1000 }));
  if (trial.findings.length > 0) failed = true;
}
await stopServers?.();
console.log(failed ? 'FAILED' : 'PASSED');
if (failed) process.exitCode = 1;
