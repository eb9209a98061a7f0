// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'shards', bulk: true })
@Entity('shards_note')
class Note {
  @PrimaryColumn()
  id: number;

  @Column()
  region: string;

  @Column()
  text: string;
}

const NOTES = '/rest/v1/shards/note/';
const ERROR = { non_field_errors: ['These values break a rule of the database.'] };

onEachDatabase(
  'a partition that is a foreign table (postgres_fdw)',
  (database) => {
    let started: StartedApp;
    let server: string;
    beforeAll(async () => {
      started = await startApp({
        entities: [Note],
        database,
        dataSource: { synchronize: false },
        compare: false,
      });
      const { dataSource } = started;
      const { schema } = dataSource.options as { readonly schema: string };
      server = `${schema}_server`;
      const [place] = await dataSource.query<{ host: string; port: string; name: string }[]>(
        `SELECT coalesce(host(inet_server_addr()), (string_to_array(current_setting('unix_socket_directories'), ','))[1]) AS host, current_setting('port') AS port, current_database() AS name`,
      );
      for (const sql of [
        'CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA public',
        `CREATE SERVER "${server}" FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${place?.host}', port '${place?.port}', dbname '${place?.name}')`,
        `CREATE USER MAPPING FOR CURRENT_USER SERVER "${server}"`,
        'CREATE TABLE shards_far (id integer PRIMARY KEY, region varchar NOT NULL, text varchar NOT NULL)',
        'CREATE TABLE shards_note (id integer NOT NULL, region varchar NOT NULL, text varchar NOT NULL) PARTITION BY LIST (region)',
        `CREATE TABLE shards_near PARTITION OF shards_note FOR VALUES IN ('near')`,
        `CREATE FOREIGN TABLE shards_remote PARTITION OF shards_note FOR VALUES IN ('far') SERVER "${server}" OPTIONS (schema_name '${schema}', table_name 'shards_far')`,
      ])
        await dataSource.query(sql);
    });
    afterAll(async () => {
      await started.dataSource.query(`DROP SERVER "${server}" CASCADE`);
      await started.close();
    });

    test('takes new rows, and no row of another partition: 400, and the row stays as it was', async () => {
      const { client } = started;
      const [near, far] = [
        { id: 1, region: 'near', text: 'a' },
        { id: 2, region: 'far', text: 'b' },
      ];
      expect((await client.post(NOTES, near)).status).toBe(201);
      expect((await client.post(NOTES, far)).status).toBe(201);
      for (const change of [
        () => client.patch(`${NOTES}1/`, { region: 'far' }),
        () => client.put(`${NOTES}1/`, { region: 'far', text: 'moved' }),
      ]) {
        const { status, json } = await change();
        expect([status, json]).toEqual([400, ERROR]);
      }
      const many = await client.patch(NOTES, [{ id: 1, region: 'far' }]);
      expect([many.status, many.json]).toEqual([400, [ERROR]]);
      expect((await client.get(NOTES)).json).toEqual([near, far]);
      expect((await client.patch(`${NOTES}1/`, { text: 'c' })).json).toEqual({ ...near, text: 'c' });
    });
  },
  ['postgres'],
);
