import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { benchDatabases } from './bench-database.js';
import { buildCommit } from './build-commit.js';
import { HEAD, cellsOf, lowestOfControl, ratiosOf, secondOf } from './compare-ratios.js';
import type { Pair, Ratio, Result } from './compare-ratios.js';
import { CONTESTANTS } from './contestants.js';
import type { Contestant } from './contestants.js';
import { leaveServerCore } from './cores.js';
import type { DatabaseName } from './databases.js';
import { COMPARISONS } from './goals.js';
import { machineLine } from './machine.js';
import { parseOptions, positive } from './options.js';
import type { BenchOptions } from './options.js';
import { table } from './report.js';
import { ROOT } from './root.js';

/** Ratios of CPU of mixed processes by database, workload and pair (`restify-express ÷ handwritten`): unlike times, they hardly differ between machines. */
interface Accepted {
  readonly machine: string;
  readonly ratios: Readonly<
    Partial<Record<DatabaseName, Readonly<Record<string, Readonly<Record<string, number>>>>>>
  >;
}

/** What was found, and whether it is complete. */
interface Verdict {
  readonly regressions: number;
  /** Ratios that should have been measured and were not: nothing is known of them. */
  readonly unmeasured: number;
}

interface CompareOptions {
  /** A file of `npm run bench -- --json`, in place of a new measurement. */
  readonly from: string | undefined;
  readonly accept: boolean;
  /** A commit whose build is measured in the same run. */
  readonly against: string | undefined;
  readonly tolerance: number | undefined;
  /** The options of `npm run bench`. */
  readonly rest: readonly string[];
}

const FILE = join(ROOT, 'bench/accepted.json');

/** A ratio below this fraction of the accepted one is a regression: runs on one machine differ by up to a tenth. */
const ACCEPTED_TOLERANCE = 0.85;

/** The same for another commit that is measured in the same run. */
const COMMIT_TOLERANCE = 0.97;

/** The servers of this package, which another commit has too. */
const OWN = ['restify-express', 'restify-fastify'];

const PAIRS: readonly Pair[] = COMPARISONS.map(({ fast, slow }) => ({ fast, slow, twice: fast }));

const COMPARED = [...new Set(COMPARISONS.flatMap(({ fast, slow }) => [fast, slow]))];

/** With statistics of the tables only: accepted ratios have no others. */
function measure(options: BenchOptions): Promise<readonly Result[]> {
  leaveServerCore();
  return benchDatabases({ ...options, statistics: ['with'] });
}

/** Its options, with the contestants that are measured where `--servers` names none. The mixed process is as in production. */
function optionsOf(servers: readonly string[], rest: readonly string[]): BenchOptions {
  return parseOptions(['--servers', servers.join(','), '--modes', 'mixed', ...rest]);
}

/** Compares the ratios to other contestants with those of `accepted.json`. Returns the number of regressions. Throws if nothing was measured. */
function compareWithAccepted(
  results: readonly Result[],
  { tolerance }: Pick<CompareOptions, 'tolerance'>,
): number {
  const measured = ratiosOf(results, PAIRS);
  if (measured.length === 0) throw new Error('No ratio of accepted.json was measured: see the errors above');
  const accepted = JSON.parse(readFileSync(FILE, 'utf8')) as Accepted;
  const lines = measured.map((each) => {
    const known =
      each.mode === 'mixed' ? accepted.ratios[each.database]?.[each.workload]?.[each.pair] : undefined;
    const least = Math.min(tolerance ?? ACCEPTED_TOLERANCE, lowestOfControl(each));
    const isWorse = known !== undefined && each.value < known * least;
    return {
      isWorse,
      cells: [...namesOf(each), known?.toFixed(2) ?? '–', ...cellsOf(each), verdictOf(isWorse)],
    };
  });
  console.log(
    table(
      [...NAMES, 'accepted', ...HEAD, ''],
      lines.map(({ cells }) => cells),
    ),
  );
  return lines.filter(({ isWorse }) => isWorse).length;
}

const NAMES = ['database', 'workload', 'process', 'CPU'];

function namesOf({ database, workload, mode, pair }: Ratio): readonly string[] {
  return [database, workload, mode, pair];
}

/** Slower than the other commit: in every process, and by more than processes of that commit differ. */
function isSlower(each: Ratio, tolerance: number): boolean {
  return each.highest < tolerance && each.value < Math.min(tolerance, lowestOfControl(each));
}

