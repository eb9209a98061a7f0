import type { BenchDatabase } from './databases.js';
import { LongList, pause } from './long-list.js';
import type { ProcessWatch } from './memory-watch.js';
import { median } from './report.js';
import type { RunningServer } from './server-process.js';

export const PLAIN_LIST = '/rest/v1/log/entry/';
/** More clients than a pool has connections. */
export const SLOW_READERS = 12;
/** The number of consecutive lists, over which a leak would accumulate. */
const LISTS = 3;
const FIRST_BYTES = 9;
const ROUNDS_OF_LEAVING = 40;

/** A goal, and its measurement. */
export interface Goal {
  readonly name: string;
  readonly met: boolean;
  readonly measured: string;
}

export interface Measuring {
  readonly server: RunningServer;
  readonly watch: ProcessWatch;
  readonly database: BenchDatabase;
  readonly rows: number;
  readonly seconds: number;
}

/** Measures all goals on a server that has just been started. */
export async function measureGoals(measuring: Measuring): Promise<Goal[]> {
  const whole = await readWhole(measuring, PLAIN_LIST, LISTS);
  return [
    await firstByte(measuring, whole.firstByte),
    {
      name: `at most 60 MiB above idle, over ${LISTS} whole lists`,
      met: whole.peak <= 60,
      measured: `${whole.peak.toFixed(0)} MiB`,
    },
    ...(await readSlowly(measuring)),
    ...(await leave(measuring)),
    await breakOff(measuring),
  ];
}

export interface Whole {
  /** Of the first list of the server, in milliseconds. */
  readonly firstByte: number;
  /** MiB above the idle server. */
  readonly peak: number;
  /** Of the last list. */
  readonly milliseconds: number;
  /** CPU of the server process for all lists. */
  readonly cpuMilliseconds: number;
  readonly bytes: number;
  readonly rows: number;
}

/** Reads lists as fast as possible, from a server that has served one small request before. */
export async function readWhole(
  { server, watch, rows }: Pick<Measuring, 'server' | 'watch' | 'rows'>,
  path: string,
  lists = 1,
): Promise<Whole> {
  const small = await LongList.open(server.port, `${PLAIN_LIST}1/`);
  await small.end();
  await pause(500);
  const idle = watch.rss();
  watch.forgetPeak();
  const { cpuMicroseconds } = await server.usage();
  const first = await readList(server.port, path, rows);
  let last = first;
  for (let count = 1; count < lists; count++) last = await readList(server.port, path, rows);
  const { milliseconds, bytes } = last;
  return {
    firstByte: first.firstByte,
    peak: watch.peak() - idle,
    milliseconds,
    cpuMilliseconds: ((await server.usage()).cpuMicroseconds - cpuMicroseconds) / 1000,
    bytes,
    rows: last.rows,
  };
}

async function readList(port: number, path: string, rows: number): Promise<LongList> {
  const list = await LongList.open(port, path);
  await list.end();
  if (!list.whole || list.rows < rows / 2)
    throw new Error(`The list is not whole: ${list.rows} rows, ${list.bytes} bytes`);
  return list;
}

/** The times to the first byte in milliseconds, of clients that disconnect after it. */
export async function firstBytes(port: number, path: string, count = FIRST_BYTES): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < count; at++) {
    const list = await LongList.open(port, path);
    times.push(list.firstByte);
    list.leave();
    await pause(100);
  }
  return times;
}

async function firstByte({ server }: Measuring, cold: number): Promise<Goal> {
  const times = await firstBytes(server.port, PLAIN_LIST);
  const middle = median(times) ?? 0;
  return {
    name: `first byte under 100 ms: median of ${FIRST_BYTES}`,
    met: middle < 100,
    measured: `${middle.toFixed(0)} ms (highest ${Math.max(...times).toFixed(0)}, the very first list ${cold.toFixed(0)})`,
  };
}

