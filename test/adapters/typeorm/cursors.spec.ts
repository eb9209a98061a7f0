// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CursorPosition } from '../../../src/core/contracts/pagination.js';
import { CursorCipher } from '../../../src/features/pagination/cursor-cipher.js';
import { kindEntity, KINDS } from '../../support/column-kinds.js';
import { connectAdapter } from '../../support/connect-adapter.js';
import type { ConnectedAdapter } from '../../support/connect-adapter.js';
import { onEachDatabase } from '../../support/each-database.js';
import { ModelRows } from '../../support/model-rows.js';

const SEAL = new CursorCipher(['a secret of the tests, and of nothing else']);
const PLACE = 'a list in one order';

/** The position as it comes back from a client. */
function sealed(position: CursorPosition): CursorPosition {
  const opened = SEAL.open(SEAL.seal(position, PLACE) ?? '', PLACE);
  if (!opened) throw new Error(`No cursor holds ${JSON.stringify(position)}`);
  return opened;
}

interface WalkedPage {
  readonly ids: readonly unknown[];
  readonly first: readonly unknown[];
  readonly last: readonly unknown[];
}

interface Walk {
  readonly ordering: string;
  readonly limit: number;
  readonly backward: boolean;
}

/** The pages of a list from a position on, or from its beginning. */
async function walk(
  model: ModelRows,
  { ordering, limit, backward }: Walk,
  from?: readonly unknown[],
): Promise<readonly WalkedPage[]> {
  const pages: WalkedPage[] = [];
  let position = from && sealed({ values: from, backward, inclusive: false });
  for (;;) {
    const { rows, ...page } = await model.page({ ordering }, { limit, from: position });
    pages.push({ ...page, ids: rows.map(({ id }) => id) });
    if (!page.more || pages.length === 100) return pages;
    position = sealed({ values: page.last, backward, inclusive: false });
  }
}

const idsOf = (pages: readonly WalkedPage[]): readonly unknown[] => pages.map(({ ids }) => ids);

// Every type that has an order; over HTTP one of each family (features/cursor-pagination.spec.ts).
onEachDatabase('cursors over a column of type', (database) => {
  const kinds = Object.entries(KINDS[database.name]).filter(([, { uncompared }]) => uncompared !== true);
  let connected: ConnectedAdapter;
  beforeAll(async () => {
    const entities = kinds.map(([name, kind]) => kindEntity(name, kind, { table: `cursors_${name}` }));
    connected = await connectAdapter({ entities, database });
  });
  afterAll(() => connected.close());

  test.each(kinds)(
    '%s lead to each row once, up and down, with nulls and ties',
    async (name, { ordered }) => {
      const model = new ModelRows(connected.adapter, connected.resource(`types.${name}`));
      // Of four nulls a page ends between two.
      const values = [...ordered, null, null, ...ordered, null, null];
      await model.createAll(values.map((value) => ({ value })));
      for (const [ordering, size] of [
        ['value', 3],
        ['-value,-id', 7],
      ] as const) {
        // Two pages at least.
        const limit = Math.min(size, values.length - 1);
        const all = (await model.list({ ordering })).map(({ id }) => id);
        expect(all).toHaveLength(values.length);
        const forth = await walk(model, { ordering, limit, backward: false });
        expect(idsOf(forth).flat()).toEqual(all);
        const back = await walk(model, { ordering, limit, backward: true }, forth.at(-1)?.first);
        expect(idsOf(back)).toEqual(idsOf(forth).slice(0, -1).reverse());
        // Read from its end, the page that stands first in the list begins where it was read last.
        const again = await walk(model, { ordering, limit, backward: false }, back.at(-1)?.first);
        expect(idsOf(again)).toEqual(idsOf(forth).slice(1));
      }
    },
  );

  test('lead through pages that the database writes', () => {
    expect(connected.compared.askedPages).toBeGreaterThan(kinds.length);
  });
});
