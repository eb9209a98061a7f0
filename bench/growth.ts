import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RestifyModule } from 'nestjs-restify';
import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { DataSource } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import { documentsOf } from './growth/documents.js';
import { ENTITIES } from './growth/entities.js';
import { fillTables } from './growth/fill-tables.js';
import type { GrowthDatabase } from './growth/fill-tables.js';
import { OTHERS, ReadMeasurement } from './growth/measure-reads.js';
import type { ReadCost } from './growth/measure-reads.js';
import { openGrowthDatabase } from './growth/open-database.js';
import { oneConnection, readCounters } from './growth/read-counter.js';
import { READS } from './growth/reads.js';
import type { Filled, GrowthRead } from './growth/reads.js';
import { machineLine } from './machine.js';
import { chooseFrom, positive } from './options.js';
import { table } from './report.js';
import { startNest } from './servers/start-nest.js';

const DATABASES = ['postgres', 'mariadb', 'sqlite'] as const;

/** The costs of each read at one size in one unit, and the reads that cost more after others. */
interface SizeResult {
  readonly costs: ReadonlyMap<GrowthRead, ReadCost>;
  readonly dependent: readonly string[];
  readonly unit: string;
}

/** Calls `work` with an application of one connection on a filled database, for each unit that can be counted. */
async function withApp(
  options: DataSourceOptions,
  filled: Filled,
  work: (measurement: ReadMeasurement, unit: string) => Promise<void>,
): Promise<void> {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...options, retryAttempts: 0 }),
      // Its statements after the start would be counted with the first read.
      RestifyModule.forRoot('rest/v1', { missingIndexRows: false, unknownEntities: 'ignore' }),
    ],
  })
  class GrowthApp {}
  const { app, server } = await startNest(GrowthApp, 'fastify');
  try {
    const dataSource = app.get(DataSource);
    const { port } = server.address() as AddressInfo;
    const get = (path: string): Promise<unknown> => readBody(port, path);
    for (const counter of readCounters(filled.database, dataSource))
      await work(new ReadMeasurement(filled, { dataSource, counter, get }), counter.unit);
  } finally {
    await app.close();
  }
}

/** The body as JSON; of a list of all rows nothing, which is read but not kept. */
function readBody(port: number, path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // The server closes connections that were idle while a statement by hand blocked the process.
    get({ host: '127.0.0.1', port, path, agent: false }, (incoming) => {
      if (incoming.statusCode !== 200)
        reject(new Error(`${path} is answered with ${incoming.statusCode ?? 0}`));
      const chunks: Buffer[] = [];
      const isKept = !path.includes('/every');
      incoming.on('data', (chunk: Buffer) => {
        if (isKept) chunks.push(chunk);
      });
      incoming.once('close', () => {
        if (!incoming.complete) reject(new Error(`${path} is broken off`));
        else resolve(isKept ? JSON.parse(Buffer.concat(chunks).toString()) : undefined);
      });
    }).on('error', reject);
  });
}

async function measureSize(filled: Filled): Promise<readonly SizeResult[]> {
  const { database, size } = filled;
  console.error(`${database}: ${size} orders`);
  const place = await openGrowthDatabase(database);
  try {
    const entities = [...ENTITIES, documentsOf(database)];
    const options = { ...oneConnection(place.options), entities } as DataSourceOptions;
    const filling = new DataSource({ ...options, synchronize: true });
    await filling.initialize();
    await fillTables(filling, database, size).finally(() => filling.destroy());
    const results: SizeResult[] = [];
    const repeat = async (measurement: ReadMeasurement, isReversed: boolean): Promise<readonly string[]> => {
      const dependent: string[] = [];
      for (const read of READS.filter(({ other }) => other)) {
        const requests = [{ ...read, ...read.other }, read] as const;
        const [others, request] = isReversed ? [requests[1], requests[0]] : requests;
        const { before, after } = await measurement.repeatAfter(others, request, otherRequests);
        if (after > before) dependent.push(`${read.what}: ${before}, then ${after}`);
      }
      return dependent;
    };
    await withApp(options, filled, async (measurement, unit) => {
      const costs = new Map<GrowthRead, ReadCost>();
      for (const read of READS.filter(({ only }) => only?.includes(database) !== false)) {
        const found = await measurement.compareWithSql(read);
        costs.set(read, found);
        console.error(`  ${read.what}: ${found.cost} / ${found.byHand} ${unit}`);
      }
      results.push({ costs, dependent: await repeat(measurement, false), unit });
    });
    await withApp(options, filled, async (measurement, unit) => {
      results.push({ costs: new Map(), dependent: await repeat(measurement, true), unit });
    });
    return results;
  } finally {
    await place.drop();
  }
}

/** `7 8 8 / 3 3 3`: what the read costs at each size, and what SQL by hand does. Above the limit it is bold. */
function cellOf(read: GrowthRead, results: readonly SizeResult[]): string {
  const costs = results.flatMap(({ costs: found }) => found.get(read) ?? []);
  if (costs.length === 0) return 'not measured';
  const listed = (values: readonly number[]): string =>
    values.map((value) => value.toLocaleString('en')).join(' ');
  const text = `${listed(costs.map(({ cost }) => cost))} / ${listed(costs.map(({ byHand }) => byHand))}`;
  return costs.some(({ cost, limit }) => cost > limit) ? `**${text}**` : text;
}

const { values } = parseArgs({
  options: {
    database: { type: 'string' },
    sizes: { type: 'string', default: '10000,100000,1000000' },
    others: { type: 'string', default: String(OTHERS) },
    out: { type: 'string' },
  },
});
const databases: readonly GrowthDatabase[] = chooseFrom(DATABASES, values.database, 'database');
const otherRequests = positive(values.others, 'others');
const sizes = values.sizes.split(',').map((size) => positive(size, 'sizes'));
/** By the database and the unit. */
const results = new Map<string, SizeResult[]>();
for (const database of databases)
  for (const size of sizes)
    for (const found of await measureSize({ database, size })) {
      const column = `${database}: ${found.unit}`;
      results.set(column, [...(results.get(column) ?? []), found]);
    }
const all = [...results.values()];
const rows = READS.map((read) => [read.what, read.index, ...all.map((found) => cellOf(read, found))]);
const dependent = all.flat().flatMap((each) => each.dependent);
const isAbove = all.flat().some(({ costs }) => [...costs.values()].some(({ cost, limit }) => cost > limit));
const report = [
  machineLine(false),
  `${sizes.map((size) => size.toLocaleString('en')).join(', ')} orders. What a read costs / what SQL by hand costs.`,
  table(['read', 'index', ...results.keys()], rows),
  `More after ${otherRequests} other requests on the same connection: ${dependent.length === 0 ? 'none' : dependent.join('; ')}.`,
].join('\n\n');
console.log(report);
if (values.out !== undefined) writeFileSync(values.out, `${report}\n`);
process.exit(dependent.length > 0 || isAbove ? 1 : 0);
