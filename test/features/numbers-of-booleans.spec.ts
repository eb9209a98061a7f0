// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { IsBoolean } from 'class-validator';
import { Restify, restify } from 'nestjs-restify';
import { AfterLoad, Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { ColumnOptions } from 'typeorm';
import { documentOf } from '../openapi/document.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const BYTE = {
  to: (value?: boolean | null) => ((value ?? null) === null ? null : Buffer.from([value ? 1 : 0])),
  from: (byte: Buffer | null) => byte && byte[0] === 1,
};

/** Booleans as TypeORM's generators of entities write them for MySQL. */
@Restify({ app: 'nb', bulk: true })
@Entity('nb_flags')
class Flags {
  @PrimaryGeneratedColumn() id: number;
  @IsBoolean() @Column({ type: 'tinyint', width: 1, default: 1 } as ColumnOptions) tiny: boolean;
  @IsBoolean() @Column({ type: 'bit', default: () => "b'0'" }) bit: boolean;
  @Column({ type: 'bit', nullable: true, transformer: BYTE }) byte: boolean | null;
  @Column({ type: 'tinyint', default: 0 }) number: number;
}
Reflect.defineMetadata('design:type', Boolean, Flags.prototype, 'byte');

/** Loaded through TypeORM, for its listener. */
@Restify('nb')
@Entity('nb_heard')
class Heard {
  @PrimaryGeneratedColumn() id: number;
  @Column('tinyint') tiny: boolean;
  @Column('bit') bit: boolean;
  heard: boolean;
  @AfterLoad() hear(): void {
    this.heard = true;
  }
}

onEachDatabase(
  'a boolean in a column of MySQL for numbers',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ database, entities: [Flags, Heard] });
    });
    afterAll(() => started.close());

    test.each(['flags', 'heard'])(
      'is true or false in bodies, responses, filters and orders: %s',
      async (model) => {
        const { client, dataSource } = started;
        const path = `/rest/v1/nb/${model}/`;
        const made = await client.post(path, { tiny: false, bit: true });
        expect([made.status, made.json]).toMatchObject([201, { id: 1, tiny: false, bit: true }]);
        expect((await client.post(path, { tiny: true, bit: '0' })).json).toMatchObject({
          tiny: true,
          bit: false,
        });
        for (const name of ['tiny', 'bit']) {
          const [first] = (await client.get(`${path}?${name}=true`)).json as [object];
          expect(first).toMatchObject({ [name]: true });
          expect((await client.get(`${path}?${name}=false&ordering=-${name}`)).json).toMatchObject([
            { [name]: false },
          ]);
          expect((await client.get(`${path}?ordering=${name}`)).json).toMatchObject([
            { [name]: false },
            { [name]: true },
          ]);
          expect((await client.patch(`${path}1/`, { [name]: 2 })).json).toEqual({
            [name]: ['Must be a valid boolean.'],
          });
        }
        expect((await client.patch(`${path}1/`, { tiny: true })).json).toMatchObject({
          tiny: true,
          bit: true,
        });
        expect((await client.patch(`${path}1/`, { bit: false })).json).toMatchObject({
          tiny: true,
          bit: false,
        });
        expect((await client.get(`${path}1/`)).json).toMatchObject({ tiny: true, bit: false });
        expect(
          await dataSource.query(`SELECT tiny + 0 AS tiny, bit + 0 AS bit FROM nb_${model} WHERE id = 1`),
        ).toEqual([{ tiny: 1, bit: 0 }]);
      },
    );

    test('has its default, and passes through a transformer', async () => {
      const { client } = started;
      const path = '/rest/v1/nb/flags/';
      const made = (await client.post(path, {})).json as { id: number };
      expect(made).toMatchObject({ tiny: true, bit: false, byte: null, number: 0 });
      expect((await client.post(path, [{ byte: true }, { bit: true, byte: false }])).json).toMatchObject([
        { byte: true, bit: false },
        { byte: false, bit: true },
      ]);
      expect((await client.patch(`${path}${made.id}/`, { byte: true, number: 7 })).json).toMatchObject({
        byte: true,
        number: 7,
      });
      expect((await client.get(`${path}${made.id}/`)).json).toMatchObject({ byte: true, number: 7 });
      const { schemas = {} } = documentOf(started.app).components;
      expect(schemas.NbFlags).toMatchObject({
        properties: { tiny: { type: 'boolean' }, bit: { type: 'boolean' }, number: { type: 'integer' } },
      });
    });
  },
  ['mariadb'],
);

onEachDatabase(
  'a column whose type has no form in JSON',
  (database) => {
    test('keeps the application from starting, with a transformer too', async () => {
      class Host {
        id: number;
      }
      PrimaryGeneratedColumn()(Host.prototype, 'id');
      const same = (value: string): string => value;
      Column({ type: 'inet', transformer: { to: same, from: same } })(Host.prototype, 'address');
      Entity('nb_host')(Host);
      restify(Host, 'nb');
      await expect(startApp({ database, entities: [Host] })).rejects.toThrow(
        'Host.address: its column type "inet" has no form in JSON. Leave it out: exclude: [\'address\'].',
      );
    });
  },
  ['postgres'],
);
