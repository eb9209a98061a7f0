import { JsonReader } from '../../src/execution/read/json-reader.js';
import type { RowReader } from '../../src/execution/read/row-reader.js';
import type { Table } from '../../src/adapters/typeorm/table-metadata.js';
import type { Session } from '../../src/execution/port.js';
import type { JsonOutput, JsonRow, PageOf } from '../../src/core/data-adapter.js';
import type { MaybePromise } from '../../src/core/maybe-promise.js';
import type { Row } from '../../src/core/contracts/serializer.js';
import type { ListPlan, PagePlan, RetrievePlan } from '../../src/core/query/plan.js';
import { rowsToJson } from '../../src/core/values/rows-to-json.js';
import { comparisonOf } from './comparison.js';
import type { Comparison } from './comparison.js';

const fastList = Object.getOwnPropertyDescriptor(JsonReader.prototype, 'list')
  ?.value as JsonReader<Session>['list'];
const fastRow = Object.getOwnPropertyDescriptor(JsonReader.prototype, 'row')
  ?.value as JsonReader<Session>['row'];
const fastPage = Object.getOwnPropertyDescriptor(JsonReader.prototype, 'page')
  ?.value as JsonReader<Session>['page'];

/**
 * In an application with comparison, every list that the database serializes is also read on the general path, and both must
 * be equal byte for byte, so that each feature test covers both.
 */
JsonReader.prototype.list = function (this: JsonReader<Session>, plan, output) {
  const texts = fastList.call(this, plan, output);
  const comparison = comparisonOfReader(this['rows']);
  return comparison && output.isDefault
    ? both({ reader: this, comparison, plan, output }, iterated(texts))
    : texts;
};

/** The same for a single row, with its validator columns where they are read. */
JsonReader.prototype.row = function (this: JsonReader<Session>, plan, output) {
  const comparison = comparisonOfReader(this['rows']);
  return comparison && output.isDefault
    ? compareReadRow(this, comparison, { plan, output })
    : fastRow.call(this, plan, output);
};

interface ReadOfOne {
  readonly plan: RetrievePlan;
  readonly output: JsonOutput;
}

async function compareReadRow(
  reader: JsonReader<Session>,
  comparison: Comparison,
  { plan, output }: ReadOfOne,
): Promise<JsonRow | undefined> {
  for (let attempt = 0; ; attempt++) {
    const fast = await fastRow.call(reader, plan, output);
    const written = JSON.stringify(fast);
    const others = [
      JSON.stringify(await reader['serializeRow'](plan, output)),
      JSON.stringify(await reader['serializeRow'](plan, objectsOf(output))),
    ];
    comparison.rows++;
    if (others.every((other) => other === written)) return fast;
    if (attempt === 5) reportDifference(comparison, written, others.join('\n'));
  }
}

/** The same for a requested page, including its count. */
JsonReader.prototype.page = function (this: JsonReader<Session>, plan, output) {
  const comparison = comparisonOfReader(this['rows']);
  return comparison && output.isDefault
    ? comparedPage(this, comparison, { plan, output })
    : fastPage.call(this, plan, output);
};

async function comparedPage(
  reader: JsonReader<Session>,
  comparison: Comparison,
  { plan, output }: { readonly plan: PagePlan; readonly output: JsonOutput },
): Promise<PageOf<string>> {
  for (let attempt = 0; ; attempt++) {
    const page = await fastPage.call(reader, plan, output);
    const general = await reader['rows'].page(plan);
    const written = toText(page);
    const expected = toText({
      ...general,
      rows: serializeRows(general.rows, output, comparison),
    });
    comparison.askedPages++;
    if (written === expected) return page;
    if (attempt === 5) reportDifference(comparison, written, expected);
  }
}

function comparisonOfReader(reader: RowReader<Session>): Comparison | undefined {
  return comparisonOf((reader.tools.tables.of(reader.resource) as Table).dataSource);
}

function reportDifference(comparison: Comparison, written: string, expected: string): never {
  return comparison.report(`Written is\n${written}\nand the serializer makes\n${expected}`);
}

/** The default serializer makes objects of these rows. */
function objectsOf(output: JsonOutput): JsonOutput {
  return { ...output, isDefault: false };
}

/** The JSON of the objects that the serializer makes of rows, compared with the JSON that the process writes of the rows. */
function serializeRows(rows: readonly Row[], output: JsonOutput, comparison: Comparison): string {
  const [written, expected] = [rowsToJson(rows, output), rowsToJson(rows, objectsOf(output))];
  if (written !== expected) reportDifference(comparison, written, expected);
  return expected;
}

/** Cursor values are compared only if the page has rows, and those of the last row only if there are more. */
function toText({ rows, size, more, count, first, last }: PageOf<string>): string {
  return JSON.stringify([rows, size, more, count, size > 0 ? first : [], more ? last : []]);
}

interface ComparedList {
  readonly reader: JsonReader<Session>;
  readonly comparison: Comparison;
  readonly plan: ListPlan;
  readonly output: JsonOutput;
}

/** Compares incrementally, because the page boundaries of the two paths may differ. */
async function* both(list: ComparedList, texts: AsyncIterable<string>): AsyncGenerator<string> {
  const { reader, comparison, output } = list;
  const isWrittenByDatabase = reader.jsonRowsFor(output) !== undefined;
  const general = generalTexts(list);
  let [expected, differed] = ['', false];
  for await (const text of texts) {
    const written = withSeparator(text, output);
    while (!differed && expected.length < written.length) {
      const next = await general.next();
      if (next.done === true) break;
      expected += withSeparator(next.value, output);
    }
    if (!differed && !expected.startsWith(written)) {
      differed = true;
      await verifyAgreement(list);
    }
    expected = expected.slice(written.length);
    if (isWrittenByDatabase) comparison.pages++;
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

function withSeparator(text: string, { separator = ',' }: JsonOutput): string {
  return text === '' ? '' : text + separator;
}

async function* generalTexts({ reader, comparison, plan, output }: ComparedList): AsyncGenerator<string> {
  for await (const rows of reader['rows'].list(plan)) yield serializeRows(rows, output, comparison);
}

/** Repeats the comparison, because another request may write between the two reads; only a persistent difference is reported. */
async function verifyAgreement({ reader, comparison, plan, output }: ComparedList): Promise<void> {
  let last: readonly [string, string] | undefined;
  for (let attempt = 0; attempt < 5; attempt++) {
    last = [
      await whole(iterated(fastList.call(reader, plan, output))),
      await whole(generalTexts({ reader, comparison, plan, output })),
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
