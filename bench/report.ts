import type { DatabaseName, Statistics } from './databases.js';
import { COMPARISONS, GOALS } from './goals.js';
import type { Comparison } from './goals.js';
import type { Contestant } from './contestants.js';
import { MODES } from './measure.js';
import type { Measured, Mode, ProcessRun } from './measure.js';
import type { Sample } from './sample.js';
import type { Workload } from './workloads.js';

export interface DatabaseResult {
  readonly name: DatabaseName;
  readonly statistics: Statistics;
  readonly title: string;
  readonly workloads: readonly Workload[];
  readonly contestants: readonly Contestant[];
  readonly measured: readonly Measured[];
  /** Contestants that did not start, and why. */
  readonly missing: Readonly<Record<string, string>>;
}

/** What a request took, of a sample. */
type FigureOf = (sample: Sample) => number | undefined;

const SPEED: FigureOf = ({ requests, seconds }) => requests / seconds;
const CPU: FigureOf = ({ cpu, requests }) => cpu / requests;
const DATABASE_CPU: FigureOf = ({ databaseCpu, requests }) => databaseCpu && databaseCpu / requests;
const TOTAL_CPU: FigureOf = ({ cpu, databaseCpu, requests }) =>
  databaseCpu === undefined ? undefined : (cpu + databaseCpu) / requests;

/** The report of one database, as Markdown. */
export function reportOf(result: DatabaseResult): string {
  const sections = [
    `## ${result.title}`,
    ...Object.entries(result.missing).map(([name, reason]) => `Not available: \`${name}\` (${reason})`),
    ...result.measured.flatMap(({ contestant, workload, mode, failure }) =>
      failure === undefined
        ? []
        : [`Failed under load: \`${contestant}\` in \`${workload}\`, ${mode}: ${failure}`],
    ),
    'Each cell has the median of the processes (their lowest–highest) after the warm-up; then that of their first requests.',
    figures(result, 'Server CPU per request, in microseconds', CPU),
    ...(has(result, DATABASE_CPU)
      ? [
          figures(result, 'Server and database together: CPU per request, in microseconds', TOTAL_CPU),
          figures(result, "CPU of the database's processes per request, in microseconds", DATABASE_CPU),
        ]
      : []),
    figures(result, 'Requests per second', SPEED),
    ...modesOf(result).map(
      (mode) =>
        `### Goals, ${mode} processes\n\nBeside each ratio of CPU stand those that others reach: \`raw\`, and, where they are measured, a bare handler behind the same library (the limit), and the same answers, written by hand for these tables alone.\n\n${goals(result, mode)}`,
    ),
    ...tracedOnes(result),
    ...rivals(result),
  ];
  return `${sections.join('\n\n')}\n`;
}

function modesOf({ measured }: Pick<DatabaseResult, 'measured'>): readonly Mode[] {
  return MODES.filter((mode) => measured.some((each) => each.mode === mode));
}

