// @tags nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AllowAny, Restify } from 'nestjs-restify';
import { ChildEntity, Column, Entity, ManyToOne, PrimaryGeneratedColumn, TableInheritance } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('erc')
@Entity('erc_tag')
class ErcTag {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) label: string;
}

class ErcInfo {
  @Column({ length: 20, default: 'x' }) open: string;
  @ManyToOne(() => ErcTag, { nullable: true }) tag: Relation<ErcTag> | null;
}

@Restify('erc')
@Entity('erc_item')
@TableInheritance({ column: { type: 'varchar', name: 'kind', length: 20 } })
class ErcItem {
  @PrimaryGeneratedColumn() id: number;
  @Column(() => ErcInfo) info: ErcInfo;
}

@Restify('erc')
@ChildEntity()
class ErcBook extends ErcItem {
  @Column({ length: 20, default: '' }) author: string;
}

@Restify({ app: 'erc', exclude: ['info'] })
@ChildEntity()
class ErcPen extends ErcItem {
  @Column(() => ErcInfo) extra: ErcInfo;
}

let started: StartedApp;
const warnings: string[] = [];

beforeAll(async () => {
  const logger = {
    log: () => undefined,
    warn: (text: string) => warnings.push(text),
    error: () => undefined,
  };
  started = await startApp({
    entities: [ErcTag, ErcItem, ErcBook, ErcPen],
    restify: { permissions: [AllowAny] },
    nest: { logger },
  });
});
afterAll(() => started.close());

test('relations of embedded objects that TypeORM does not inherit are reported at start', () => {
  const why =
    'is left out: of an entity that extends another in its table, TypeORM neither reads nor writes relations of embedded objects.' +
    ' Declare the relation in the class itself, or leave it out by exclude.';
  expect(warnings.filter((text) => text.includes('embedded'))).toEqual([
    `ErcBook.info.tag ${why}`,
    `ErcPen.extra.tag ${why}`,
  ]);
});

test('they are fields of the base', async () => {
  await started.client.post('/rest/v1/erc/erctag/', { label: 'a' });
  const item = await started.client.post('/rest/v1/erc/ercitem/', { info: { tag: 1 } });
  expect(item.json).toEqual({ id: 1, info: { open: 'x', tag: 1 } });
  const book = await started.client.post('/rest/v1/erc/ercbook/', { info: { tag: 1 } });
  expect(book.json).toEqual({ id: 2, author: '', info: { open: 'x' } });
});
