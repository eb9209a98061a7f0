import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { leaveServerCore } from './cores.js';
import { SQLITE_AND_POSTGRES, openDatabase } from './databases.js';
import type { BenchDatabase } from './databases.js';
import { firstBytes, measureGoals, readWhole } from './memory-goals.js';
import type { Goal } from './memory-goals.js';
import { ProcessWatch } from './memory-watch.js';
import { machineLine } from './machine.js';
import { median, table } from './report.js';
import { startServer } from './server-process.js';
import type { RunningServer } from './server-process.js';

/** Lists of which the only goal is that their memory does not grow with their length. */
const OTHERS: readonly (readonly [name: string, path: string])[] = [
  ['under a grant of seven rows in eight', '/rest/v1/log/grantedentry/'],
  ['ordered by a column with an index', '/rest/v1/log/grantedentry/?ordering=message'],
  ['as JSON, of a model with other formats', '/rest/v1/log/renderedentry/'],
  ['as NDJSON', '/rest/v1/log/renderedentry/?format=ndjson'],
  ['as CSV', '/rest/v1/log/renderedentry/?format=csv'],
  ['a type that the process writes', '/rest/v1/log/writtenentry/'],
  ['a computed field, and so an entity a row', '/rest/v1/log/computedentry/'],
];
/** Only the time to the first byte is measured: the database sorts the whole table for each page. */
const UNINDEXED = '/rest/v1/log/grantedentry/?ordering=level';

interface Combination {
  readonly title: string;
  readonly goals: readonly Goal[];
  readonly others: readonly (readonly string[])[];
}

async function fill(database: BenchDatabase, rows: number): Promise<void> {
  const key = database.name === 'sqlite' ? 'integer PRIMARY KEY AUTOINCREMENT' : 'serial PRIMARY KEY';
  await database.run(
    `CREATE TABLE @entry (id ${key}, message varchar(100) NOT NULL, level integer NOT NULL, written_at @instant NOT NULL)`,
  );
  const numbers =
    database.name === 'sqlite'
      ? `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT i FROM n`
      : `SELECT i FROM generate_series(1, ${rows}) AS i`;
  const instant =
    database.name === 'sqlite' ? "'2022-10-02 09:23:28.297'" : "timestamp '2022-10-02 09:23:28.297'";
  await database.run(
    `INSERT INTO @entry (message, level, written_at) SELECT 'Message number ' || i, i % 8, ${instant} FROM (${numbers}) AS numbers`,
  );
  await database.run('CREATE INDEX entry_message ON @entry (message)');
  await database.run('ANALYZE @entry');
}

/** Measures each list with a fresh server, so that its peak includes no other list. */
async function measureOthers(
  start: () => Promise<RunningServer>,
  rows: number,
): Promise<(readonly string[])[]> {
  const lines: string[][] = [];
  for (const [name, path] of OTHERS) {
    const server = await start();
    const { firstByte, peak, milliseconds, cpuMilliseconds, bytes } = await readWhole(
      { server, watch: new ProcessWatch(server.pid), rows },
      path,
    );
    await server.stop();
    lines.push([
      name,
      `${firstByte.toFixed(0)} ms`,
      `${peak.toFixed(0)} MiB`,
      `${(milliseconds / 1000).toFixed(1)} s`,
      `${(cpuMilliseconds / 1000).toFixed(1)} s`,
      `${(bytes / 1e6).toFixed(0)} MB`,
    ]);
  }
  const server = await start();
  lines.push([
    'ordered by a column without an index',
    `${(median(await firstBytes(server.port, UNINDEXED, 3)) ?? 0).toFixed(0)} ms`,
    '',
    '',
    '',
    '',
  ]);
  await server.stop();
  return lines;
}

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    database: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    out: { type: 'string' },
  },
});
const rows = Number(values.rows);
leaveServerCore();
const combinations: Combination[] = [];
for (const name of SQLITE_AND_POSTGRES.filter(
  (each) => values.database === undefined || values.database === each,
)) {
  const database = await openDatabase(name);
  try {
    await fill(database, rows);
    for (const platform of ['express', 'fastify']) {
      const start = (): Promise<RunningServer> =>
        startServer(`dist/bench/servers/memory-${platform}.js`, database.environment);
      const server = await start();
      const goals = await measureGoals({
        server,
        watch: new ProcessWatch(server.pid),
        database,
        rows,
        seconds: Number(values.seconds),
      });
      await server.stop();
      combinations.push({
        title: `${database.version.replace(/ \(.*/, '')}, ${platform}`,
        goals,
        others: await measureOthers(start, rows),
      });
    }
  } finally {
    await database.drop();
  }
}

const titles = combinations.map(({ title }) => title);
const goals = table(
  ['', ...titles],
  (combinations[0]?.goals ?? []).map(({ name }, at) => [
    name,
    ...combinations.map((each) => goalVerdict(each.goals[at])),
  ]),
);
const others = combinations.map(
  ({ title, others: lines }) =>
    `${title}:\n\n${table(['', 'first byte of the first list', 'peak RSS above idle', 'whole list', 'CPU of the server', 'size'], lines)}`,
);
const report = `${machineLine()}\n\nA list of ${rows.toLocaleString('en-US')} rows.\n\n${goals}\n\nOther lists of the same table, each on a server of its own:\n\n${others.join('\n\n')}\n`;
console.log(report);
if (values.out !== undefined) writeFileSync(values.out, report);
process.exit(combinations.every((each) => each.goals.every(({ met }) => met)) ? 0 : 1);

function goalVerdict(goal: Goal | undefined): string {
  return goal ? `${goal.met ? 'met' : '**not met**'}: ${goal.measured}` : '';
}
