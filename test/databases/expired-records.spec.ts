// @tags db nest
import { expect, test } from '@jest/globals';
import { IdempotencyRecord, Restify } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { ReadCosts, ReadLog } from '../support/read-costs.js';
import { startApp } from '../support/start-app.js';

@Restify({ app: 'expiring', idempotency: true })
@Entity('expiring_order')
class Order {
  @PrimaryGeneratedColumn() id: number;
}

const EXPIRED = 2000;
const BATCH = 100;

onEachDatabase('the removal of expired records', (database) => {
  test('reads the removed ones no more, while an old snapshot is open', async () => {
    const log = new ReadLog();
    const started = await startApp({
      database,
      entities: [Order, IdempotencyRecord],
      compare: false,
      dataSource: { logging: true, logger: log },
    });
    const { client, dataSource } = started;
    const records = Array.from({ length: EXPIRED }, (_, at) => ({
      id: String(at).padStart(64, '0'),
      part: 0,
      ends: at + 1,
      answer: '{}',
    }));
    for (let at = 0; at < EXPIRED; at += 500)
      await dataSource
        .createQueryBuilder()
        .insert()
        .into(IdempotencyRecord)
        .values(records.slice(at, at + 500))
        .updateEntity(false)
        .execute();
    const table = dataSource.getMetadata(IdempotencyRecord).tablePath;
    if (database.name === 'postgres') {
      await dataSource.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
      await dataSource.query(`ANALYZE ${table}`);
    }
    // SQLite has one connection, and no snapshot beside it.
    const reader = database.name === 'sqlite' ? undefined : dataSource.createQueryRunner();
    await reader?.startTransaction('REPEATABLE READ');
    await reader?.query(`SELECT count(*) FROM ${table}`);
    const costs: number[] = [];
    for (let request = 1; request < EXPIRED / BATCH; request++) {
      log.clear();
      const { status } = await client.post(
        '/rest/v1/expiring/order/',
        {},
        { headers: { 'idempotency-key': `key-${request}` } },
      );
      expect(status).toBe(201);
      const searches = log.reads.filter(({ sql }) => /^SELECT .*\bends\b.* LIMIT 100/s.test(sql));
      expect(searches).toHaveLength(1);
      costs.push(await new ReadCosts(database.name, dataSource).of(searches));
    }
    await reader?.rollbackTransaction();
    await reader?.release();
    const left = await dataSource.getRepository(IdempotencyRecord).countBy({ part: 0 });
    expect(left).toBe(BATCH + costs.length);
    // Pages, rows or scans. Each search that began at the oldest one would read two pages more than the one before it.
    expect(Math.max(...costs)).toBeLessThanOrEqual((costs[0] ?? 0) + 5);
    await started.close();
  });
});
