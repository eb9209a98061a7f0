import type { JSX } from 'preact';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { shorten } from '../values/format.js';
import { usePage } from './context.js';

/** A group of a chart. */
export interface Point {
  readonly label: string;
  readonly value: number;
  /** The value with all its digits. */
  readonly shown: string;
  /** The begin of the group in milliseconds, where groups are those of a unit of time. */
  readonly time?: number;
}

interface ChartProps {
  readonly title: string;
  /** Not empty. */
  readonly points: readonly Point[];
  /** The unit of time of the groups of a line. */
  readonly unit?: string | undefined;
}

/** More bars say less than the table. */
const MOST_BARS = 30;
/** In pixels; a bar has its label above it, for which it has the whole width. */
const BAR = 42;
const LINE = 200;

/** Bars, or a line over time, of the values of one measure. The table below them has the same values. */
export function Chart({ title, points, unit }: ChartProps): JSX.Element {
  const shown = unit === undefined ? points.slice(0, MOST_BARS) : points;
  const [least, most] = endsOf(shown);
  const told = ({ shown: value, label }: Point): string => `${value} (${label})`;
  const about = text('chartAbout', { title, count: shown.length, least: told(least), most: told(most) });
  return (
    <figure class="chart">
      <figcaption>
        {title}
        {shown.length < points.length && (
          <span class="hint"> {text('firstGroups', { count: MOST_BARS })}</span>
        )}
      </figcaption>
      <svg
        role="img"
        aria-label={escapeText(about)}
        width="100%"
        height={unit === undefined ? shown.length * BAR : LINE + 24}
      >
        {unit === undefined ? (
          <Bars points={shown} least={Math.min(0, least.value)} most={Math.max(0, most.value)} />
        ) : (
          <Line points={shown} unit={unit} least={roundOut(least.value)} most={roundOut(most.value)} />
        )}
      </svg>
    </figure>
  );
}

/** The points with the least and the greatest value. */
function endsOf(points: readonly Point[]): readonly [Point, Point] {
  const pick = (isFirst: (a: number, b: number) => boolean): Point =>
    points.reduce((found, each) => (isFirst(each.value, found.value) ? each : found));
  return [pick((a, b) => a < b), pick((a, b) => a > b)];
}

interface DrawnProps {
  readonly points: readonly Point[];
  /** The ends of the scale. */
  readonly least: number;
  readonly most: number;
}

function Bars({ points, least, most }: DrawnProps): JSX.Element {
  const percent = (value: number): number => (100 * value) / (most - least || 1);
  return (
    <>
      {points.map(({ label, value, shown }, at) => (
        <g key={at}>
          <title>{escapeText(`${label}: ${shown}`)}</title>
          <text y={at * BAR + 14}>{escapeText(shorten(label, 32))}</text>
          <text x="100%" y={at * BAR + 14} class="end">
            {shown}
          </text>
          <rect
            x={`${percent(Math.min(value, 0) - least)}%`}
            y={at * BAR + 20}
            width={`${percent(Math.abs(value))}%`}
            height={12}
            rx={3}
          />
        </g>
      ))}
    </>
  );
}

/** The usual length of units, in days. Between groups that are further apart, the line has a gap. */
const DAYS: Readonly<Record<string, number>> = {
  year: 366,
  quarter: 92,
  month: 31,
  week: 7,
  day: 1,
  hour: 1 / 24,
};

function Line({ points, unit, ...scale }: DrawnProps & { readonly unit: string }): JSX.Element {
  const { language } = usePage();
  const least = Math.min(0, scale.least);
  const most = Math.max(0, scale.most);
  const begin = points[0]?.time ?? 0;
  const end = points.at(-1)?.time ?? 0;
  const x = ({ time = 0 }: Point): string =>
    begin === end ? '50%' : `${1 + (98 * (time - begin)) / (end - begin)}%`;
  const y = (value: number): number => LINE - ((LINE - 20) * (value - least)) / (most - least || 1);
  const ticks = [...new Set([least, (least + most) / 2, most])];
  const longest = (DAYS[unit] ?? 1) * 1.5 * 86_400_000;
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick} class="tick">
          <line x2="100%" y1={y(tick)} y2={y(tick)} />
          <text y={y(tick) - 4}>{new Intl.NumberFormat(language, { notation: 'compact' }).format(tick)}</text>
        </g>
      ))}
      {points.map((point, at) => {
        const before = points[at - 1];
        const isJoined = before && (point.time ?? 0) - (before.time ?? 0) < longest;
        return (
          <g key={at}>
            <title>{escapeText(`${point.label}: ${point.shown}`)}</title>
            {isJoined && <line x1={x(before)} y1={y(before.value)} x2={x(point)} y2={y(point.value)} />}
            <circle cx={x(point)} cy={y(point.value)} r={4} />
          </g>
        );
      })}
      <text y={LINE + 20}>{points[0]?.label}</text>
      {points.length > 1 && (
        <text x="100%" y={LINE + 20} class="end">
          {points.at(-1)?.label}
        </text>
      )}
    </>
  );
}

/** The next number with one digit other than 0, away from 0, that is easy to read on a scale. */
function roundOut(value: number): number {
  if (value === 0) return 0;
  const unit = 10 ** Math.floor(Math.log10(Math.abs(value)));
  const steps = [1, 2, 5, 10].map((step) => step * unit);
  return Math.sign(value) * (steps.find((step) => step >= Math.abs(value)) ?? unit * 10);
}
