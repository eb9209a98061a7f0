import { parseArgs } from 'node:util';
import { runRound } from './round.js';
import type { Disagreement } from './round.js';
import type { DatabaseName } from './databases.js';
import type { PlatformName } from './application.js';
import { shrink } from './shrink.js';
import type { FuzzRequest } from './transport.js';

const NAMES = [
  'count',
  'seed',
  'database',
  'platform',
  'clients',
  'requests',
  'stop',
  'schema',
  'shrink',
] as const;
const { values: flags } = parseArgs({
  options: Object.fromEntries(NAMES.map((name) => [name, { type: 'string' as const }])),
});

function flag(name: (typeof NAMES)[number], fallback: string): string {
  return flags[name] ?? process.env[`RESTIFY_FUZZ_${name.toUpperCase()}`] ?? fallback;
}

const total = Number(flag('count', '10000'));
const seed = Number(flag('seed', String(Math.floor(Math.random() * 2 ** 31))));
const clients = Number(flag('clients', '4'));
const requests = Number(flag('requests', '500'));
const stopAt = Number(flag('stop', '3'));
const place = {
  database: flag('database', 'sqlite') as DatabaseName,
  platform: flag('platform', 'express') as PlatformName,
};

const began = performance.now();
const statuses = new Map<number, number>();
let done = 0;
let round = 0;
const found: Disagreement[] = [];
console.log(`Fuzzing ${place.database} on ${place.platform}: ${total} requests, seed ${seed}`);
while (done < total && found.length < stopAt) {
  const result = await runRound({
    ...place,
    seed: seed + round,
    clients,
    requests,
    endsAtFirst: stopAt === 1,
  });
  round++;
  done += result.requests;
  // A long run reports its progress, and its result when it is interrupted.
  if (round % 5 === 0 && done < total) console.log(`${done} requests so far, ${found.length} disagreements`);
  for (const [status, count] of result.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
  for (const each of result.disagreements) {
    found.push(each);
    await show(each);
  }
}
const seconds = (performance.now() - began) / 1000;
console.log(
  `${done} requests in ${round} rounds, ${seconds.toFixed(1)} s, ${Math.round(done / seconds)} requests/s; ${found.length} disagreements`,
);
console.log(
  [...statuses]
    .sort(([one], [other]) => one - other)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', '),
);
if (found.length > 0 || [...statuses.keys()].some((status) => status >= 500)) process.exitCode = 1;

async function show({ seed: own, client, requests: sent, differences, schema }: Disagreement): Promise<void> {
  console.log(`\nDisagreement: seed ${own}, client ${client}, request ${sent.length}`);
  for (const each of differences) console.log(`  ${each}`);
  console.log(curl(sent.at(-1)));
  if (flag('schema', '') !== '') console.log(JSON.stringify(schema));
  const replays = Number(flag('shrink', '40'));
  if (replays === 0) return;
  const shrunk = await shrink(place, { schema, requests: sent }, { replays });
  if (!shrunk) {
    console.log('  It does not come again where the requests are sent one after the other.');
    return;
  }
  console.log(`  From an empty database, ${shrunk.requests.length} requests one after the other:`);
  for (const each of shrunk.requests) console.log(curl(each));
  for (const each of shrunk.differences) console.log(`  ${each}`);
}

function curl(asked: FuzzRequest | undefined): string {
  if (!asked) return '';
  const headers = Object.entries(asked.headers).map(([name, value]) => ` -H '${name}: ${value}'`);
  return `  $ curl -X ${asked.method} 'http://h${asked.path}'${headers.join('')}${asked.body === undefined ? '' : ` -d '${asked.body.replaceAll("'", String.raw`'\''`)}'`}`;
}