/**
 * Measures processes of this build, and twice as many of that of another commit, in turns, in one run. Contestants of
 * `--servers` are measured too, and compared with `accepted.json`.
 */
async function compareWithCommit(
  commit: string,
  { tolerance = COMMIT_TOLERANCE, rest }: CompareOptions,
): Promise<Verdict> {
  const folder = buildCommit(commit);
  const options = optionsOf(OWN, rest);
  const own = CONTESTANTS.filter(({ name }) => OWN.includes(name));
  const nameOf = (name: string): string => `${name} of ${commit}`;
  const others = own.map((each) => ({
    ...each,
    name: nameOf(each.name),
    file: join(folder, each.file),
  }));
  const chosen = options.contestants.filter(({ name }) => !OWN.includes(name));
  const results = await measure({
    ...options,
    contestants: [...own, ...others, ...others.map(secondProcessOf), ...chosen],
  });
  const measured = ratiosOf(
    results,
    own.map(({ name }) => ({ fast: name, slow: nameOf(name), twice: nameOf(name) })),
  );
  const lines = measured.map((each) => [
    ...namesOf(each),
    ...cellsOf(each),
    verdictOf(isSlower(each, tolerance)),
  ]);
  console.log(table([...NAMES, ...HEAD, ''], lines));
  const accepted = chosen.some(({ name }) => COMPARED.some((each) => each === name))
    ? compareWithAccepted(results, { tolerance: undefined })
    : 0;
  // This package has no endpoint `constant`.
  const workloads = options.workloads.filter((workload) => workload !== 'constant');
  return {
    regressions: measured.filter((each) => isSlower(each, tolerance)).length + accepted,
    unmeasured:
      options.databases.length * options.modes.length * workloads.length * own.length - measured.length,
  };
}

function secondProcessOf(contestant: Contestant): Contestant {
  return { ...contestant, name: secondOf(contestant.name) };
}

function verdictOf(isWorse: boolean): string {
  return isWorse ? '**regression**' : '';
}

/** The results in a file, or new ones. */
async function resultsOf(from: string | undefined, rest: readonly string[]): Promise<readonly Result[]> {
  if (from !== undefined)
    return (JSON.parse(readFileSync(from, 'utf8')) as { readonly results: readonly Result[] }).results;
  const options = optionsOf(COMPARED, rest);
  const own = options.contestants.filter(({ name }) => OWN.includes(name));
  return measure({ ...options, contestants: [...options.contestants, ...own.map(secondProcessOf)] });
}

async function writeAccepted({ from, rest }: CompareOptions): Promise<void> {
  const ratios: Record<string, Record<string, Record<string, number>>> = {};
  const measured = ratiosOf(await resultsOf(from, rest), PAIRS).filter(({ mode }) => mode === 'mixed');
  for (const { database, workload, pair, value } of measured)
    ((ratios[database] ??= {})[workload] ??= {})[pair] = Number(value.toFixed(2));
  const accepted: Accepted = { machine: machineLine(), ratios };
  writeFileSync(FILE, `${JSON.stringify(accepted, undefined, 2)}\n`);
  console.log(`Accepted: ${relative(ROOT, FILE)}`);
}

/** Removes the options that `npm run bench` does not have. */
function parseArguments(args: readonly string[]): CompareOptions {
  const own = {
    from: { type: 'string' },
    against: { type: 'string' },
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
  const { from, against, accept, tolerance } = values;
  if (against !== undefined && (from !== undefined || accept === true))
    throw new Error('--against measures two builds: it cannot be combined with --from or --accept');
  return {
    from: from as string | undefined,
    against: against as string | undefined,
    accept: accept === true,
    tolerance: tolerance === undefined ? undefined : positive(String(tolerance), 'tolerance'),
    rest: args.filter((_, index) => !taken.has(index)),
  };
}

const options = parseArguments(process.argv.slice(2));
if (options.accept) {
  await writeAccepted(options);
  process.exit(0);
}
const { regressions, unmeasured } =
  options.against === undefined
    ? {
        regressions: compareWithAccepted(await resultsOf(options.from, options.rest), options),
        unmeasured: 0,
      }
    : await compareWithCommit(options.against, options);
if (unmeasured > 0) console.log(`${unmeasured} ratios were not measured: see the errors above.`);
console.log(
  regressions === 0 ? 'No measured ratio is a regression.' : `${regressions} ratios are regressions.`,
);
process.exit(regressions + unmeasured === 0 ? 0 : 1);
