import type { DatabaseName } from './databases.js';
import { COMPARISONS, GOALS } from './goals.js';
import type { Comparison } from './goals.js';
import type { Contestant } from './contestants.js';
import type { Measured, Sample } from './measure.js';
import type { Workload } from './workloads.js';

export interface DatabaseResult {
  readonly name: DatabaseName;
  readonly title: string;
  readonly workloads: readonly Workload[];
  readonly contestants: readonly Contestant[];
  readonly measured: readonly Measured[];
  /** Contestants that did not start, and why. */
  readonly missing: Readonly<Record<string, string>>;
}

type FigureOf = (sample: Sample) => number | undefined;

const SPEED: FigureOf = ({ requestsPerSecond }) => requestsPerSecond;
const CPU: FigureOf = ({ cpu }) => cpu;
const DATABASE_CPU: FigureOf = ({ databaseCpu }) => databaseCpu;

/** The report of one database, as Markdown. */
export function reportOf(result: DatabaseResult): string {
  const sections = [
    `## ${result.title}`,
    ...Object.entries(result.missing).map(([name, reason]) => `Not available: \`${name}\` (${reason})`),
    ...result.measured.flatMap(({ contestant, workload, failure }) =>
      failure === undefined ? [] : [`Failed under load: \`${contestant}\` in \`${workload}\`: ${failure}`],
    ),
    `### Server CPU per request, in microseconds: median (lowest–highest)\n\n${figures(result, CPU)}`,
    ...(has(result, DATABASE_CPU)
      ? [
          `### CPU of the database's processes per request, in microseconds: median (lowest–highest)\n\n${figures(result, DATABASE_CPU)}`,
        ]
      : []),
    `### Requests per second: median (lowest–highest)\n\n${figures(result, SPEED)}`,
    `### Goals\n\nThe limit is the ratio of CPU that a bare handler behind the same library reaches: it checks nothing, and sends what one prepared statement brings out as text. Beside it stands that of the same answers, written by hand for these tables alone.\n\n${goals(result)}`,
    ...rivals(result),
  ];
  return `${sections.join('\n\n')}\n`;
}

function figures(result: DatabaseResult, figure: FigureOf): string {
  const rows = result.contestants.filter(({ name }) =>
    result.measured.some(({ contestant }) => contestant === name),
  );
  return table(
    ['', ...result.workloads],
    rows.map(({ name }) => [
      `\`${name}\``,
      ...result.workloads.map((workload) => range(valuesOf(result, { name, workload }, figure))),
    ]),
  );
}

function goals(result: DatabaseResult): string {
  const lines = result.workloads.flatMap((workload) =>
    workload === 'constant'
      ? []
      : [
          [
            workload,
            ...COMPARISONS.map((comparison, at) =>
              goalCell(result, { workload, ...comparison, goal: GOALS[workload][at] ?? 0 }),
            ),
          ],
        ],
  );
  return table(['', ...COMPARISONS.map(({ fast, slow }) => `${fast} ÷ ${slow}`)], lines);
}

function goalCell(
  result: DatabaseResult,
  {
    workload,
    fast,
    slow,
    limit,
    same,
    goal,
  }: Comparison & { readonly workload: Workload; readonly goal: number },
): string {
  const speed = ratio(result, { workload, fast, slow }, 'requests');
  const cpu = ratio(result, { workload, fast, slow }, 'cpu');
  if (speed === undefined || cpu === undefined) return `≥ ${goal}: not measured`;
  const beside = [
    ['limit', limit],
    ['same answers', same],
  ].flatMap(([name = '', contestant = '']) => {
    const most = ratio(result, { workload, fast: contestant, slow }, 'cpu');
    return most === undefined ? [] : [`, ${name} ${most.toFixed(2)}`];
  });
  return `≥ ${goal}: requests/s ${ratioVerdict(speed, goal)}, CPU ${ratioVerdict(cpu, goal)}${beside.join('')}`;
}

function ratioVerdict(value: number, goal: number): string {
  return `${value.toFixed(2)} ${value >= goal ? 'met' : '**not met**'}`;
}

function rivals(result: DatabaseResult): string[] {
  const names = result.contestants
    .filter(({ name, rival }) => rival && result.measured.some(({ contestant }) => contestant === name))
    .map(({ name }) => name);
  if (names.length === 0) return [];
  const ours = ['restify-express', 'restify-fastify'].filter((name) =>
    result.measured.some(({ contestant }) => contestant === name),
  );
  const lines = result.workloads.flatMap((workload) =>
    workload === 'constant'
      ? []
      : [
          [
            workload,
            ...names.map((slow) =>
              ours.map((fast) => rivalCell(result, { workload, fast, slow })).join(' / '),
            ),
          ],
        ],
  );
  return [
    `### Against other packages, by CPU of the server: ${ours.join(' / ')} is so many times as fast as\n\n${table(['', ...names], lines)}`,
  ];
}

function rivalCell(result: DatabaseResult, pair: RatioOf): string {
  const value = ratio(result, pair, 'cpu');
  if (value === undefined) return '–';
  return value > 1 ? value.toFixed(2) : `**${value.toFixed(2)} behind**`;
}

/** Two contestants in one workload. */
export interface RatioOf {
  readonly workload: Workload;
  readonly fast: string;
  readonly slow: string;
}

/** The speed-up of `fast`, by the medians; undefined if one of them was not measured. */
export function ratio(
  result: Pick<DatabaseResult, 'measured'>,
  { workload, fast, slow }: RatioOf,
  by: 'requests' | 'cpu',
): number | undefined {
  const figure = by === 'cpu' ? CPU : SPEED;
  const [ours, theirs] = [fast, slow].map((name) => median(valuesOf(result, { name, workload }, figure)));
  if (ours === undefined || theirs === undefined) return undefined;
  return by === 'cpu' ? theirs / ours : ours / theirs;
}

/**
 * The lowest and the highest speed-up of `fast` by CPU in one round: its contestants were measured one after the other.
 * Undefined if one of them was not measured.
 */
export function ratioSpread(
  result: Pick<DatabaseResult, 'measured'>,
  { workload, fast, slow }: RatioOf,
): { readonly lowest: number; readonly highest: number } | undefined {
  const [ours = [], theirs = []] = [fast, slow].map((name) => valuesOf(result, { name, workload }, CPU));
  const ratios = ours.flatMap((value, round) => {
    const other = theirs[round];
    return other === undefined ? [] : [other / value];
  });
  return ratios.length === 0 ? undefined : { lowest: Math.min(...ratios), highest: Math.max(...ratios) };
}

function valuesOf(
  { measured }: Pick<DatabaseResult, 'measured'>,
  { name, workload }: { readonly name: string; readonly workload: Workload },
  figure: FigureOf,
): number[] {
  const found = measured.find((each) => each.contestant === name && each.workload === workload);
  return (found?.samples ?? []).map(figure).filter((value) => value !== undefined);
}

function has(result: DatabaseResult, figure: FigureOf): boolean {
  return result.measured.some(({ samples }) => samples.some((sample) => figure(sample) !== undefined));
}

export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/** The value that a quarter of the values are below: of repeated measurements, one without most disturbances of the machine. */
export function lowerQuartile(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) / 4)];
}

export function range(values: readonly number[]): string {
  const middle = median(values);
  return middle === undefined
    ? '–'
    : `${rounded(middle)} (${rounded(Math.min(...values))}–${rounded(Math.max(...values))})`;
}

function rounded(value: number): string {
  return (value < 100 ? Number(value.toPrecision(2)) : Number(value.toPrecision(3))).toLocaleString('en-US');
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
