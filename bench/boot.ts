import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { leaveServerCore } from './cores.js';
import { loadPath } from './load.js';
import { machineLine } from './machine.js';
import { median, table } from './report.js';
import { startServer } from './server-process.js';
import type { RunningServer } from './server-process.js';

const SERVER = 'dist/bench/servers/boot.js';
/** Of an entity with one nested list, each with a handler for every verb; used where the routes cannot be counted. */
const ROUTES_OF_AN_ENTITY = 30;

interface Start {
  readonly kind: 'restify' | 'empty' | 'empty-typeorm';
  readonly platform: string;
  readonly entities: number;
  readonly routes?: number;
}

function start({ kind, platform, entities, routes = 0 }: Start): Promise<RunningServer> {
  return startServer(SERVER, { BOOT_KIND: kind, BOOT_PLATFORM: platform, BOOT_ENTITIES: String(entities), BOOT_ROUTES: String(routes) });
}

/** The median of what several fresh processes needed. */
async function startTime(asked: Start, rounds: number): Promise<{ readonly milliseconds: number; readonly routes: number }> {
  const found: Readonly<Record<string, number>>[] = [];
  for (let round = 0; round < rounds; round++) {
    const server = await start(asked);
    found.push(server.facts);
    await server.stop();
  }
  return { milliseconds: median(found.map(({ milliseconds = 0 }) => milliseconds)) ?? 0, routes: found[0]?.routes ?? 0 };
}

/** CPU per request: the last of many entities in turns with the only one of a small application. */
async function requestCost(platform: string, { entities, rounds }: { readonly entities: number; readonly rounds: number }): Promise<readonly [large: number, small: number]> {
  const large = await start({ kind: 'restify', platform, entities });
  const small = await start({ kind: 'restify', platform, entities: 1 });
  const pairs = [
    { server: large, path: `/rest/v1/big/model${entities - 1}/1/`, costs: new Array<number>() },
    { server: small, path: '/rest/v1/big/model0/1/', costs: new Array<number>() },
  ];
  for (const { server, path } of pairs) await loadPath(server.port, path, 1500);
  for (let round = 0; round < rounds; round++) {
    for (const { server, path, costs } of pairs) {
      const before = (await server.usage()).cpuMicroseconds;
      const { requests } = await loadPath(server.port, path, 1500);
      costs.push(((await server.usage()).cpuMicroseconds - before) / requests);
    }
  }
  await Promise.all(pairs.map(({ server }) => server.stop()));
  return [median(pairs[0]?.costs ?? []) ?? 0, median(pairs[1]?.costs ?? []) ?? 0];
}

function against(value: number, limit: number): string {
  return `${value.toFixed(2)} (≤ ${limit}: ${value <= limit ? 'met' : '**not met**'})`;
}

const { values } = parseArgs({ options: { entities: { type: 'string', default: '500' }, rounds: { type: 'string', default: '3' }, out: { type: 'string' } } });
const entities = Number(values.entities);
const rounds = Number(values.rounds);
leaveServerCore();
const lines: string[][] = [];
for (const platform of ['express', 'fastify']) {
  try {
    const ours = await startTime({ kind: 'restify', platform, entities }, rounds);
    const routes = ours.routes > 0 ? ours.routes : entities * ROUTES_OF_AN_ENTITY;
    const empty = await startTime({ kind: 'empty', platform, entities, routes }, rounds);
    const typeOrm = await startTime({ kind: 'empty-typeorm', platform, entities, routes }, rounds);
    const [large, small] = await requestCost(platform, { entities, rounds });
    const start = `${ours.milliseconds.toFixed(0)} ms`;
    lines.push([platform, String(routes), start, `${empty.milliseconds.toFixed(0)} ms`, against(ours.milliseconds / empty.milliseconds, 1.5), `${typeOrm.milliseconds.toFixed(0)} ms`, (ours.milliseconds / typeOrm.milliseconds).toFixed(2), `${large.toFixed(0)} µs`, `${small.toFixed(0)} µs`, against(large / small, 1.15)]);
  } catch (error) {
    lines.push([platform, `not available: ${error instanceof Error ? error.message : String(error)}`, '', '', '', '', '', '', '', '']);
  }
}
const head = ['', 'routes', 'start', 'empty controllers', 'ratio', 'empty controllers, and TypeORM with the entities', 'ratio', 'request to the last entity', 'to the only one', 'ratio'];
const report = `${machineLine()}\n\n${entities} entities of 8 columns and 2 relations, SQLite.\n\n${table(head, lines)}\n`;
console.log(report);
if (values.out !== undefined) writeFileSync(values.out, report);
process.exit(0);
