// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CursorPagination, Restify } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('emptykeys')
@Entity('empty_client')
class Client {
  @PrimaryColumn({ type: 'int' }) tenant: number;
  @PrimaryColumn({ type: 'int' }) no: number;
}

/** Both relations have the column of the tenant, which is never null. */
@Restify({
  app: 'emptykeys',
  pagination: new CursorPagination({ pageSize: 2, secret: 'a secret of 32 letters or more, for tests' }),
  ordering: ['buyer'],
})
@Entity('empty_sale')
class Sale {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ type: 'int' }) tenant: number;
  @Column({ type: 'int', nullable: true }) buyerNo: number | null;
  @Column({ type: 'int', nullable: true }) payerNo: number | null;

  @ManyToOne(() => Client, { nullable: true })
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'buyerNo', referencedColumnName: 'no' },
  ])
  buyer: Relation<Client> | null;

  @ManyToOne(() => Client, { nullable: true })
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'payerNo', referencedColumnName: 'no' },
  ])
  payer: Relation<Client> | null;
}

@Restify({ app: 'emptykeys', orderingFields: ['sale.buyer'] })
@Entity('empty_line')
class Line {
  @PrimaryColumn({ type: 'int' }) id: number;
  @ManyToOne(() => Sale, { nullable: true }) sale: Relation<Sale> | null;
}

onEachDatabase('an order by a key that shares a column with another one', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Client, Sale, Line], database });
    const { manager } = started.dataSource;
    await manager.save(Client, [
      { tenant: 1, no: 1 },
      { tenant: 1, no: 2 },
      { tenant: 2, no: 1 },
    ]);
    await manager.insert(Sale, [
      { id: 1, tenant: 2, buyerNo: 1, payerNo: null },
      { id: 2, tenant: 2, buyerNo: null, payerNo: 1 },
      { id: 3, tenant: 1, buyerNo: 2, payerNo: null },
      { id: 4, tenant: 1, buyerNo: null, payerNo: null },
      { id: 5, tenant: 1, buyerNo: 1, payerNo: 1 },
    ]);
    await manager.insert(Line, [
      { id: 11, sale: null },
      { id: 12, sale: { id: 2 } },
      { id: 13, sale: { id: 5 } },
      { id: 14, sale: { id: 3 } },
      { id: 15, sale: { id: 4 } },
    ]);
  });
  afterAll(() => started.close());

  /** The keys of all pages, forwards. */
  const walk = async (first: string): Promise<readonly number[]> => {
    const ids: number[] = [];
    for (let url: string | null = first; url !== null;) {
      const { json } = await started.client.get(url);
      const { results, next } = json as { results: { id: number }[]; next: string | null };
      ids.push(...results.map(({ id }) => id));
      url = next && next.slice(next.indexOf('/rest/'));
    }
    return ids;
  };
  const withNulls = (nulls: readonly number[], others: readonly number[], first: boolean) =>
    first ? [...nulls, ...others] : [...others, ...nulls];
  const nullsFirst = database.name !== 'postgres';

  test.each([
    ['', [2, 4], [5, 3, 1], nullsFirst],
    ['?ordering=buyer', [2, 4], [5, 3, 1], nullsFirst],
    ['?ordering=-buyer', [4, 2], [1, 3, 5], !nullsFirst],
    ['?ordering=payer', [1, 3, 4], [5, 2], nullsFirst],
    ['?ordering=tenant', [3, 4, 5], [1, 2], true],
  ])('has the rows without one together: %s', async (query, nulls, others, first) => {
    expect(await walk(`/rest/v1/emptykeys/sale/${query}`)).toEqual(withNulls(nulls, others, first));
  });

  test('has them together over a relation, too', async () => {
    const { json } = await started.client.get('/rest/v1/emptykeys/line/?ordering=sale__buyer');
    const ids = (json as { id: number }[]).map(({ id }) => id);
    expect(ids).toEqual(withNulls([11, 12, 15], [13, 14], nullsFirst));
  });
});
