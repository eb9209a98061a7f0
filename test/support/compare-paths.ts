import { PageReader } from '../../src/adapters/typeorm/running/page-reader.js';
import { RowReader } from '../../src/adapters/typeorm/running/row-reader.js';
import { stampsIn } from '../../src/model/conditional.js';
import type { ListPlan } from '../../src/model/plan.js';
import type { Resource } from '../../src/model/resource.js';
import type { PageOf, RowWriting } from '../../src/request/execution/data-adapter.js';
import type { Soon } from '../../src/values/soon.js';
import { withoutComparingWrites } from './compare-writes.js';

/** How many lists and rows the database has written itself in this file of tests, each compared with the general path. */
export const compared = { pages: 0, rows: 0, askedPages: 0 };

const fast = Object.getOwnPropertyDescriptor(RowReader.prototype, 'texts')?.value as RowReader['texts'];
const fastRow = Object.getOwnPropertyDescriptor(RowReader.prototype, 'retrieveText')
  ?.value as RowReader['retrieveText'];

const fastStamped = Object.getOwnPropertyDescriptor(RowReader.prototype, 'retrieveStamped')
  ?.value as RowReader['retrieveStamped'];

const fastPage = Object.getOwnPropertyDescriptor(PageReader.prototype, 'text')?.value as PageReader['text'];

/**
 * Every list that the database writes itself is read on the general path too, while it is read, and both must be the same
 * to the byte: so each feature test is a test of both.
 */
RowReader.prototype.texts = function (this: RowReader, plan, writing) {
  const texts = fast.call(this, plan, writing);
  return texts === undefined ? undefined : both(this, { plan, writing, texts: iterated(texts) });
};

/** The same for a single row. */
RowReader.prototype.retrieveText = async function (this: RowReader, where, writing) {
  for (let attempt = 0; ; attempt++) {
    const text = await fastRow.call(this, where, writing);
    const row = await this.retrieve(where);
    const expected = row && JSON.stringify(writing.represent(row));
    compared.rows++;
    if (text === expected) return text;
    if (attempt === 5)
      throw new Error(`The database writes\n${text ?? 'nothing'}\nand the process\n${expected ?? 'nothing'}`);
  }
};

/** The same for one with its stamps, which the general path finds among its values. */
RowReader.prototype.retrieveStamped = async function (this: RowReader, where, writing) {
  const { resource } = this as unknown as { readonly resource: Resource };
  for (let attempt = 0; ; attempt++) {
    const stamped = await fastStamped.call(this, where, writing);
    const row = await this.retrieve(where);
    const expected = row && { text: JSON.stringify(writing.represent(row)), stamps: stampsIn(row, resource) };
    compared.rows++;
    if (JSON.stringify(stamped) === JSON.stringify(expected)) return stamped;
    if (attempt === 5)
      throw new Error(
        `The database writes\n${JSON.stringify(stamped)}\nand the process\n${JSON.stringify(expected)}`,
      );
  }
};

/** The same for a page that is asked for; what was counted is compared too. */
PageReader.prototype.text = async function (this: PageReader, plan, writing) {
  for (let attempt = 0; ; attempt++) {
    const page = await fastPage.call(this, plan, writing);
    const general = await this.rows(plan);
    const [written, expected] = [
      told(page),
      told({ ...general, rows: general.rows.map((row) => JSON.stringify(writing.represent(row))).join(',') }),
    ];
    compared.askedPages++;
    if (written === expected) return page;
    if (attempt === 5) throw new Error(`The database writes\n${written}\nand the process\n${expected}`);
  }
};

/** Where nothing is read, and behind the last row, no edge means anything. */
function told({ rows, size, more, count, first, last }: PageOf<string>): string {
  return JSON.stringify([rows, size, more, count, size > 0 ? first : [], more ? last : []]);
}

/** For a file of tests about time, order and number of statements, or with writers that never rest. */
export function withoutComparing(): void {
  RowReader.prototype.texts = fast;
  RowReader.prototype.retrieveText = fastRow;
  RowReader.prototype.retrieveStamped = fastStamped;
  PageReader.prototype.text = fastPage;
  withoutComparingWrites();
}

/** The two may turn their pages at different rows. */
async function* both(
  reader: RowReader,
  { plan, writing, texts }: { plan: ListPlan; writing: RowWriting; texts: AsyncIterable<string> },
): AsyncGenerator<string> {
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
      await mustAgree(reader, plan, writing);
    }
    expected = expected.slice(written.length);
    compared.pages++;
    yield text;
  }
  await general.return(undefined);
}

/** One text is a list of one page. */
async function* iterated(given: Soon<string | AsyncIterable<string>>): AsyncGenerator<string> {
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
  { represent }: RowWriting,
): AsyncGenerator<string> {
  for await (const rows of reader.list(plan))
    yield rows.map((row) => JSON.stringify(represent(row))).join(',');
}

/** Somebody may have written between the two: what differs once more, and again, differs. */
async function mustAgree(reader: RowReader, plan: ListPlan, writing: RowWriting): Promise<void> {
  let last: readonly [string, string] | undefined;
  for (let attempt = 0; attempt < 5; attempt++) {
    const texts = fast.call(reader, plan, writing);
    last = [
      await whole(texts === undefined ? generalTexts(reader, plan, writing) : iterated(texts)),
      await whole(generalTexts(reader, plan, writing)),
    ];
    if (last[0] === last[1]) return;
  }
  throw new Error(`The database writes\n${last?.[0] ?? ''}\nand the process\n${last?.[1] ?? ''}`);
}

async function whole(texts: AsyncIterable<string>): Promise<string> {
  const all: string[] = [];
  for await (const text of texts) all.push(text);
  return all.filter((text) => text !== '').join(',');
}
