import { writeFileSync } from 'node:fs';
import { benchDatabase } from './bench-database.js';
import { leaveServerCore } from './cores.js';
import { machineLine } from './machine.js';
import { parseOptions } from './options.js';
import { reportOf } from './report.js';
import type { DatabaseResult } from './report.js';

const options = parseOptions(process.argv.slice(2));
leaveServerCore();
const results: DatabaseResult[] = [];
for (const name of options.databases) results.push(await benchDatabase(name, options));
const report = [
  `${machineLine()}\n${options.rounds} rounds of about ${options.seconds} s for each figure.\n`,
  ...results.map(reportOf),
].join('\n');
console.log(report);
if (options.out !== undefined) writeFileSync(options.out, report);
if (options.json !== undefined) {
  writeFileSync(
    options.json,
    `${JSON.stringify({ machine: machineLine(), seconds: options.seconds, rounds: options.rounds, results: results.map(({ name, title, measured, missing }) => ({ name, title, measured, missing })) }, undefined, 2)}\n`,
  );
}
process.exit(0);