function figures(result: DatabaseResult, title: string, figure: FigureOf): string {
  const names = result.contestants
    .map(({ name }) => name)
    .filter((name) => result.measured.some(({ contestant }) => contestant === name));
  const lines = result.workloads.flatMap((workload) =>
    modesOf(result).map((mode) => [
      `${workload}, ${mode}`,
      ...names.map((name) => {
        const first = median(firstValuesOf(result, { name, workload, mode }, figure));
        const beside = first === undefined ? '' : `; first ${rounded(first)}`;
        return `${range(valuesOf(result, { name, workload, mode }, figure))}${beside}`;
      }),
    ]),
  );
  return `### ${title}\n\n${table(['', ...names.map((name) => `\`${name}\``)], lines)}`;
}

function goals(result: DatabaseResult, mode: Mode): string {
  const lines = result.workloads.flatMap((workload) =>
    workload === 'constant'
      ? []
      : [
          [
            workload,
            ...COMPARISONS.map((comparison, at) =>
              goalCell(result, { workload, mode, ...comparison, goal: GOALS[workload]?.[at] }),
            ),
          ],
        ],
  );
  return table(['', ...COMPARISONS.map(({ fast, slow }) => `${fast} ÷ ${slow}`)], lines);
}

function goalCell(
  result: DatabaseResult,
  { limit, same, goal, ...pair }: Comparison & RatioOf & { readonly goal: number | undefined },
): string {
  const speed = ratio(result, pair, 'requests');
  const cpu = ratio(result, pair, 'cpu');
  const wanted = goal === undefined ? '' : `≥ ${goal}: `;
  if (speed === undefined || cpu === undefined) return `${wanted}not measured`;
  const beside = [
    ['raw', 'raw'],
    ['limit', limit],
    ['same answers', same],
  ].flatMap(([name = '', fast = '']) => {
    const most = fast === pair.slow ? undefined : ratio(result, { ...pair, fast }, 'cpu');
    return most === undefined ? [] : [`, ${name} ${most.toFixed(2)}`];
  });
  return `${wanted}requests/s ${ratioVerdict(speed, goal)}, CPU ${ratioVerdict(cpu, goal)}${beside.join('')}`;
}

function ratioVerdict(value: number, goal: number | undefined): string {
  if (goal === undefined) return value.toFixed(2);
  return `${value.toFixed(2)} ${value >= goal ? 'met' : '**not met**'}`;
}

/** How many times as much CPU a server takes with a tracer as without, for one object by its key. */
function tracedOnes(result: DatabaseResult): string[] {
  const lines = ['restify-express', 'handwritten'].flatMap((name) =>
    modesOf(result).flatMap((mode) => {
      const more = ratio(result, { workload: 'retrieve', mode, fast: name, slow: `${name}-traced` }, 'cpu');
      return more === undefined ? [] : [`- \`${name}\`, ${mode}: ${more.toFixed(2)}`];
    }),
  );
  return lines.length === 0
    ? []
    : [`### CPU with OpenTelemetry ÷ without, one object by its key\n\n${lines.join('\n')}`];
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
      : modesOf(result).map((mode) => [
          `${workload}, ${mode}`,
          ...names.map((slow) =>
            ours.map((fast) => rivalCell(result, { workload, mode, fast, slow })).join(' / '),
          ),
        ]),
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
  readonly mode: Mode;
  readonly fast: string;
  readonly slow: string;
}

/** The speed-up of `fast`, by the medians; undefined if one of them was not measured. */
export function ratio(
  result: Pick<DatabaseResult, 'measured'>,
  { fast, slow, ...cell }: RatioOf,
  by: 'requests' | 'cpu',
): number | undefined {
  const figure = by === 'cpu' ? CPU : SPEED;
  const [ours, theirs] = [fast, slow].map((name) => median(valuesOf(result, { name, ...cell }, figure)));
  if (ours === undefined || theirs === undefined) return undefined;
  return by === 'cpu' ? theirs / ours : ours / theirs;
}

/**
 * The lowest and the highest speed-up of `fast` by CPU of the processes that ran at the same time. Undefined if one of them was
 * not measured.
 */
export function ratioSpread(
  result: Pick<DatabaseResult, 'measured'>,
  { fast, slow, ...cell }: RatioOf,
): { readonly lowest: number; readonly highest: number } | undefined {
  const [ours = [], theirs = []] = [fast, slow].map((name) => valuesOf(result, { name, ...cell }, CPU));
  const ratios = ours.flatMap((value, process) => {
    const other = theirs[process];
    return other === undefined ? [] : [other / value];
  });
  return ratios.length === 0 ? undefined : { lowest: Math.min(...ratios), highest: Math.max(...ratios) };
}

interface CellOf {
  readonly name: string;
  readonly workload: Workload;
  readonly mode: Mode;
}

function processesOf(
  { measured }: Pick<DatabaseResult, 'measured'>,
  { name, workload, mode }: CellOf,
): readonly ProcessRun[] {
  const found = measured.find(
    (each) => each.contestant === name && each.workload === workload && each.mode === mode,
  );
  return found?.processes ?? [];
}

/** One value for each process: the median of its rounds. */
function valuesOf(result: Pick<DatabaseResult, 'measured'>, cell: CellOf, figure: FigureOf): number[] {
  return processesOf(result, cell)
    .map(({ rounds }) => median(rounds.map(figure).filter((value) => value !== undefined)))
    .filter((value) => value !== undefined);
}

function firstValuesOf(result: DatabaseResult, cell: CellOf, figure: FigureOf): number[] {
  return processesOf(result, cell)
    .map(({ first }) => first && figure(first))
    .filter((value) => value !== undefined);
}

function has(result: DatabaseResult, figure: FigureOf): boolean {
  return result.measured.some(({ processes }) =>
    processes.some(({ rounds }) => rounds.some((sample) => figure(sample) !== undefined)),
  );
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
