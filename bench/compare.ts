import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { benchDatabase } from './bench-database.js';
import { leaveServerCore } from './cores.js';
import type { DatabaseName } from './databases.js';
import { COMPARISONS } from './goals.js';
import { machineLine } from './machine.js';
import { parseOptions } from './options.js';
import { ratio, table } from './report.js';
import type { DatabaseResult } from './report.js';
import { ROOT } from './root.js';
import { WORKLOADS } from './workloads.js';

/** Ratios of CPU by database, workload and pair (`restify-express ÷ handwritten`): unlike times, they hardly differ between machines. */
interface Accepted {
  readonly machine: string;
  readonly ratios: Readonly<
    Partial<Record<DatabaseName, Readonly<Record<string, Readonly<Record<string, number>>>>>>
  >;
}

type Result = Pick<DatabaseResult, 'name' | 'measured'>;

const FILE = join(ROOT, 'bench/accepted.json');

/** A ratio below this fraction of the accepted one is a regression: runs on one machine differ by up to a tenth. */
const DEFAULT_TOLERANCE = 0.85;

const COMPARED = [...new Set(COMPARISONS.flatMap(({ fast, slow }) => [fast, slow]))];

function ratiosOf(results: readonly Result[]): Accepted['ratios'] {
  return Object.fromEntries(
    results.map((result) => [
      result.name,
      Object.fromEntries(
        WORKLOADS.map((workload) => [workload, pairsOf(result, workload)] as const).filter(
          ([, pairs]) => Object.keys(pairs).length > 0,
        ),
      ),
    ]),
  );
}

function pairsOf(result: Result, workload: (typeof WORKLOADS)[number]): Record<string, number> {
  return Object.fromEntries(
    COMPARISONS.flatMap(({ fast, slow }) => {
      const value = ratio(result, { workload, fast, slow }, 'cpu');
      return value === undefined ? [] : [[`${fast} ÷ ${slow}`, Number(value.toFixed(2))] as const];
    }),
  );
}

/** The file that `npm run bench -- --json` has written, or a new measurement. */
async function resultsOf(from: string | undefined, rest: readonly string[]): Promise<readonly Result[]> {
  if (from !== undefined)
    return (JSON.parse(readFileSync(from, 'utf8')) as { readonly results: readonly Result[] }).results;
  const options = parseOptions(['--servers', COMPARED.join(','), ...rest]);
  leaveServerCore();
  const results: Result[] = [];
  for (const name of options.databases) results.push(await benchDatabase(name, options));
  return results;
}

/** Removes the options that `npm run bench` does not have. */
function parseArguments(args: readonly string[]): {
  readonly from: string | undefined;
  readonly accept: boolean;
  readonly tolerance: number;
  readonly rest: readonly string[];
} {
  const own = {
    from: { type: 'string' },
    accept: { type: 'boolean' },
    tolerance: { type: 'string' },
  } as const;
  const { values, tokens } = parseArgs({ args: [...args], options: own, strict: false, tokens: true });
  const taken = new Set(
    tokens.flatMap((token) =>
      token.kind === 'option' && token.name in own
        ? [token.index, ...(token.value !== undefined && !token.inlineValue ? [token.index + 1] : [])]
        : [],
    ),
  );
  return {
    from: values.from as string | undefined,
    accept: values.accept === true,
    tolerance: Number(values.tolerance ?? DEFAULT_TOLERANCE),
    rest: args.filter((_, index) => !taken.has(index)),
  };
}

const { from, accept, tolerance, rest } = parseArguments(process.argv.slice(2));
const measured = ratiosOf(await resultsOf(from, rest));
if (accept) {
  writeFileSync(
    FILE,
    `${JSON.stringify({ machine: machineLine(), ratios: measured } satisfies Accepted, undefined, 2)}\n`,
  );
  console.log(`Accepted: ${relative(ROOT, FILE)}`);
  process.exit(0);
}
const accepted = JSON.parse(readFileSync(FILE, 'utf8')) as Accepted;
let regressions = 0;
const lines = Object.entries(measured).flatMap(([database, workloads]) =>
  Object.entries(workloads).flatMap(([workload, pairs]) =>
    Object.entries(pairs).map(([pair, value]) => {
      const known = accepted.ratios[database as DatabaseName]?.[workload]?.[pair];
      const worse = known !== undefined && value < known * tolerance;
      if (worse) regressions += 1;
      return [
        database,
        workload,
        pair,
        known?.toFixed(2) ?? '–',
        value.toFixed(2),
        worse ? '**regression**' : '',
      ];
    }),
  ),
);
console.log(table(['database', 'workload', 'CPU', 'accepted', 'now', ''], lines));
console.log(
  regressions === 0
    ? 'No ratio is worse than accepted.'
    : `${regressions} ratios are worse than accepted by more than ${Math.round((1 - tolerance) * 100)} %.`,
);
process.exit(regressions === 0 ? 0 : 1);
