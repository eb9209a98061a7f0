import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { leaveServerCore } from './cores.js';
import { loadPath } from './load.js';
import { machineLine } from './machine.js';
import { median, table } from './report.js';
import { startServer } from './server-process.js';
import type { RunningServer } from './server-process.js';

const SERVER = 'dist/bench/servers/boot.js';
/** Enough requests for compilation and the first major garbage collections, and enough to average a single one. */
const WARM_UP = 20_000;
const MEASURED_REQUESTS = 2000;
/** Short alternating rounds, because the load of the machine changes within seconds: the ratio is computed for each pair. */
const TURNS = 8;

const KINDS = ['restify', 'empty-typeorm', 'empty'] as const;

type Kind = (typeof KINDS)[number];

interface Start {
  readonly kind: Kind;
  readonly platform: string;
  readonly entities: number;
}

interface StartTime {
  readonly cpu: number;
  readonly wall: number;
}

function start({ kind, platform, entities }: Start): Promise<RunningServer> {
  return startServer(SERVER, { BOOT_KIND: kind, BOOT_PLATFORM: platform, BOOT_ENTITIES: String(entities) });
}

/** The medians of several fresh processes, started alternately, so that other load on the machine affects all alike. */
async function startTimes(
  platform: string,
  { entities, rounds }: { readonly entities: number; readonly rounds: number },
): Promise<Readonly<Record<Kind, StartTime>>> {
  const found = {
    restify: new Array<StartTime>(),
    'empty-typeorm': new Array<StartTime>(),
    empty: new Array<StartTime>(),
  };
  for (let round = 0; round < rounds; round++) {
    for (const kind of KINDS) {
      const server = await start({ kind, platform, entities });
      const { milliseconds: wall = 0, cpuMilliseconds: cpu = 0 } = server.facts;
      found[kind].push({ cpu, wall });
      await server.stop();
    }
  }
  const middle = (times: readonly StartTime[]): StartTime => ({
    cpu: median(times.map(({ cpu }) => cpu)) ?? 0,
    wall: median(times.map(({ wall }) => wall)) ?? 0,
  });
  return {
    restify: middle(found.restify),
    'empty-typeorm': middle(found['empty-typeorm']),
    empty: middle(found.empty),
  };
}

interface RequestCost {
  readonly large: number;
  readonly small: number;
  /** The median of the ratios of all pairs of rounds. */
  readonly ratio: number;
}

/** CPU per request: the last of many entities, alternating with the only entity of a small application. */
async function requestCost(
  platform: string,
  { entities, rounds }: { readonly entities: number; readonly rounds: number },
): Promise<RequestCost> {
  const large = await start({ kind: 'restify', platform, entities });
  const small = await start({ kind: 'restify', platform, entities: 1 });
  const pairs = [
    { server: large, path: `/rest/v1/big/model${entities - 1}/1/`, costs: new Array<number>() },
    { server: small, path: '/rest/v1/big/model0/1/', costs: new Array<number>() },
  ];
  for (const { server, path } of pairs) await loadPath(server.port, path, WARM_UP);
  for (let turn = 0; turn < rounds * TURNS; turn++) {
    for (const { server, path, costs } of turn % 2 === 0 ? pairs : pairs.toReversed()) {
      const before = (await server.usage()).cpuMicroseconds;
      const { requests } = await loadPath(server.port, path, MEASURED_REQUESTS);
      costs.push(((await server.usage()).cpuMicroseconds - before) / requests);
    }
  }
  await Promise.all(pairs.map(({ server }) => server.stop()));
  const [many = [], one = []] = pairs.map(({ costs }) => costs);
  return {
    large: median(many) ?? 0,
    small: median(one) ?? 0,
    ratio: median(many.map((cost, at) => cost / (one[at] ?? cost))) ?? 0,
  };
}

function both({ cpu, wall }: StartTime): string {
  return `${cpu.toFixed(0)} (${wall.toFixed(0)}) ms`;
}

function against(value: number, limit: number): string {
  return `${value.toFixed(2)} (≤ ${limit}: ${value <= limit ? 'met' : '**not met**'})`;
}

const { values } = parseArgs({
  options: {
    entities: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '5' },
    out: { type: 'string' },
  },
});
const entities = Number(values.entities);
const rounds = Number(values.rounds);
leaveServerCore();
const lines: string[][] = [];
for (const platform of ['express', 'fastify']) {
  try {
    const {
      restify: ours,
      'empty-typeorm': typeOrm,
      empty,
    } = await startTimes(platform, { entities, rounds });
    const { large, small, ratio } = await requestCost(platform, { entities, rounds });
    lines.push([
      platform,
      both(ours),
      both(typeOrm),
      against(ours.cpu / typeOrm.cpu, 1.5),
      both(empty),
      (ours.cpu / empty.cpu).toFixed(2),
      `${large.toFixed(0)} µs`,
      `${small.toFixed(0)} µs`,
      against(ratio, 1.15),
    ]);
  } catch (error) {
    lines.push([
      platform,
      `not available: ${error instanceof Error ? error.message : String(error)}`,
      '',
      '',
      '',
      '',
      '',
      '',
      '',
    ]);
  }
}
const head = [
  '',
  'start: CPU (time)',
  'empty controllers, and TypeORM with the entities',
  'ratio of CPU',
  'empty controllers alone',
  'ratio of CPU',
  'request to the last entity',
  'to the only one',
  'ratio',
];
const report = `${machineLine()}\n\n${entities} entities of 8 columns and 2 relations, SQLite.\n\n${table(head, lines)}\n`;
console.log(report);
if (values.out !== undefined) writeFileSync(values.out, report);
process.exit(0);
