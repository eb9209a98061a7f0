// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CursorPosition } from '../../../src/core/contracts/pagination.js';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { kindEntity, KINDS } from '../../support/column-kinds.js';
import { connectAdapter } from '../../support/connect-adapter.js';
import type { ConnectedAdapter } from '../../support/connect-adapter.js';
import { onEachDatabase } from '../../support/each-database.js';
import { ModelRows } from '../../support/model-rows.js';

/** Nothing in a row tells what its rank is. */
@Restify({ app: 'types', name: 'odd_hidden', exclude: ['value'], ordering: ['value'] })
@Entity('odd_hiddens')
class OddHidden {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'integer' })
  value: number;
}

/** Values of the rows that pages hold, from one end of the list to the other. */
async function walked(
  model: ModelRows,
  { ordering, limit, backward }: { ordering: string; limit: number; backward: boolean },
  from?: readonly unknown[],
): Promise<readonly unknown[]> {
  const pages: (readonly unknown[])[] = [];
  let position: CursorPosition | undefined = from && { values: from, backward, inclusive: true };
  for (;;) {
    const { rows, size, more, last } = await model.page({ ordering }, { limit, from: position });
    expect(rows).toHaveLength(size);
    pages.push(rows.map(({ value }) => value));
    if (!more || pages.length === 50) return (backward ? pages.reverse() : pages).flat();
    position = { values: last, backward, inclusive: false };
  }
}

onEachDatabase('pages that the database writes as JSON', (database) => {
  const { text } = KINDS[database.name];
  let connected: ConnectedAdapter;
  let model: ModelRows;
  beforeAll(async () => {
    if (!text) throw new Error('No kind');
    connected = await connectAdapter({
      entities: [kindEntity('json_page', text, { table: 'json_pages' })],
      database,
    });
    model = new ModelRows(connected.adapter, connected.resource('types.json_page'));
  });
  afterAll(() => connected.close());

  test('end between two rows, whatever their texts look like', async () => {
    const values = [
      '},{',
      '"},{"id":',
      '},{"id":7,"value":"x"',
      '{"id":1},{"id":2}',
      '\\"},{"id":',
      'x\\',
      '},{"id":1}\n,{"id":',
      '',
      '},{}',
      'Ä},{"id":"€😀',
      '"',
      ',{"id":',
    ];
    await model.createAll(values.map((value) => ({ value })));
    const end = (await model.page({ ordering: '-id' }, { limit: 1 })).first;
    for (const limit of [1, 2, 3, 5, values.length - 1, values.length, values.length + 1]) {
      expect([limit, await walked(model, { ordering: 'id', limit, backward: false })]).toEqual([
        limit,
        values,
      ]);
      expect([limit, await walked(model, { ordering: 'id', limit, backward: true }, end)]).toEqual([
        limit,
        values,
      ]);
    }
  });
});

describe('on SQLite, pages in the order of a column', () => {
  let connected: ConnectedAdapter;
  beforeAll(async () => {
    const { integer, text } = KINDS.sqlite;
    if (!integer || !text) throw new Error('No kind');
    connected = await connectAdapter({
      entities: [
        kindEntity('odd_integer', integer, { table: 'odd_integers' }),
        kindEntity('odd_text', text, { table: 'odd_texts' }),
        OddHidden,
      ],
    });
  });
  afterAll(() => connected.close());

  test.each([
    // Both are 0.3 with 15 digits.
    ['odd_integer', ['0.3', '0.1 + 0.2', '0.1 + 0.2', '1', '9007199254740991', "'text'"]],
    ['odd_hidden', ['0.3', '0.1 + 0.2', '0.1 + 0.2', '1', '9007199254740991', "'text'"]],
    ['odd_text', ["'a'", "'b' || char(0) || 'c'", "x'00ff'", "x'00ff'", "x'01'", "'d'"]],
  ])('%s that holds values of other kinds go on where they ended', async (name, values) => {
    const model = new ModelRows(connected.adapter, connected.resource(`types.${name}`));
    for (const value of values)
      await connected.dataSource.query(`INSERT INTO ${name}s ("value") VALUES (${value})`);
    const ids = async (limit: number): Promise<readonly unknown[]> => {
      const found: unknown[] = [];
      let from: CursorPosition | undefined;
      for (let page = 0; page < 20; page++) {
        const { rows, more, last } = await model.page(name === 'odd_hidden' ? {} : { ordering: 'value' }, {
          limit,
          from,
        });
        found.push(...rows.map(({ id }) => id));
        if (!more) break;
        from = { values: last, backward: false, inclusive: false };
      }
      return found;
    };
    const all = await ids(values.length);
    expect([...all].sort()).toEqual([1, 2, 3, 4, 5, 6]);
    for (const limit of [1, 2, 3, 4, 5]) expect([limit, await ids(limit)]).toEqual([limit, all]);
  });
});
