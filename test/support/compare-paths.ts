import { PageReader } from '../../src/adapters/typeorm/read/page-reader.js';
import { RowReader } from '../../src/adapters/typeorm/read/row-reader.js';
import { validatorColumnsIn } from '../../src/core/contracts/conditional.js';
import type { ListPlan, PagePlan } from '../../src/core/query/plan.js';
import type { PageOf, RowEncoder, ValidatedJson } from '../../src/core/data-adapter.js';
import type { MaybePromise } from '../../src/core/maybe-promise.js';
import { comparisonOf } from './comparison.js';
import type { Comparison } from './comparison.js';

const fast = Object.getOwnPropertyDescriptor(RowReader.prototype, 'listJson')?.value as RowReader['listJson'];
const fastRow = Object.getOwnPropertyDescriptor(RowReader.prototype, 'retrieveJson')
  ?.value as RowReader['retrieveJson'];

const fastStamped = Object.getOwnPropertyDescriptor(RowReader.prototype, 'retrieveStamped')
  ?.value as RowReader['retrieveStamped'];

const fastPage = Object.getOwnPropertyDescriptor(PageReader.prototype, 'json')?.value as PageReader['json'];

/**
 * In an application with comparison, every list that the database serializes is also read on the general path, and both must
 * be equal byte for byte, so that each feature test covers both.
 */
RowReader.prototype.listJson = function (this: RowReader, plan, writing) {
  const texts = fast.call(this, plan, writing);
  const comparison = comparisonFor(this);
  return texts === undefined || !comparison
    ? texts
    : both({ reader: this, comparison, plan, writing }, iterated(texts));
};

/** The same for a single row. */
RowReader.prototype.retrieveJson = function (this: RowReader, where, writing) {
  const comparison = comparisonFor(this);
  return comparison ? comparedText(this, comparison, { where, writing }) : fastRow.call(this, where, writing);
};

interface ReadOfOne {
  readonly where: Parameters<RowReader['retrieveJson']>[0];
  readonly writing: RowEncoder;
}

async function comparedText(
  reader: RowReader,
  comparison: Comparison,
  { where, writing }: ReadOfOne,
): Promise<string | undefined> {
  for (let attempt = 0; ; attempt++) {
    const text = await fastRow.call(reader, where, writing);
    const row = await reader.retrieve(where);
    const expected = row && JSON.stringify(writing.represent(row));
    comparison.rows++;
    if (text === expected) return text;
    if (attempt === 5) reportDifference(comparison, text ?? 'nothing', expected ?? 'nothing');
  }
}

/** The same for a row with its validator columns, which the general path takes from its values. */
RowReader.prototype.retrieveStamped = function (this: RowReader, where, writing) {
  const comparison = comparisonFor(this);
  return comparison
    ? comparedStamped(this, comparison, { where, writing })
    : fastStamped.call(this, where, writing);
};

async function comparedStamped(
  reader: RowReader,
  comparison: Comparison,
  { where, writing }: ReadOfOne,
): Promise<ValidatedJson | undefined> {
  for (let attempt = 0; ; attempt++) {
    const stamped = await fastStamped.call(reader, where, writing);
    const row = await reader.retrieve(where);
    const expected = row && {
      text: JSON.stringify(writing.represent(row)),
      stamps: validatorColumnsIn(row, reader['resource']),
    };
    comparison.rows++;
    if (JSON.stringify(stamped) === JSON.stringify(expected)) return stamped;
    if (attempt === 5) reportDifference(comparison, JSON.stringify(stamped), JSON.stringify(expected));
  }
}

/** The same for a requested page, including its count. */
PageReader.prototype.json = function (this: PageReader, plan, writing) {
  const comparison = comparisonFor(this['reader']);
  return comparison ? comparedPage(this, comparison, { plan, writing }) : fastPage.call(this, plan, writing);
};

async function comparedPage(
  reader: PageReader,
  comparison: Comparison,
  { plan, writing }: { readonly plan: PagePlan; readonly writing: RowEncoder },
): Promise<PageOf<string>> {
  for (let attempt = 0; ; attempt++) {
    const page = await fastPage.call(reader, plan, writing);
    const general = await reader.rows(plan);
    const written = toText(page);
    const expected = toText({
      ...general,
      rows: general.rows.map((row) => JSON.stringify(writing.represent(row))).join(','),
    });
    comparison.askedPages++;
    if (written === expected) return page;
    if (attempt === 5) reportDifference(comparison, written, expected);
  }
}

function comparisonFor(reader: RowReader): Comparison | undefined {
  return comparisonOf(reader['tables'].of(reader['resource']).dataSource);
}

function reportDifference(comparison: Comparison, written: string, expected: string): never {
  return comparison.report(`The database writes\n${written}\nand the process\n${expected}`);
}

/** Cursor values are compared only if the page has rows, and those of the last row only if there are more. */
function toText({ rows, size, more, count, first, last }: PageOf<string>): string {
  return JSON.stringify([rows, size, more, count, size > 0 ? first : [], more ? last : []]);
}

interface ComparedList {
  readonly reader: RowReader;
  readonly comparison: Comparison;
  readonly plan: ListPlan;
  readonly writing: RowEncoder;
}

/** Compares incrementally, because the page boundaries of the two paths may differ. */
async function* both(list: ComparedList, texts: AsyncIterable<string>): AsyncGenerator<string> {
  const { reader, comparison, plan, writing } = list;
  const general = generalTexts(reader, plan, writing);
  let [expected, differed] = ['', false];
  for await (const text of texts) {
    const written = withComma(text);
    while (!differed && expected.length < written.length) {
      const next = await general.next();
      if (next.done === true) break;
      expected += withComma(next.value);
    }
    if (!differed && !expected.startsWith(written)) {
      differed = true;
      await verifyAgreement(list);
    }
    expected = expected.slice(written.length);
    comparison.pages++;
    yield text;
  }
  await general.return(undefined);
}

/** A single string is a list of one page. */
async function* iterated(given: MaybePromise<string | AsyncIterable<string>>): AsyncGenerator<string> {
  const texts = await given;
  if (typeof texts === 'string') yield texts;
  else yield* texts;
}

function withComma(text: string): string {
  return text === '' ? '' : `${text},`;
}

async function* generalTexts(
  reader: RowReader,
  plan: ListPlan,
  { represent }: RowEncoder,
): AsyncGenerator<string> {
  for await (const rows of reader.list(plan))
    yield rows.map((row) => JSON.stringify(represent(row))).join(',');
}

/** Repeats the comparison, because another request may write between the two reads; only a persistent difference is reported. */
async function verifyAgreement({ reader, comparison, plan, writing }: ComparedList): Promise<void> {
  let last: readonly [string, string] | undefined;
  for (let attempt = 0; attempt < 5; attempt++) {
    const texts = fast.call(reader, plan, writing);
    last = [
      await whole(texts === undefined ? generalTexts(reader, plan, writing) : iterated(texts)),
      await whole(generalTexts(reader, plan, writing)),
    ];
    if (last[0] === last[1]) return;
  }
  reportDifference(comparison, last?.[0] ?? '', last?.[1] ?? '');
}

async function whole(texts: AsyncIterable<string>): Promise<string> {
  const all: string[] = [];
  for await (const text of texts) all.push(text);
  return all.filter((text) => text !== '').join(',');
}
