// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { Write } from 'nestjs-restify';
import { Column, Entity, ManyToOne, Not, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Client } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'bulkstep', bulk: { upsert: ['name'] } })
@Entity('bulkstep_address')
@Unique(['name'])
class Address {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ default: false }) main: boolean;
  @Column({ type: 'int', default: 0 }) stock: number;
}

/** One address is the main one. */
@RestifyController(Address)
class AddressController extends ResourceController<Address> {
  override async afterWrite({ entity, manager, operation }: Write<Address>): Promise<void> {
    if (operation !== 'destroy' && entity.main)
      await manager.update(Address, { id: Not(entity.id), main: true }, { main: false });
  }
}

@Restify({ app: 'bulkstep', bulk: { upsert: ['tenant', 'code'] } })
@Entity('bulkstep_part')
@Unique(['tenant', 'code'])
class Part {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) tenant: string;
  @Column({ length: 20 }) code: string;
  @Column({ type: 'int', default: 0 }) stock: number;
}

@RestifyController(Part)
class PartController extends ResourceController<Part> {
  override valuesOnCreate(): { readonly tenant: string } {
    return { tenant: 'mine' };
  }
}

@Restify({ app: 'bulkstep', bulk: true })
@Entity('bulkstep_folder')
class Folder {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @ManyToOne(() => Folder, { nullable: true, onDelete: 'CASCADE' }) parent: Relation<Folder> | null;
}

const [ADDRESSES, PARTS, FOLDERS] = [
  '/rest/v1/bulkstep/address/',
  '/rest/v1/bulkstep/part/',
  '/rest/v1/bulkstep/folder/',
];

onEachDatabase('bulk writes one after the other', (database) => {
  let started: StartedApp;
  let client: Client;
  beforeAll(async () => {
    started = await startApp({
      entities: [Address, Part, Folder],
      database,
      controllers: [AddressController, PartController],
    });
    client = started.client;
  });
  beforeEach(async () => {
    for (const entity of [Address, Part, Folder])
      await started.dataSource.manager.createQueryBuilder().delete().from(entity).execute();
  });
  afterAll(() => started.close());
  const addresses = (): Promise<readonly Address[]> =>
    started.dataSource.getRepository(Address).find({ order: { id: 'ASC' } });

  test('each change begins with what the one before has left', async () => {
    const [a, b, c] = await started.dataSource.manager.save(Address, [
      { name: 'a' },
      { name: 'b', main: true },
      { name: 'c' },
    ]);
    expect(
      (
        await client.patch(ADDRESSES, [
          { id: a?.id, main: true },
          { id: b?.id, stock: 3 },
          { id: c?.id, stock: 4 },
        ])
      ).status,
    ).toBe(200);
    expect(await addresses()).toMatchObject([
      { main: true, stock: 0 },
      { main: false, stock: 3 },
      { main: false, stock: 4 },
    ]);
    expect(
      (
        await client.post(`${ADDRESSES}?upsert=true`, [
          { name: 'c', main: true },
          { name: 'a', stock: 5 },
        ])
      ).status,
    ).toBe(200);
    expect(await addresses()).toMatchObject([
      { main: false, stock: 5 },
      { main: false },
      { main: true, stock: 4 },
    ]);
  });

  test('a row that another transaction has changed meanwhile is changed as it then is', async () => {
    if (database.name === 'sqlite') return;
    const [a, b] = await started.dataSource.manager.save(Address, [{ name: 'a' }, { name: 'b', stock: 5 }]);
    const runner = started.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.manager.update(Address, { id: b?.id }, { stock: 7 });
      const answer = client.patch(ADDRESSES, [
        { id: a?.id, stock: 1 },
        { id: b?.id, stock: 5 },
      ]);
      await new Promise((resolve) => setTimeout(resolve, 500));
      await runner.commitTransaction();
      expect((await answer).json).toMatchObject([{ stock: 1 }, { stock: 5 }]);
    } finally {
      await runner.release();
    }
    expect(await addresses()).toMatchObject([{ stock: 1 }, { stock: 5 }]);
  });

  test('an upsert finds its row by valuesOnCreate, and does not change these values', async () => {
    await started.dataSource.manager.save(Part, [
      { tenant: 'mine', code: 'x', stock: 1 },
      { tenant: 'other', code: 'x', stock: 1 },
    ]);
    expect(await client.post(`${PARTS}?upsert=true`, [{ code: 'x', stock: 2 }, { code: 'y' }])).toMatchObject(
      {
        status: 201,
        json: [
          { tenant: 'mine', stock: 2 },
          { tenant: 'mine', code: 'y' },
        ],
      },
    );
    expect(
      await client.post(`${PARTS}?upsert=true`, [{ tenant: 'third', code: 'x', stock: 3 }]),
    ).toMatchObject({ status: 200, json: [{ tenant: 'mine', stock: 3 }] });
    expect(await started.dataSource.manager.countBy(Part, { tenant: 'other', code: 'x', stock: 1 })).toBe(1);
  });

  test('a row that went with another one of the list', async () => {
    const root = await started.dataSource.manager.save(Folder, { name: 'r' });
    const leaf = await started.dataSource.manager.save(Folder, { name: 'l', parent: root });
    expect((await client.delete(`${FOLDERS}?keys=${root.id},${leaf.id}`)).status).toBe(204);
    expect(await started.dataSource.getRepository(Folder).count()).toBe(0);
  });
});
