import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { leaveServerCore } from './cores.js';
import { loadPath } from './load.js';
import { machineLine } from './machine.js';
import { median, table } from './report.js';
import { startServer } from './server-process.js';
import type { RunningServer } from './server-process.js';

const SERVER = 'dist/bench/servers/boot.js';
const TYPEORM_SERVER = 'dist/bench/servers/boot-typeorm.js';
/** Enough requests for compilation and the first major garbage collections, and enough to average a single one. */
const WARM_UP = 20_000;
const MEASURED_REQUESTS = 2000;
/** Short alternating rounds, because the load of the machine changes within seconds: the ratio is computed for each pair. */
const TURNS = 8;
const MEBIBYTE = 2 ** 20;

const KINDS = ['restify', 'by-hand', 'empty-typeorm', 'empty', 'typeorm'] as const;

type Kind = (typeof KINDS)[number];

interface Application {
  readonly platform: string;
  readonly entities: number;
  readonly relations: number;
}

interface StartCost {
  /** Of the process from its creation, with all modules that it loads, in milliseconds. */
  readonly cpu: number;
  /** From the first decorator to the open port, in milliseconds. */
  readonly wall: number;
  readonly rssBytes: number;
}

function start(kind: Kind, { platform, entities, relations }: Application): Promise<RunningServer> {
  return startServer(kind === 'typeorm' ? TYPEORM_SERVER : SERVER, {
    BOOT_KIND: kind,
    BOOT_PLATFORM: platform,
    BOOT_ENTITIES: String(entities),
    BOOT_RELATIONS: String(relations),
  });
}

/** The medians of several fresh processes, started alternately, so that other load on the machine affects all alike. */
async function startCosts(
  application: Application,
  rounds: number,
): Promise<Readonly<Record<Kind, StartCost>>> {
  const found = new Map<Kind, StartCost[]>(KINDS.map((kind) => [kind, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [kind, costs] of found) {
      const server = await start(kind, application);
      const { cpuMicroseconds } = await server.usage();
      const { milliseconds: wall = 0, rssBytes = 0 } = server.facts;
      costs.push({ cpu: cpuMicroseconds / 1000, wall, rssBytes });
      await server.stop();
    }
  }
  return Object.fromEntries([...found].map(([kind, costs]) => [kind, middleOf(costs)])) as Readonly<
    Record<Kind, StartCost>
  >;
}

function middleOf(costs: readonly StartCost[]): StartCost {
  const middle = (name: keyof StartCost): number => median(costs.map((cost) => cost[name])) ?? 0;
  return { cpu: middle('cpu'), wall: middle('wall'), rssBytes: middle('rssBytes') };
}

interface RequestCost {
  readonly large: number;
  readonly small: number;
  /** The median of the ratios of all pairs of rounds. */
  readonly ratio: number;
}

/** CPU per request: the last of many entities, alternating with the only entity of a small application. */
async function requestCost(application: Application, rounds: number): Promise<RequestCost> {
  const { entities } = application;
  const large = await start('restify', application);
  const small = await start('restify', { ...application, entities: 1 });
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

function cost({ cpu, wall, rssBytes }: StartCost): string {
  return `${cpu.toFixed(0)} (${wall.toFixed(0)}) ms, ${(rssBytes / MEBIBYTE).toFixed(0)} MiB`;
}

function against(value: number, limit: number): string {
  return `${value.toFixed(2)} (≤ ${limit}: ${value <= limit ? 'met' : '**not met**'})`;
}

const { values } = parseArgs({
  options: {
    entities: { type: 'string', default: '500' },
    relations: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    'start-only': { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const relations = Number(values.relations);
const rounds = Number(values.rounds);
leaveServerCore();
const starts: string[][] = [];
const requests: string[][] = [];
for (const platform of ['express', 'fastify']) {
  try {
    for (const entities of [1, Number(values.entities)]) {
      const found = await startCosts({ platform, entities, relations }, rounds);
      const { restify } = found;
      starts.push([
        `${platform}, ${entities}`,
        cost(restify),
        cost(found['by-hand']),
        against(restify.cpu / found['by-hand'].cpu, 1.2),
        cost(found['empty-typeorm']),
        against(restify.cpu / found['empty-typeorm'].cpu, 1.5),
        cost(found.empty),
        cost(found.typeorm),
        against(restify.cpu / found.typeorm.cpu, 2.5),
      ]);
    }
    if (values['start-only']) continue;
    const application = { platform, entities: Number(values.entities), relations };
    const { large, small, ratio } = await requestCost(application, rounds);
    requests.push([platform, `${large.toFixed(0)} µs`, `${small.toFixed(0)} µs`, against(ratio, 1.15)]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    starts.push([platform, `not available: ${reason}`, '', '', '', '', '', '', '']);
  }
}
const startHead = [
  'entities',
  'start: CPU of the process (time), memory',
  'written by hand',
  'ratio of CPU',
  'empty controllers, and TypeORM with the entities',
  'ratio of CPU',
  'empty controllers alone',
  'TypeORM alone, without Nest',
  'ratio of CPU',
];
const requestHead = ['', 'request to the last entity', 'to the only one', 'ratio'];
const report = `${machineLine()}

Entities of 8 columns and ${relations} relations, SQLite.

${table(startHead, starts)}
${requests.length > 0 ? `\n${table(requestHead, requests)}\n` : ''}`;
console.log(report);
if (values.out !== undefined) writeFileSync(values.out, report);
process.exit(0);
