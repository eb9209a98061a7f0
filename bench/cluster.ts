import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { loadAmount, loadSeconds } from './load.js';
import { pause } from './long-list.js';
import { machineLine } from './machine.js';
import { chooseFrom, positive } from './options.js';
import { spent } from './process-cpu.js';
import { median, range, table } from './report.js';
import { startSampleCluster } from './sample-cluster.js';
import type { SampleCluster } from './sample-cluster.js';
import { openSampleDatabase } from './sample-database.js';
import type { SampleDatabase } from './sample-database.js';
import { COMMON, RESTIFY } from './styles.js';
import { writes } from './workloads.js';
import type { Workload } from './workloads.js';

const DEFAULT_WORKLOADS = 'retrieve,list-100,nested,through,create,update';

/** One round of one cluster. CPU in microseconds per request. */
interface Round {
  readonly requestsPerSecond: number;
  readonly workersCpu: number | undefined;
  readonly supervisorCpu: number | undefined;
  readonly databaseCpu: number | undefined;
}

interface Settings {
  readonly seconds: number;
  readonly rounds: number;
  readonly warmUp: number;
}

/** Alternates rounds of all clusters, so that other load on the machine affects all alike. The others are idle meanwhile. */
async function measure(
  workload: Workload,
  clusters: readonly SampleCluster[],
  { database, settings }: { readonly database: SampleDatabase; readonly settings: Settings },
): Promise<readonly (readonly Round[])[]> {
  const measured = clusters.map((cluster) => ({ cluster, amount: 0, rounds: new Array<Round>() }));
  for (const each of measured) {
    await loadSeconds(each.cluster.port, RESTIFY, { workload, seconds: settings.warmUp });
    const { requests, seconds } = await loadSeconds(each.cluster.port, RESTIFY, { workload, seconds: 1 });
    each.amount = Math.ceil((requests / seconds) * settings.seconds);
    // Requests that were still running at the end of a timed load.
    await pause(500);
  }
  for (let round = 0; round < settings.rounds; round++) {
    const first = round % measured.length;
    for (const each of [...measured.slice(first), ...measured.slice(0, first)]) {
      if (writes(workload)) await database.restore();
      each.rounds.push(await roundOf(workload, each.cluster, { database, amount: each.amount }));
    }
  }
  await database.restore();
  return measured.map(({ rounds }) => rounds);
}

async function roundOf(
  workload: Workload,
  cluster: SampleCluster,
  { database, amount }: { readonly database: SampleDatabase; readonly amount: number },
): Promise<Round> {
  const look = async () => ({
    own: cluster.cpu(),
    database: await database.cpuByProcess(cluster.application),
  });
  const before = await look();
  const { requests, seconds } = await loadAmount(cluster.port, RESTIFY, { workload, amount });
  const after = await look();
  return {
    requestsPerSecond: requests / seconds,
    workersCpu: before.own && after.own && spent(before.own.workers, after.own.workers) / requests,
    supervisorCpu: before.own && after.own && spent(before.own.supervisor, after.own.supervisor) / requests,
    databaseCpu: before.database && after.database && spent(before.database, after.database) / requests,
  };
}

function lineOf(
  title: string,
  { workers }: SampleCluster,
  { rounds, alone }: { readonly rounds: readonly Round[]; readonly alone: number | undefined },
): string[] {
  const speeds = rounds.map(({ requestsPerSecond }) => requestsPerSecond);
  const cpu = (figure: (round: Round) => number | undefined): string =>
    range(rounds.flatMap((round) => figure(round) ?? []));
  const times = alone === undefined ? '–' : ((median(speeds) ?? 0) / alone).toFixed(2);
  return [
    title,
    String(workers),
    range(speeds),
    range(speeds.map((speed) => speed / workers)),
    times,
    cpu(({ workersCpu }) => workersCpu),
    cpu(({ workersCpu }) => workersCpu && 1e6 / workersCpu),
    cpu(({ supervisorCpu }) => supervisorCpu),
    cpu(({ databaseCpu }) => databaseCpu),
  ];
}

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2' },
    workloads: { type: 'string', default: DEFAULT_WORKLOADS },
    replica: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '3' },
    out: { type: 'string' },
  },
});
const counts = values.workers.split(',').map((text) => positive(text.trim(), 'workers'));
const workloads = chooseFrom(
  COMMON.filter((name) => name !== 'constant'),
  values.workloads,
  'workloads',
);
const settings: Settings = {
  seconds: positive(values.seconds, 'seconds'),
  rounds: positive(values.rounds, 'rounds'),
  warmUp: positive(values['warm-up'], 'warm-up'),
};
const database = await openSampleDatabase(values.replica);
const clusters: SampleCluster[] = [];
const lines: string[][] = [];
try {
  // In sequence: the first one creates the tables.
  for (const count of counts) clusters.push(await startSampleCluster(count, database.environment));
  await database.fill();
  for (const workload of workloads) {
    const measured = await measure(workload, clusters, { database, settings });
    const single = measured[clusters.findIndex(({ workers }) => workers === 1)];
    const alone = single && median(single.map(({ requestsPerSecond }) => requestsPerSecond));
    clusters.forEach((cluster, at) =>
      lines.push(lineOf(workload, cluster, { rounds: measured[at] ?? [], alone })),
    );
  }
} finally {
  for (const cluster of clusters) await cluster.stop();
  await database.drop();
}
const head = [
  '',
  'workers',
  'requests/s',
  'of each worker',
  'times one worker',
  'CPU of the workers, µs a request',
  'requests a second of their CPU',
  'CPU of the supervisor',
  'of the database',
];
const report = `${machineLine(false)}\n${database.version}. ${settings.rounds} rounds of about ${settings.seconds} s for each figure: median (lowest–highest).\n\nThe sample application as a cluster behind one port. Workers, supervisor, database and the load share the cores of this machine.\n\n${table(head, lines)}\n`;
console.log(report);
if (values.out !== undefined) writeFileSync(values.out, report);
