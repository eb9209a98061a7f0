// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { documentsOf } from '../../bench/growth/documents.js';
import { ENTITIES } from '../../bench/growth/entities.js';
import { fillTables } from '../../bench/growth/fill-tables.js';
import { ReadMeasurement } from '../../bench/growth/measure-reads.js';
import { oneConnection, readCounters } from '../../bench/growth/read-counter.js';
import { READS } from '../../bench/growth/reads.js';
import type { Filled, GrowthRead } from '../../bench/growth/reads.js';
import type { OpenedDatabase, TestDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { ReadLog, ScanCounter } from '../support/read-costs.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { WORLD } from '../support/world.js';

/** The statements of the second version set are the same. */
const SIZES = WORLD.name === 'nest-12' ? [10_000, 100_000] : [10_000];
/** Whether SQLite's steps can be counted; else the scans of its plans are. */
const HAS_COMPILER = spawnSync('cc', ['--version']).status === 0;

/** A filled database for several applications, one after the other. */
async function openFilled(database: TestDatabase, size: number): Promise<OpenedDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'restify-growth-'));
  const opened = await database.open();
  const options = oneConnection(
    database.name === 'sqlite'
      ? // A database in memory would be lost with its first application.
        { type: 'better-sqlite3', database: join(folder, 'growth.sqlite') }
      : opened.options,
  );
  const dataSource = new DataSource({
    ...options,
    entities: [...ENTITIES, documentsOf(database.name)],
    synchronize: true,
  });
  await dataSource.initialize();
  await fillTables(dataSource, database.name, size);
  await dataSource.destroy();
  return {
    options,
    drop: async () => {
      await opened.drop();
      rmSync(folder, { recursive: true });
    },
  };
}

class GrowthApp {
  private constructor(
    private readonly started: StartedApp,
    /** One for each unit. */
    readonly measurements: readonly ReadMeasurement[],
  ) {}

  static async start({ options }: OpenedDatabase, filled: Filled): Promise<GrowthApp> {
    const log = filled.database === 'sqlite' && !HAS_COMPILER ? new ReadLog() : undefined;
    const started = await startApp({
      compare: false,
      entities: [...ENTITIES, documentsOf(filled.database)],
      database: {
        name: filled.database,
        missing: undefined,
        open: () => Promise.resolve({ options, drop: () => Promise.resolve() }),
      },
      dataSource: { synchronize: false, ...(log && { logging: ['query'], logger: log }) },
    });
    const { client, dataSource } = started;
    const get = async (path: string): Promise<unknown> => {
      const { status, json } = await client.get(path);
      expect([path, status]).toEqual([path, 200]);
      return json;
    };
    const counters = log ? [new ScanCounter(dataSource, log)] : readCounters(filled.database, dataSource);
    const measurements = counters.map((counter) => new ReadMeasurement(filled, { dataSource, counter, get }));
    return new GrowthApp(started, measurements);
  }

  close(): Promise<void> {
    return this.started.close();
  }
}

/** Of lists of which each request reads the whole table, the smaller size shows as much. */
function readsOf(database: TestDatabase, size: number): readonly GrowthRead[] {
  const reads = READS.filter(({ only }) => only?.includes(database.name) !== false);
  return size === SIZES[0] ? reads : reads.filter(({ grows }) => !grows);
}

onEachDatabase('the cost of a read', (database) => {
  describe.each(SIZES)('of %d orders', (size) => {
    let opened: OpenedDatabase;
    beforeAll(async () => {
      opened = await openFilled(database, size);
    });
    afterAll(() => opened.drop());

    const openApp = (): (() => readonly ReadMeasurement[]) => {
      let app: GrowthApp;
      beforeAll(async () => {
        app = await GrowthApp.start(opened, { database: database.name, size });
      });
      afterAll(() => app.close());
      return () => app.measurements;
    };

    describe('is that of hand-written SQL', () => {
      const measurements = openApp();
      test.each(readsOf(database, size))('for: $what', async (read) => {
        for (const measurement of measurements()) {
          const found = await measurement.compareWithSql(read);
          expect({ ...found, isFair: found.cost <= found.limit }).toEqual({ ...found, isFair: true });
        }
      });
    });

    // PostgreSQL decides by the size of a table whether it keeps a plan; the others plan at each execution.
    if (size === (database.name === 'postgres' ? SIZES.at(-1) : SIZES[0]))
      describe.each([
        ['others', false],
        ['others, on a connection that had them first', true],
      ])('is not more after 20 requests for %s', (_others, isReversed) => {
        const measurements = openApp();
        test.each(READS.filter(({ other }) => other))('for: $what', async (read) => {
          const requests = [{ ...read, ...read.other }, read] as const;
          const [others, request] = isReversed ? [requests[1], requests[0]] : requests;
          for (const measurement of measurements()) {
            const { before, after } = await measurement.repeatAfter(others, request);
            expect(after).toBeLessThanOrEqual(before);
          }
        });
      });
  });
});
