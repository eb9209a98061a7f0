// @tags db http nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { BeforeInsert, BeforeRemove, Column, Entity, PrimaryColumn } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import type { TestDatabase } from '../support/databases.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const ROWS = 1600;
const ROWS_URL = '/rest/v1/lb/row/';
const HEARD_URL = '/rest/v1/lb/heard/';

@Restify({
  app: 'lb',
  name: 'row',
  bulk: { upsert: ['id'], max: ROWS + 1 },
  filterFields: { id: ['exact', 'gte'], n: ['exact'] },
})
@Entity('lb_row')
class LongRow {
  @PrimaryColumn() id: number;
  @Column({ unique: true }) place: number;
  @Column() n: number;
  /** Its rows are deleted one by one. */
  @BeforeRemove() clear(): void {
    this.n = 0;
  }
}

/** Its rows are inserted one by one. */
@Restify({ app: 'lb', name: 'heard', bulk: { max: ROWS + 1 }, filterFields: { n: ['exact'] } })
@Entity('lb_heard')
class HeardRow {
  @PrimaryColumn() id: number;
  @Column({ unique: true }) place: number;
  @Column() n: number;
  @BeforeInsert() check(): void {
    if (this.n < 0) throw new Error('negative');
  }
}

/** Counts the turns of a timer from the beginning of a transaction to its end. */
class TransactionLog extends StatementLog {
  turns = 0;
  /** Called at the beginning of the next transaction. */
  onBegin: (() => void) | undefined;
  private isOpen = false;

  override logQuery(query: string): void {
    super.logQuery(query);
    if (/^(?:COMMIT|ROLLBACK)/.test(query)) this.isOpen = false;
    if (!/^(?:BEGIN|START)/.test(query)) return;
    this.isOpen = true;
    this.onBegin?.();
    this.onBegin = undefined;
  }

  override clear(): void {
    super.clear();
    this.turns = 0;
  }

  turn(): void {
    if (this.isOpen) this.turns++;
  }
}

/** Drivers of servers wait for each statement without blocking. */
onEachDatabase('a bulk write of many rows', testLongWrites, ['sqlite']);

function testLongWrites(database: TestDatabase): void {
  const log = new TransactionLog();
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({
      entities: [LongRow, HeardRow],
      database,
      dataSource: { logging: true, logger: log },
    });
  });
  beforeEach(() => started.dataSource.createQueryBuilder().delete().from(LongRow).execute());
  afterAll(() => started.close());

  const rows = (n: number): readonly object[] =>
    Array.from({ length: ROWS }, (_, at) => ({ id: at + 1, place: at + 1, n }));
  /** The last one has the place of the first, which only the database finds. */
  const refusedRows = (): readonly object[] => [...rows(4), { id: ROWS + 1, place: 1, n: 4 }];

  /** The turns of a timer inside of the transaction of a write. */
  async function countTurns(status: number, write: () => Promise<Answer>): Promise<number> {
    log.clear();
    const timer = setInterval(() => {
      log.turn();
    }, 1);
    try {
      expect((await write()).status).toBe(status);
    } finally {
      clearInterval(timer);
    }
    return log.turns;
  }

  test('yields to the event loop inside of its transaction', async () => {
    const { client } = started;
    // Few statements, which take too short a time to be seen: between them it can yield.
    await countTurns(201, () => client.post(ROWS_URL, rows(1)));
    expect(log.statements.filter((sql) => sql.startsWith('INSERT'))).toHaveLength(ROWS / 100);
    await countTurns(200, () => client.patch(`${ROWS_URL}?id__gte=1`, { n: 3 }));
    expect(log.statements.filter((sql) => /\bUPDATE\b/.test(sql))).toHaveLength(ROWS / 100);
    await started.dataSource.createQueryBuilder().delete().from(LongRow).execute();
    const turns = {
      refused: await countTurns(400, () => client.post(HEARD_URL, refusedRows())),
      changed: await countTurns(200, async () => {
        await client.post(ROWS_URL, rows(1));
        log.clear();
        return client.patch(ROWS_URL, rows(2));
      }),
      deleted: await countTurns(204, () => client.delete(`${ROWS_URL}?id__gte=1`)),
    };
    expect(Object.entries(turns).filter(([, count]) => count < 1)).toEqual([]);
  }, 60_000);

  test('requests that need no connection are answered meanwhile, and others stay outside of its transaction', async () => {
    const { client } = started;
    const answered: string[] = [];
    const note = async (name: string, answer: Promise<Answer>): Promise<Answer> => {
      const found = await answer;
      answered.push(name);
      return found;
    };
    let others: readonly Promise<Answer>[] = [];
    log.onBegin = () => {
      others = [
        note('options', client.send('OPTIONS', HEARD_URL)),
        note('index', client.get('/rest/v1/')),
        note('created', client.post(HEARD_URL, { id: 9000, place: 9000, n: 5 })),
        note('listed', client.get(`${HEARD_URL}?n=4`)),
      ];
    };
    const refused = await note('refused', client.post(HEARD_URL, refusedRows()));
    expect(refused.status).toBe(400);
    const [options, index, created, listed] = await Promise.all(others);
    expect([options?.status, index?.status, created?.status, listed?.text]).toEqual([200, 200, 201, '[]']);
    const before = answered.slice(0, answered.indexOf('refused'));
    expect(before).toEqual(expect.arrayContaining(['options', 'index']));
    expect((await client.get(HEARD_URL)).text).toBe('[{"id":9000,"place":9000,"n":5}]');
  }, 60_000);
}
