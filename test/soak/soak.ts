// npm run trial:soak -- [--minutes 30] [--model full|sample] [--database sqlite|postgres|mariadb]
//     [--platform express|fastify] [--clients 6] [--rate 150] [--seed 1]
// `rate`: requests per second of all clients together. Memory at an even pace can be compared from beginning to end, whatever else
// the machine does; 0 sends as fast as the application answers.
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DataSource } from 'typeorm';
import { ApiDocument } from '../oracle/api-document.js';
import { startSubject } from '../oracle/start-subject.js';
import { findServers } from '../support/find-servers.mjs';
import { launchServers } from '../support/launch-servers.mjs';
import { abortingClient, mixedClient, slowClient } from './clients.js';
import type { Counts } from './clients.js';
import { Pace } from './pace.js';
import { grownFigures, megabytes, sampleMemory } from './memory.js';
import type { MemorySample } from './memory.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    model: { type: 'string', default: 'full' },
    database: { type: 'string', default: 'sqlite' },
    platform: { type: 'string', default: 'express' },
    clients: { type: 'string', default: '6' },
    rate: { type: 'string', default: '150' },
    seed: { type: 'string', default: '1' },
  },
});

function oneOf<Choice extends string>(
  name: 'model' | 'database' | 'platform',
  choices: readonly Choice[],
): Choice {
  const found = choices.find((each) => each === values[name]);
  if (found === undefined) throw new Error(`--${name} is one of ${choices.join(', ')}`);
  return found;
}

interface PooledDriver {
  /** Of pg. */
  readonly master?: { readonly totalCount?: number; readonly idleCount?: number };
  /** Of mysql2. */
  readonly pool?: {
    readonly _allConnections?: { readonly length: number };
    readonly _freeConnections?: { readonly length: number };
  };
}

/** How many connections of the pool are lent out; undefined where there is no pool. */
function lentConnections(dataSource: DataSource): number | undefined {
  const { master, pool } = dataSource.driver as PooledDriver;
  if (master?.totalCount !== undefined) return master.totalCount - (master.idleCount ?? 0);
  const all = pool?._allConnections?.length;
  return all === undefined ? undefined : all - (pool?._freeConnections?.length ?? 0);
}

/** Bytes of a database in memory; 0 where a server has the data. */
async function bytesInMemory(dataSource: DataSource): Promise<number> {
  if (dataSource.options.type !== 'better-sqlite3') return 0;
  const [pages] = await dataSource.query<{ page_count: number }[]>('PRAGMA page_count');
  const [size] = await dataSource.query<{ page_size: number }[]>('PRAGMA page_size');
  return (pages?.page_count ?? 0) * (size?.page_size ?? 0);
}

/** Handles beyond those that were there before. */
function handlesBeyond(before: readonly string[]): readonly string[] {
  const left = [...process.getActiveResourcesInfo()];
  for (const each of before) {
    const index = left.indexOf(each);
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}

if (!globalThis.gc) throw new Error('Start it by npm run trial:soak: memory is measured with --expose-gc');
const database = oneOf('database', ['sqlite', 'postgres', 'mariadb']);
const stopServers = database === 'sqlite' ? undefined : await launchServers();
await findServers();
await wait(500);
const before = process.getActiveResourcesInfo();
const subject = await startSubject({
  model: oneOf('model', ['full', 'sample']),
  database,
  platform: oneOf('platform', ['express', 'fastify']),
});
const pace = new Pace(Number(values.rate));
const counts: Counts = { requests: 0, failures: 0, slow: 0, aborted: 0, examples: [] };
// One for all clients: what is compiled for it is no growth.
const document = new ApiDocument(subject.document);
const begin = Date.now();
const milliseconds = Number(values.minutes) * 60_000;
const end = begin + milliseconds;
const samples: MemorySample[] = [];
const dataSource = subject.app.get(DataSource);
async function takeSample(): Promise<void> {
  const sample = sampleMemory(begin, await bytesInMemory(dataSource));
  samples.push(sample);
  console.log(
    `${sample.seconds} s: ${counts.requests} requests, heap ${megabytes(sample.heap)}, rss ${megabytes(sample.rss)} and ${megabytes(sample.data)} of data`,
  );
}
const sampling = setInterval(() => void takeSample(), milliseconds / 21);
await Promise.all([
  ...Array.from({ length: Number(values.clients) }, (_, index) =>
    mixedClient(subject, counts, { seed: Number(values.seed) + index, end, document, pace }),
  ),
  slowClient(subject, counts, end),
  abortingClient(subject, counts, end),
]);
clearInterval(sampling);
await wait(2000);
const lent = lentConnections(dataSource);
await subject.close();
await wait(2000);
const handles = handlesBeyond(before);
await stopServers?.();

const problems = [
  ...grownFigures(samples),
  ...(counts.failures > 0 ? [`${counts.failures} answers of 5xx:\n  ${counts.examples.join('\n  ')}`] : []),
  ...(lent !== undefined && lent > 0 ? [`${lent} connections of the pool are lent out`] : []),
  ...(handles.length > 0 ? [`left after close: ${handles.join(', ')}`] : []),
];
console.log(
  `${counts.requests} requests (${Math.round(counts.requests / (milliseconds / 1000))} a second), ${counts.slow} slow readers, ${counts.aborted} aborted; 5xx: ${counts.failures}; ` +
    `connections lent out: ${lent ?? 'no pool'}; handles left: ${handles.length}`,
);
for (const problem of problems) console.log(`- ${problem}`);
console.log(problems.length > 0 ? 'FAILED' : 'PASSED');
if (problems.length > 0) process.exitCode = 1;