/** More slow readers than the pool has connections: neither the memory of the server nor other clients may be affected. */
async function readSlowly({ server, watch, database, seconds }: Measuring): Promise<Goal[]> {
  const idle = watch.rss();
  watch.forgetPeak();
  const lists = await Promise.all(
    Array.from({ length: SLOW_READERS }, () => LongList.open(server.port, PLAIN_LIST)),
  );
  for (const list of lists) list.slowDown();
  await pause(2000);
  const settled = watch.rss();
  const started = performance.now();
  let [requested, answered, slowest, longest] = [0, 0, 0, 0];
  while (performance.now() - started < seconds * 1000) {
    const begun = performance.now();
    const statuses = [
      await status(server.port, 1),
      await status(server.port, 2, { message: 'changed', level: 1 }),
    ];
    slowest = Math.max(slowest, performance.now() - begun);
    requested += statuses.length;
    answered += statuses.filter((each) => each === 200).length;
    longest = Math.max(longest, await longestStatement(database, server));
    await pause(50);
  }
  const growth = watch.rss() - settled;
  const peak = watch.peak() - idle;
  for (const list of lists) list.leave();
  return [
    {
      name: `${SLOW_READERS} slow readers: at most 60 MiB above the server before them`,
      met: peak <= 60,
      measured: `${peak.toFixed(0)} MiB`,
    },
    {
      name: `… and no growth (at most 15 MiB) in ${seconds} s of reading`,
      met: growth <= 15,
      measured: `${growth.toFixed(0)} MiB`,
    },
    {
      name: '… reads and writes of others all answered',
      met: answered === requested,
      measured: `${answered} of ${requested}, the slowest pair ${slowest.toFixed(0)} ms`,
    },
    {
      name: '… no connection of the pool kept (a statement or transaction of 1 s)',
      met: longest < 1000,
      measured: database.name === 'sqlite' ? 'there is one for all' : `at most ${longest.toFixed(0)} ms`,
    },
  ];
}

async function status(port: number, id: number, change?: object): Promise<number> {
  const options = change
    ? { method: 'PATCH', body: JSON.stringify(change), headers: { 'content-type': 'application/json' } }
    : {};
  const response = await fetch(`http://127.0.0.1:${port}${PLAIN_LIST}${id}/`, options);
  await response.arrayBuffer();
  return response.status;
}

/** The age in milliseconds of the server's oldest statement or transaction in the database. */
async function longestStatement(database: BenchDatabase, { application }: RunningServer): Promise<number> {
  if (database.name === 'sqlite') return 0;
  const [found] = await database.rows(
    `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) * 1000 AS age FROM pg_stat_activity WHERE application_name = '${application}'`,
  );
  return Number(found?.age);
}

/** Clients that disconnect during the response, several times: no resources may remain. */
async function leave({ server, watch }: Measuring): Promise<Goal[]> {
  // The connections of small requests are kept alive: for 5 seconds by Node's server, for 72 seconds by Fastify's.
  const standing = watch.clients(server.port);
  const resident: number[] = [];
  for (let round = 0; round < ROUNDS_OF_LEAVING; round++) {
    const lists = await Promise.all(
      Array.from({ length: SLOW_READERS }, () => LongList.open(server.port, PLAIN_LIST)),
    );
    await pause(300);
    for (const list of lists) list.leave();
    await pause(300);
    resident.push(watch.rss());
  }
  await pause(1000);
  const before = (await server.usage()).cpuMicroseconds;
  await pause(2000);
  const busy = ((await server.usage()).cpuMicroseconds - before) / 2e6;
  // Unreachable memory is freed by the next major garbage collection, so the lowest value shows what is never freed.
  const growth = Math.min(...resident.slice(ROUNDS_OF_LEAVING / 2)) - (resident[0] ?? 0);
  const left = watch.clients(server.port);
  return [
    {
      name: `readers who leave: no growth (at most 15 MiB, by the lowest value of the second half) in ${ROUNDS_OF_LEAVING} rounds of ${SLOW_READERS}`,
      met: growth <= 15,
      measured: `${growth.toFixed(0)} MiB`,
    },
    {
      name: '… no connection of theirs left, and no work (2 % of a core)',
      met: left <= standing && busy <= 0.02,
      measured: `${Math.max(left - standing, 0)}, ${(busy * 100).toFixed(1)} %`,
    },
  ];
}

/** A table that disappears before the server reads a later page. */
async function breakOff({ server, database }: Measuring): Promise<Goal> {
  const list = await LongList.open(server.port, PLAIN_LIST);
  await pause(500);
  await database.run('ALTER TABLE @entry RENAME TO entry_away');
  try {
    await list.end();
  } finally {
    await database.run('ALTER TABLE @entry_away RENAME TO entry');
  }
  return {
    name: 'an error in the middle breaks the connection off',
    met: !list.whole,
    measured: list.whole ? 'the list ended as if it were whole' : `after ${(list.bytes / 1e6).toFixed(0)} MB`,
  };
}
