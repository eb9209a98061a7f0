// @tags db nest
import { expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DataSourceOptions } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { PAGES, startWriting } from './writing-process.js';
import type { WritingProcess } from './writing-process.js';

const CALLERS = 4;

/** Writes one object, a list, and changes in turn, until the process is gone. */
async function write({ client }: WritingProcess, caller: string): Promise<void> {
  for (let count = 0; ; count++) {
    const text = `${caller}-${count}`;
    try {
      const { status, json } = await client.post(PAGES, { text });
      const list = [{ text: `${text}-first` }, { text: `${text}-second` }];
      if (status !== 201 || (await client.post(PAGES, list)).status !== 201)
        throw new Error(`${status}: ${JSON.stringify(json)}`);
    } catch (error) {
      if (error instanceof Error && /^\d+:/.test(error.message)) throw error;
      return;
    }
  }
}

async function linesOf(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean);
}

onEachDatabase('a process that is killed while it writes', (database) => {
  test('has called afterCommit only for what is committed, and once for each write at most', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'restify-killed-'));
    const file = join(folder, 'committed.txt');
    const opened = await database.open();
    const options = (
      database.name === 'sqlite'
        ? { ...opened.options, database: join(folder, 'works.sqlite') }
        : opened.options
    ) as Partial<DataSourceOptions>;
    try {
      for (const [round, lines] of [10, 75].entries()) {
        const running = await startWriting(options, file);
        const callers = Array.from({ length: CALLERS }, (_, caller) => write(running, `${round}-${caller}`));
        while ((await linesOf(file)).length < lines) await pause(5);
        await running.end();
        await Promise.all(callers);
      }
      const called = await linesOf(file);
      expect(called.length).toBeGreaterThanOrEqual(75);
      expect(new Set(called).size).toBe(called.length);
      const after = await startWriting(options);
      try {
        const stored = (await after.client.get(PAGES)).json as readonly { text: string }[];
        const texts = new Set(stored.map(({ text }) => text));
        expect(called.filter((text) => !texts.has(text))).toEqual([]);
      } finally {
        await after.end();
      }
    } finally {
      await opened.drop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
