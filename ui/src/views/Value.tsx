import type { JSX } from 'preact';
import { ExactNumber, writeJson } from '../api/parse-json.js';
import type { ReadableFieldDescription } from '../../../src/core/contracts/route-description.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { countBytes, formatDay, formatInstant, shorten, SHORT_TEXT } from '../values/format.js';
import { usePage } from './context.js';
import { Link } from './Link.js';

interface ValueProps {
  readonly value: unknown;
  /** Undefined for a value that is not described, such as a member that a serializer adds. */
  readonly field: ReadableFieldDescription | undefined;
  /** The label and URL of a related object. */
  readonly label?: string | undefined;
  readonly href?: string | undefined;
  /** The number of related objects of a list. */
  readonly count?: number | undefined;
  /** The URL of the related object with a key, of a field with several keys. */
  readonly hrefOf?: ((key: unknown) => string | undefined) | undefined;
  /** Whether long values are shown in full. */
  readonly full?: boolean;
}

/** Characters from which a text needs a column of some width to be readable. */
const WORDS = 24;

/** A value of a field, as people read it, with the exact value at hand. */
export function Value(props: ValueProps): JSX.Element {
  const { value } = props;
  if (value === null || value === undefined) return <span class="null">{text('null')}</span>;
  if (value === '') return <span class="null">{text('empty')}</span>;
  return <PresentValue {...props} />;
}

/** A value other than null and the empty text. */
function PresentValue(props: ValueProps): JSX.Element {
  const { value, field, full = false } = props;
  switch (field?.kind) {
    case 'to-one':
    case 'reverse-one':
      return <Reference {...props} />;
    case 'keys':
      return <Keys {...props} />;
    case 'link':
      return <NestedLink {...props} />;
    case 'datetime':
    case 'date':
      return <Instant value={String(value)} kind={field.kind} />;
    case 'binary':
      return <Binary value={String(value)} full={full} />;
    default:
      return <Scalar value={value} kind={field?.kind} full={full} />;
  }
}

const NUMBERS: ReadonlySet<string | undefined> = new Set(['integer', 'float', 'bigint', 'decimal']);

interface ScalarProps {
  readonly value: unknown;
  readonly kind: ReadableFieldDescription['kind'] | undefined;
  readonly full: boolean;
}

function Scalar({ value, kind, full }: ScalarProps): JSX.Element {
  if (value instanceof ExactNumber) return <span class="number">{value.text}</span>;
  if (typeof value === 'object') return <Structure value={value} full={full} />;
  if (NUMBERS.has(kind)) return <span class="number">{String(value)}</span>;
  return <Plain value={value} full={full} />;
}

function Plain({ value, full }: { readonly value: unknown; readonly full: boolean }): JSX.Element {
  if (typeof value === 'boolean')
    return <span class={value ? 'yes' : 'no'}>{text(value ? 'yes' : 'no')}</span>;
  if (typeof value === 'number') return <span class="number">{String(value)}</span>;
  return <LongText value={String(value)} full={full} />;
}

function LongText({ value, full }: { readonly value: string; readonly full: boolean }): JSX.Element {
  const shown = escapeText(value);
  if (full || value.length <= SHORT_TEXT)
    return (
      <bdi class={value.length > WORDS ? 'text words' : 'text'} dir="auto">
        {shown}
      </bdi>
    );
  return (
    <details class="long">
      <summary>
        <bdi dir="auto">{escapeText(shorten(value))}</bdi>
      </summary>
      <bdi class="text" dir="auto">
        {shown}
      </bdi>
    </details>
  );
}

function Instant({
  value,
  kind,
}: {
  readonly value: string;
  readonly kind: 'date' | 'datetime';
}): JSX.Element {
  const { language } = usePage();
  const shown = kind === 'date' ? formatDay(value, language) : formatInstant(value, language);
  return (
    <time dateTime={value} title={value}>
      {escapeText(shown)}
    </time>
  );
}

function Structure({ value, full }: { readonly value: unknown; readonly full: boolean }): JSX.Element {
  const pretty = escapeText(writeJson(value, 2));
  const compact = escapeText(writeJson(value));
  if (full) return <pre class="json">{pretty}</pre>;
  if (compact.length <= SHORT_TEXT) return <code class="json">{compact}</code>;
  return (
    <details class="long">
      <summary>
        <code>{shorten(compact)}</code>
      </summary>
      <pre class="json">{pretty}</pre>
    </details>
  );
}

function Binary({ value, full }: { readonly value: string; readonly full: boolean }): JSX.Element {
  const size = text('bytes', { count: countBytes(value) });
  return (
    <details class="long" open={full && value.length <= SHORT_TEXT}>
      <summary>{size}</summary>
      <code class="text">{escapeText(value)}</code>
    </details>
  );
}

function Reference({ value, label, href }: ValueProps): JSX.Element {
  const shown = escapeText(shorten(label ?? String(value)));
  if (href === undefined) return <bdi>{shown}</bdi>;
  return (
    <Link href={href}>
      <bdi>{shown}</bdi>
    </Link>
  );
}

/** The keys of related objects, each as a chip. */
function Keys({ value, hrefOf }: ValueProps): JSX.Element {
  const keys = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  if (keys.length === 0) return <span class="null">{text('empty')}</span>;
  return (
    <ul class="chips">
      {keys.map((key) => (
        <li key={String(key)}>
          <Reference value={key} field={undefined} href={hrefOf?.(key)} />
        </li>
      ))}
    </ul>
  );
}

function NestedLink({ value, href, count }: ValueProps): JSX.Element {
  const name = escapeText(String(value).split('/').filter(Boolean).at(-1) ?? '');
  if (href !== undefined && count !== undefined)
    return (
      <Link href={href} label={`${name}: ${count}`}>
        {count}
      </Link>
    );
  return href === undefined ? (
    <span class="hint">{text('notReadable', { name })}</span>
  ) : (
    <Link href={href}>
      <span class="nested">{name}</span>
    </Link>
  );
}
