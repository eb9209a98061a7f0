// @tags db
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const BULK = { app: 'insertkeys', bulk: { max: 500 } };

/** Either column of the key has a default. */
@Restify(BULK)
@Entity('insertkeys_pair')
class Pair {
  @PrimaryColumn({ length: 40, default: () => `'l' || nextval('insertkeys_texts')` }) lang: string;
  @PrimaryColumn({ length: 40, default: () => `'c' || nextval('insertkeys_texts')` }) code: string;
  @Column({ length: 20 }) name: string;
}

/** The default has another type than its column, which rounds it. */
@Restify(BULK)
@Entity('insertkeys_rounded')
class Rounded {
  @PrimaryColumn({ type: 'bigint', default: () => `nextval('insertkeys_texts') * 10.01` }) id: string;
  @Column({ length: 20 }) name: string;
}

@Restify(BULK)
@Entity('insertkeys_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

function rowsOf(count: number, more: (index: number) => object = () => ({})): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({ name: `n${index}`, ...more(index) }));
}

onEachDatabase(
  'the default of a key',
  (database) => {
    let started: StartedApp;
    const log = new StatementLog();
    const { statements } = log;
    beforeAll(async () => {
      started = await startApp({
        entities: [Pair, Rounded, Item],
        database,
        dataSource: {
          synchronize: false,
          logging: ['query'],
          logger: log,
        },
        compare: false,
      });
      await started.dataSource.query('CREATE SEQUENCE insertkeys_texts');
      await started.dataSource.synchronize();
    });
    afterAll(() => started.close());
    beforeEach(() => {
      statements.length = 0;
    });

    const post = async (
      model: string,
      rows: readonly object[],
    ): Promise<readonly [status: number, json: unknown, inserts: number]> => {
      const { status, json } = await started.client.post(`/rest/v1/insertkeys/${model}/`, rows);
      return [status, json, statements.filter((sql) => sql.startsWith('INSERT')).length];
    };

    test('of several columns is that of the column that a body omits', async () => {
      const code = (index: number): object => ({ code: `x${index}` });
      const lang = (index: number): object => ({ lang: `y${index}` });
      expect(await post('pair', rowsOf(3, code))).toMatchObject([
        201,
        rowsOf(3, (index) => ({ ...code(index), lang: expect.stringMatching(/^l\d+$/) as unknown })),
        1,
      ]);
      statements.length = 0;
      expect(await post('pair', rowsOf(3, lang))).toMatchObject([
        201,
        rowsOf(3, (index) => ({ ...lang(index), code: expect.stringMatching(/^c\d+$/) as unknown })),
        1,
      ]);
    });

    test('is rounded as the column rounds it', async () => {
      expect(await post('rounded', rowsOf(3))).toMatchObject([
        201,
        rowsOf(3, () => ({ id: expect.stringMatching(/^\d+$/) as unknown })),
        1,
      ]);
    });

    test('may be another one after a migration', async () => {
      expect(await post('item', rowsOf(3))).toMatchObject([201, rowsOf(3), 1]);
      for (const sql of [
        'ALTER TABLE insertkeys_item ALTER COLUMN id DROP DEFAULT',
        'DROP SEQUENCE insertkeys_item_id_seq',
        'CREATE SEQUENCE insertkeys_other START 1000',
        `ALTER TABLE insertkeys_item ALTER COLUMN id SET DEFAULT nextval('insertkeys_other')`,
      ])
        await started.dataSource.query(sql);
      statements.length = 0;
      expect(await post('item', rowsOf(3))).toMatchObject([
        201,
        rowsOf(3, (index) => ({ id: 1000 + index })),
        3,
      ]);
      statements.length = 0;
      expect(await post('item', rowsOf(3))).toMatchObject([
        201,
        rowsOf(3, (index) => ({ id: 1003 + index })),
        1,
      ]);
    });
  },
  ['postgres'],
);

/** Many rows, each named by its key. */
class Listed implements Permission {
  decide(_context: AccessContext): Grant {
    return allow({
      rows: where(
        'id',
        'in',
        Array.from({ length: 900 }, (_, index) => index + 1),
      ),
    });
  }
}

@Restify({ app: 'insertkeys', permissions: [Listed] })
@Entity('insertkeys_owner')
class Owner {
  @PrimaryGeneratedColumn() id: number;
}

@Restify(BULK)
@Entity('insertkeys_owned')
class Owned {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Owner) owner: Relation<Owner>;
}

onEachDatabase('the keys of many rows', (database) => {
  test('may refer to rows of a permission that names many', async () => {
    const started = await startApp({ entities: [Owner, Owned], database, compare: false });
    const owners = await started.dataSource
      .getRepository(Owner)
      .save(Array.from({ length: 201 }, () => ({})));
    const body = owners.map(({ id }) => ({ owner: id }));
    const { status, json } = await started.client.post('/rest/v1/insertkeys/owned/', body);
    expect([status, json]).toMatchObject([201, body]);
    await started.close();
  });
});

@Restify(BULK)
@Entity('insertkeys_given')
class Given {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20 }) name: string;
}

onEachDatabase(
  'a key of 0',
  (database) => {
    test('is not replaced by the next one of a counter that the table has', async () => {
      const started = await startApp({ entities: [Given], database, compare: false });
      const url = '/rest/v1/insertkeys/given/';
      const zero = { id: 0, name: 'zero' };
      expect((await started.client.post(url, zero)).json).toEqual(zero);
      await started.dataSource.query('DELETE FROM insertkeys_given');
      await started.dataSource.query('ALTER TABLE insertkeys_given MODIFY id int NOT NULL AUTO_INCREMENT');
      const refused = { non_field_errors: ['The database has not stored this object.'] };
      expect((await started.client.post(url, zero)).json).toEqual(refused);
      expect((await started.client.post(url, [{ id: 1, name: 'one' }, zero])).json).toEqual([{}, refused]);
      expect((await started.client.get(url)).json).toEqual([]);
      await started.close();
    });
  },
  ['mariadb'],
);
