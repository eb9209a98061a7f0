// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class Place {
  @Column({ length: 75, nullable: true, type: 'varchar' })
  city: string | null;

  @Column({ default: false })
  far: boolean;
}

@Restify({ app: 'both', orderingFields: ['id', 'text', 'born'] })
@Entity('both_thing')
class Thing {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'text' })
  text: string;

  @Column({ type: 'bigint', nullable: true })
  big: string | null;

  @Column({ type: 'boolean', nullable: true })
  yes: boolean | null;

  @Column({ type: 'date', nullable: true })
  born: string | null;

  @Column({ nullable: true, type: 'int' })
  whole: number | null;

  @Column(() => Place)
  place: Place;

  @ManyToOne(() => Thing, (thing) => thing.children, { nullable: true })
  parent: Relation<Thing> | null;

  @OneToMany(() => Thing, (thing) => thing.parent)
  children: Relation<Thing[]>;
}

const TEXTS = [
  'plain',
  'quotes " and \\ and /',
  'tab\tline\nfeed\rreturn\bback\fform',
  '\u0001\u001f\u007f\u0080',
  'é 😀 \u2028\u2029',
  "it's; DROP TABLE both_thing --",
  '<script>&amp;',
  '{"a":1}',
  ' ',
  '%s %d $1 ?',
];

onEachDatabase('a list that the database writes itself', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Thing], database });
    const rows = TEXTS.map((text, index) => ({
      text,
      big: index % 2 ? '9223372036854775807' : null,
      yes: [true, false, null][index % 3] ?? null,
      born: index % 2 ? '2026-02-28' : null,
      whole: index % 2 ? -index : null,
      place: { city: index % 2 ? text : null, far: index % 3 === 0 },
      parent: null,
    }));
    await started.dataSource.getRepository(Thing).save(rows);
    await started.dataSource.getRepository(Thing).update(2, { parent: { id: 1 } });
  });
  afterAll(() => started.close());

  test('is the same as one that is written in process, to the byte, and is used where it can be', async () => {
    const before = started.compared.pages;
    const answer = await started.client.get('/rest/v1/both/thing/');
    expect((answer.json as { text: string }[]).map(({ text }) => text)).toEqual(TEXTS);
    expect((answer.json as unknown[])[1]).toEqual({
      id: 2,
      text: TEXTS[1],
      big: '9223372036854775807',
      yes: false,
      born: '2026-02-28',
      whole: -1,
      place: { city: TEXTS[1], far: false },
      parent: 1,
      children: '/rest/v1/both/thing/2/children/',
    });
    for (const path of [
      '?ordering=-id',
      '?ordering=text',
      '?ordering=-born',
      '?whole=-1',
      '?search=script',
      '?id=99',
      '1/children/',
      '99/children/',
    ])
      await started.client.get(`/rest/v1/both/thing/${path}`);
    // One page a list: the collection, six queries and a nested list.
    expect(started.compared.pages - before).toBe(database.name === 'mariadb' ? 0 : 8);
  });

  test('goes on over pages, whatever the order', async () => {
    const many = Array.from({ length: 2500 }, (_, index) => ({
      text: `t${index % 7}`,
      place: { far: false },
    }));
    for (let at = 0; at < many.length; at += 250)
      await started.dataSource.getRepository(Thing).insert(many.slice(at, at + 250));
    for (const ordering of ['id', '-id', 'text', '-born', 'text,-id']) {
      const answer = await started.client.get(`/rest/v1/both/thing/?ordering=${ordering}`);
      expect(new Set((answer.json as { id: number }[]).map(({ id }) => id)).size).toBe(2500 + TEXTS.length);
    }
    await started.dataSource.query('DELETE FROM both_thing WHERE id > 10');
  });
});

test('a row with a value of another kind is written in process, with its page', async () => {
  // No document tells of a text in a column of numbers.
  const started = await startApp({ entities: [Thing], undescribed: 'all' });
  await started.client.post('/rest/v1/both/thing/', { text: 'good', place: { far: true } });
  // SQLite takes any value into any column.
  await started.dataSource.query(
    "INSERT INTO both_thing(text, placeFar, whole, yes) VALUES (1.5, 0, 'seven', 2), (x'6162', 1, NULL, NULL)",
  );
  const answer = await started.client.get('/rest/v1/both/thing/');
  expect(answer.status).toBe(200);
  expect(
    (answer.json as { whole: unknown; yes: unknown; text: unknown }[])
      .slice(1)
      .map(({ whole, yes, text }) => [whole, yes, text]),
  ).toEqual([
    ['seven', true, '1.5'],
    [null, null, expect.anything()],
  ]);
  await started.close();
});
