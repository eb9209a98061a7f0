import { writeFileSync } from 'node:fs';
import { benchDatabases } from './bench-database.js';
import { leaveServerCore } from './cores.js';
import { machineLine } from './machine.js';
import { parseOptions } from './options.js';
import type { BenchOptions } from './options.js';
import { reportOf } from './report.js';

const options = parseOptions(process.argv.slice(2));
leaveServerCore();
const results = await benchDatabases(options);
const report = [`${machineLine()}\n${settingsLine(options)}\n`, ...results.map(reportOf)].join('\n');
console.log(report);
if (options.out !== undefined) writeFileSync(options.out, report);
if (options.json !== undefined) {
  writeFileSync(
    options.json,
    `${JSON.stringify({ machine: machineLine(), settings: settingsLine(options), results: results.map(({ name, statistics, title, measured, missing }) => ({ name, statistics, title, measured, missing })) }, undefined, 2)}\n`,
  );
}
process.exit(0);

function settingsLine({ processes, rounds, requests, first, settle }: BenchOptions): string {
  return `${processes} processes for each figure; in each of them the first ${first} requests, ${settle} of warm-up and ${rounds} rounds of ${requests} (fewer of long ones).`;
}
