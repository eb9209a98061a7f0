import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { leaveServerCore } from './cores.js';
import { DATABASES, openDatabase } from './databases.js';
import type { BenchDatabase } from './databases.js';
import { LongList, pause } from './long-list.js';
import { machineLine } from './machine.js';
import { table } from './report.js';
import { startServer } from './server-process.js';
import type { RunningServer } from './server-process.js';

const LIST = '/rest/v1/log/entry/';
/** More than a pool has connections. */
const SLOW_READERS = 12;
const MEBIBYTE = 2 ** 20;

/** Follows the resident memory of a process, from outside of it: a process that is busy cannot tell its own. */
class MemoryWatch {
  peak = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly pid: number) {
    this.timer = setInterval(() => {
      this.look();
    }, 10);
  }

  look(): number {
    const pages = Number(readFileSync(`/proc/${this.pid}/statm`, 'utf8').split(' ')[1]);
    const now = pages * 4096;
    this.peak = Math.max(this.peak, now);
    return now;
  }

  stop(): number {
    this.look();
    clearInterval(this.timer);
    return this.peak;
  }
}

async function fill(database: BenchDatabase, rows: number): Promise<void> {
  const key = database.name === 'sqlite' ? 'integer PRIMARY KEY AUTOINCREMENT' : 'serial PRIMARY KEY';
  await database.run(`CREATE TABLE @entry (id ${key}, message varchar(100) NOT NULL, level integer NOT NULL, written_at @instant NOT NULL)`);
  const numbers = database.name === 'sqlite' ? `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT i FROM n` : `SELECT i FROM generate_series(1, ${rows}) AS i`;
  const instant = database.name === 'sqlite' ? "'2022-10-02 09:23:28.297'" : "timestamp '2022-10-02 09:23:28.297'";
  await database.run(`INSERT INTO @entry (message, level, written_at) SELECT 'Message number ' || i, i % 8, ${instant} FROM (${numbers}) AS numbers`);
}

/** The whole list, read as fast as the client can. */
async function readWhole(server: RunningServer, rows: number): Promise<string[]> {
  const small = await LongList.open(server.port, '/rest/v1/log/entry/1/');
  await small.end();
  await pause(500);
  const watch = new MemoryWatch(server.pid);
  const idle = watch.look();
  const list = await LongList.open(server.port, LIST);
  await list.end();
  const peak = watch.stop();
  const { firstByte, milliseconds, bytes, whole } = list;
  if (!whole || list.rows !== rows) throw new Error(`The list is not whole: ${list.rows} rows of ${rows}, ${bytes} bytes`);
  const above = (peak - idle) / MEBIBYTE;
  return [`${firstByte.toFixed(0)} ms (< 100: ${met(firstByte < 100)})`, `${above.toFixed(0)} MiB (≤ 60: ${met(above <= 60)})`, `${(milliseconds / 1000).toFixed(1)} s`, `${(bytes / 1e6).toFixed(0)} MB`];
}

/** More readers than the pool has connections, who hardly read: the server must stay as it was, for others too. */
async function readSlowly(server: RunningServer, seconds: number): Promise<string[]> {
  const watch = new MemoryWatch(server.pid);
  const idle = watch.look();
  const lists = await Promise.all(Array.from({ length: SLOW_READERS }, () => LongList.open(server.port, LIST)));
  for (const list of lists) list.slowDown();
  await pause(1000);
  const settled = watch.look();
  const started = performance.now();
  let [reads, writes, slowest] = [0, 0, 0];
  while (performance.now() - started < seconds * 1000) {
    const asked = performance.now();
    reads += Number((await fetch(`http://127.0.0.1:${server.port}/rest/v1/log/entry/1/`)).status === 200);
    const body = JSON.stringify({ message: 'changed', level: 1 });
    writes += Number((await fetch(`http://127.0.0.1:${server.port}/rest/v1/log/entry/2/`, { method: 'PATCH', body, headers: { 'content-type': 'application/json' } })).status === 200);
    slowest = Math.max(slowest, performance.now() - asked);
    await pause(50);
  }
  const growth = (watch.look() - settled) / MEBIBYTE;
  const peak = (watch.stop() - idle) / MEBIBYTE;
  for (const list of lists) list.leave();
  await pause(1000);
  const before = (await server.usage()).cpuMicroseconds;
  await pause(2000);
  const busy = ((await server.usage()).cpuMicroseconds - before) / 2e6;
  return [`${peak.toFixed(0)} MiB`, `${growth.toFixed(0)} MiB`, `${reads} and ${writes}, the slowest pair ${slowest.toFixed(0)} ms`, `${(busy * 100).toFixed(0)} % of a core`];
}

function met(yes: boolean): string {
  return yes ? 'met' : '**not met**';
}

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' }, database: { type: 'string' }, seconds: { type: 'string', default: '5' }, out: { type: 'string' } } });
const rows = Number(values.rows);
leaveServerCore();
const lines: string[][] = [];
for (const name of DATABASES.filter((each) => values.database === undefined || values.database === each)) {
  const database = await openDatabase(name);
  try {
    await fill(database, rows);
    for (const platform of ['express', 'fastify']) {
      let server: RunningServer;
      try {
        server = await startServer(`dist/bench/servers/memory-${platform}.js`, database.environment);
      } catch (error) {
        lines.push([`${database.version}, ${platform}`, `not available: ${error instanceof Error ? error.message : String(error)}`, '', '', '', '', '', '', '']);
        continue;
      }
      const whole = await readWhole(server, rows);
      const slow = await readSlowly(server, Number(values.seconds));
      lines.push([`${database.version}, ${platform}`, ...whole, ...slow]);
      await server.stop();
    }
  } finally {
    await database.drop();
  }
}
const head = ['', 'first byte', 'peak RSS above idle', 'whole list', 'size', `peak above idle, ${SLOW_READERS} slow readers`, 'growth while they read', 'reads and writes of others meanwhile', 'CPU after they left'];
const report = `${machineLine()}\n\nA list of ${rows.toLocaleString('en-US')} rows.\n\n${table(head, lines)}\n`;
console.log(report);
if (values.out !== undefined) writeFileSync(values.out, report);
process.exit(0);
