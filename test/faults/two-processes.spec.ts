// @tags nest
import { expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';

@Restify('shared')
@Entity('shared_thing')
class Thing {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: 0 })
  count: number;
}

test.each(['delete', 'wal'])(
  'a write waits for another process that writes the same SQLite file: journal mode %s',
  async (mode) => {
    const folder = await mkdtemp(join(tmpdir(), 'restify-two-'));
    const file = join(folder, 'shared.sqlite');
    const started = await startApp({
      entities: [Thing],
      dataSource: { type: 'better-sqlite3', database: file },
    });
    await started.dataSource.query(`PRAGMA journal_mode = ${mode}`);
    await started.client.post('/rest/v1/shared/thing/', {});
    const other = fork(join(process.cwd(), 'test/fixtures/sqlite-writer.cjs'), [file]);
    try {
      await new Promise((resolve) => other.once('message', resolve));
      const answers: number[] = [];
      const end = Date.now() + 1500;
      // Three writes at least, however long each one waits.
      for (let count = 1; count <= 3 || Date.now() < end; count++) {
        answers.push(
          (await started.client.patch('/rest/v1/shared/thing/1/', { count })).status,
          (await started.client.get('/rest/v1/shared/thing/1/')).status,
        );
      }
      expect(new Set(answers)).toEqual(new Set([200]));
      expect(answers.length).toBeGreaterThan(4);
    } finally {
      const ended = new Promise((resolve) => other.once('exit', resolve));
      other.send('stop');
      await ended;
      await started.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
