import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { benchDatabase } from './bench-database.js';
import { buildCommit } from './build-commit.js';
import { CONTESTANTS } from './contestants.js';
import { leaveServerCore } from './cores.js';
import type { DatabaseName } from './databases.js';
import { COMPARISONS } from './goals.js';
import { machineLine } from './machine.js';
import { parseOptions, positive } from './options.js';
import type { BenchOptions } from './options.js';
import { ratio, ratioSpread, table } from './report.js';
import type { DatabaseResult, RatioOf } from './report.js';
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

/** What was found, and whether it is complete. */
interface Verdict {
  readonly regressions: number;
  /** Ratios that should have been measured and were not: nothing is known of them. */
  readonly unmeasured: number;
}

/** One measured ratio. */
interface Ratio {
  readonly database: DatabaseName;
  readonly workload: string;
  readonly pair: string;
  /** Of the medians. */
  readonly value: number;
  readonly lowest: number;
  readonly highest: number;
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

const COMPARED = [...new Set(COMPARISONS.flatMap(({ fast, slow }) => [fast, slow]))];

/** The servers of this package, which another commit has too. */
const OWN = ['restify-express', 'restify-fastify'];

async function measure(options: BenchOptions): Promise<readonly Result[]> {
  leaveServerCore();
  const results: Result[] = [];
  for (const name of options.databases) results.push(await benchDatabase(name, options));
  return results;
}

function ratiosOf(results: readonly Result[], pairs: readonly Omit<RatioOf, 'workload'>[]): Ratio[] {
  return results.flatMap((result) =>
    WORKLOADS.flatMap((workload) =>
      pairs.flatMap(({ fast, slow }) => {
        const value = ratio(result, { workload, fast, slow }, 'cpu');
        const spread = ratioSpread(result, { workload, fast, slow });
        return value === undefined || !spread
          ? []
          : [{ database: result.name, workload, pair: `${fast} ÷ ${slow}`, value, ...spread }];
      }),
    ),
  );
}

/** The columns of a table that show a ratio. */
function cellsOf({ value, lowest, highest }: Ratio): readonly string[] {
  return [value.toFixed(2), `${lowest.toFixed(2)}–${highest.toFixed(2)}`];
}

/**
 * Compares the ratios to other contestants with those of `accepted.json`. Returns the number of regressions. Throws if
 * nothing was measured.
 */
function compareWithAccepted(
  results: readonly Result[],
  { tolerance }: Pick<CompareOptions, 'tolerance'>,
): number {
  const measured = ratiosOf(results, COMPARISONS);
  if (measured.length === 0) throw new Error('No ratio of accepted.json was measured: see the errors above');
  const accepted = JSON.parse(readFileSync(FILE, 'utf8')) as Accepted;
  const lines = measured.map((each) => {
    const known = accepted.ratios[each.database]?.[each.workload]?.[each.pair];
    const isWorse = known !== undefined && each.value < known * (tolerance ?? ACCEPTED_TOLERANCE);
    return {
      isWorse,
      cells: [
        each.database,
        each.workload,
        each.pair,
        known?.toFixed(2) ?? '–',
        ...cellsOf(each),
        verdictOf(isWorse),
      ],
    };
  });
  const head = ['database', 'workload', 'CPU', 'accepted', 'now', 'lowest–highest round', ''];
  console.log(
    table(
      head,
      lines.map(({ cells }) => cells),
    ),
  );
  return lines.filter(({ isWorse }) => isWorse).length;
}

/** A ratio to another commit, beside that of two processes of that commit. */
interface CommitRatio extends Ratio {
  /** Of the first process of the other commit to its second one: 1 if nothing but the code had an influence. */
  readonly sameCommit: number | undefined;
}

/**
 * Slower than the other commit: in every round, and by more than two processes of that commit differ. A process keeps some
 * differences as long as it lives, however many rounds it has.
 */
function isSlower({ value, highest, sameCommit = 1 }: CommitRatio, tolerance: number): boolean {
  return highest < tolerance && value < tolerance * Math.min(sameCommit, 1 / sameCommit);
}

/**
 * Measures this build and two processes of that of another commit in turns, in one run. Contestants of `--servers` are
 * measured too, and compared with `accepted.json`.
 */
async function compareWithCommit(
  commit: string,
  { tolerance = COMMIT_TOLERANCE, rest }: CompareOptions,
): Promise<Verdict> {
  const folder = buildCommit(commit);
  const options = parseOptions(['--servers', OWN.join(','), ...rest]);
  const own = CONTESTANTS.filter(({ name }) => OWN.includes(name));
  const nameOf = (name: string): string => `${name} of ${commit}`;
  const secondOf = (name: string): string => `${nameOf(name)}, second process`;
  const others = own.flatMap((each) =>
    [nameOf(each.name), secondOf(each.name)].map((name) => ({
      ...each,
      name,
      file: join(folder, each.file),
    })),
  );
  const chosen = options.contestants.filter(({ name }) => !OWN.includes(name));
  const results = await measure({ ...options, contestants: [...own, ...others, ...chosen] });
  const measured = own.flatMap(({ name }): CommitRatio[] => {
    const same = ratiosOf(results, [{ fast: secondOf(name), slow: nameOf(name) }]);
    return ratiosOf(results, [{ fast: name, slow: nameOf(name) }]).map((each) => ({
      ...each,
      sameCommit: same.find(
        ({ database, workload }) => database === each.database && workload === each.workload,
      )?.value,
    }));
  });
  const lines = measured.map((each) => [
    each.database,
    each.workload,
    each.pair,
    ...cellsOf(each),
    each.sameCommit?.toFixed(2) ?? '–',
    verdictOf(isSlower(each, tolerance)),
  ]);
  const head = ['database', 'workload', 'CPU', 'now', 'lowest–highest round', `${commit} twice`, ''];
  console.log(table(head, lines));
  const accepted = chosen.some(({ name }) => COMPARED.some((each) => each === name))
    ? compareWithAccepted(results, { tolerance: undefined })
    : 0;
  // This package has no endpoint `constant`.
  const workloads = options.workloads.filter((workload) => workload !== 'constant');
  return {
    regressions: measured.filter((each) => isSlower(each, tolerance)).length + accepted,
    unmeasured: options.databases.length * workloads.length * own.length - measured.length,
  };
}

function verdictOf(isWorse: boolean): string {
  return isWorse ? '**regression**' : '';
}

/** The results in a file, or new ones. */
async function resultsOf(from: string | undefined, rest: readonly string[]): Promise<readonly Result[]> {
  if (from !== undefined)
    return (JSON.parse(readFileSync(from, 'utf8')) as { readonly results: readonly Result[] }).results;
  return measure(parseOptions(['--servers', COMPARED.join(','), ...rest]));
}

async function writeAccepted({ from, rest }: CompareOptions): Promise<void> {
  const ratios: Record<string, Record<string, Record<string, number>>> = {};
  for (const { database, workload, pair, value } of ratiosOf(await resultsOf(from, rest), COMPARISONS))
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
