import { median, table } from '../report.js';
import type { VariantRun } from './measure.js';
import { FIRST_REQUESTS } from './measure.js';
import { ITEM_WORKLOADS } from './requests.js';
import { variantOf } from './variants.js';
import type { VariantName } from './variants.js';

/** The maximum cost of one option, relative to the plain model. */
export const OPTION_LIMIT = 1.3;
/** The minimum speed-up of the typical model over the hand-written one. */
export const BY_HAND_GOAL = 1.8;

const FIGURES = [...ITEM_WORKLOADS, 'first'] as const;
type Figure = (typeof FIGURES)[number];

const HEAD = [
  '',
  'list of 100',
  'retrieve',
  'create',
  'change',
  `first ${FIRST_REQUESTS.toLocaleString('en-US')} requests`,
];

const PAIRS: readonly (readonly [ours: VariantName, byHand: VariantName])[] = [
  ['typical-basic', 'typical-basic-by-hand'],
  ['typical-bearer', 'typical-bearer-by-hand'],
];

/**
 * The fastest conceivable server of the typical model, and the hand-written one: no implementation reaches more than their
 * ratio.
 */
const LIMIT = { limit: 'typical-basic-limit', byHand: 'typical-basic-by-hand' } as const;

/** Markdown of one run on one database and platform. */
export function reportOf(title: string, runs: readonly VariantRun[]): string {
  const plain = runs.filter(({ variant }) => variant === 'plain');
  const others = runs.filter(({ variant }) => variant !== 'plain' && !variant.startsWith('typical-'));
  const typical = [...PAIRS.flat(), LIMIT.limit].flatMap((name) =>
    runs.filter(({ variant }) => variant === name),
  );
  const baseline = baselineOf(plain);
  const sections = [
    `### ${title}`,
    table(HEAD, [
      [
        'plain model, µs',
        ...FIGURES.map((figure) => (median(plain.map((run) => cpuPerRequest(run, figure))) ?? 0).toFixed(0)),
      ],
      [`plain model, ${plain.length} runs`, ...FIGURES.map((figure) => spread(plain, baseline, figure))],
      ...others.map((run) => [
        variantOf(run.variant).title,
        ...FIGURES.map((figure) => ratioCell(relative(run, baseline, figure), figure !== 'first')),
      ]),
    ]),
    ...(typical.length === 0 ? [] : [typicalTable(typical, baseline)]),
    aboveLimit(others, baseline),
  ];
  return `${sections.join('\n\n')}\n`;
}

type Baseline = Readonly<Record<Figure, number>>;

/** Medians of the equal runs of the plain model, relative to the reference server. */
export function baselineOf(plain: readonly VariantRun[]): Baseline {
  const of = (figure: Figure): number => median(plain.map((run) => valueOf(run, figure))) ?? 1;
  return {
    list: of('list'),
    retrieve: of('retrieve'),
    create: of('create'),
    change: of('change'),
    first: of('first'),
  };
}

/** CPU per request, divided by the plain model's. */
export function relative(run: VariantRun, baseline: Baseline, figure: Figure): number {
  return valueOf(run, figure) / baseline[figure];
}

/** A ratio to the reference; the first requests have none, because they come once. */
function valueOf(run: VariantRun, figure: Figure): number {
  return figure === 'first' ? run.first : run.costs[figure].ratio;
}

function cpuPerRequest(run: VariantRun, figure: Figure): number {
  return figure === 'first' ? run.first : run.costs[figure].cpu;
}

function spread(plain: readonly VariantRun[], baseline: Baseline, figure: Figure): string {
  const values = plain.map((run) => relative(run, baseline, figure));
  return `${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)}`;
}

function ratioCell(value: number, limited: boolean): string {
  return limited && value > OPTION_LIMIT ? `**${value.toFixed(2)}**` : value.toFixed(2);
}

function typicalTable(runs: readonly VariantRun[], baseline: Baseline): string {
  const times = runs.map((run) => [
    `${variantOf(run.variant).title}, µs`,
    ...FIGURES.map((figure) => cpuPerRequest(run, figure).toFixed(0)),
  ]);
  const find = (name: VariantName): VariantRun | undefined => runs.find(({ variant }) => variant === name);
  const goals = PAIRS.flatMap(([ours, byHand]) => {
    const [fast, slow] = [find(ours), find(byHand)];
    if (!fast) return [];
    const toPlain = FIGURES.map((figure) => relative(fast, baseline, figure).toFixed(2));
    const rows = [[`${variantOf(ours).title} ÷ plain model`, ...toPlain]];
    if (!slow) return rows;
    const cells = gainsOf(fast, slow).map((gain, at) => goalCell(gain, FIGURES[at] !== 'first'));
    return [...rows, [`by hand ÷ ${variantOf(ours).title} (goal: ≥ ${BY_HAND_GOAL})`, ...cells]];
  });
  const [limit, byHand] = [find(LIMIT.limit), find(LIMIT.byHand)];
  const most =
    limit && byHand
      ? [['by hand ÷ the limit', ...gainsOf(limit, byHand).map((gain) => gain.toFixed(2))]]
      : [];
  return table(HEAD, [...times, ...goals, ...most]);
}

function gainsOf(fast: VariantRun, slow: VariantRun): readonly number[] {
  return FIGURES.map((figure) => valueOf(slow, figure) / valueOf(fast, figure));
}

function goalCell(gain: number, limited: boolean): string {
  return limited && gain < BY_HAND_GOAL ? `${gain.toFixed(2)} (**not met**)` : gain.toFixed(2);
}

function aboveLimit(runs: readonly VariantRun[], baseline: Baseline): string {
  const found = runs.flatMap((run) =>
    ITEM_WORKLOADS.filter((workload) => relative(run, baseline, workload) > OPTION_LIMIT).map(
      (workload) =>
        `${variantOf(run.variant).title} (${workload}: ${relative(run, baseline, workload).toFixed(2)})`,
    ),
  );
  return found.length === 0
    ? `No option is above ${OPTION_LIMIT}.`
    : `Above ${OPTION_LIMIT}: ${found.join('; ')}.`;
}
