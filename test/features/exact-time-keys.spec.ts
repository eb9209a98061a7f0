// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CursorPagination, Restify } from 'nestjs-restify';
import { AfterLoad, Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'times' })
@Entity('times_sensor')
class Sensor {
  @PrimaryColumn() id: number;
  @OneToMany(() => Reading, (reading) => reading.sensor) readings: Relation<Reading[]>;
}

@Restify({
  app: 'times',
  operations: ['list', 'retrieve'],
  filterFields: { at: ['exact', 'gt'], sensor: ['exact'] },
  orderingFields: ['at'],
  pagination: new CursorPagination({ pageSize: 2, secret: 'x'.repeat(32) }),
})
@Entity('times_reading')
class Reading {
  @PrimaryColumn() sensorId: number;
  @PrimaryColumn({ type: 'timestamptz' }) at: Date;
  @Column() value: number;
  @ManyToOne(() => Sensor, (sensor) => sensor.readings)
  @JoinColumn({ name: 'sensorId' })
  sensor: Relation<Sensor>;
  @OneToMany(() => Remark, (remark) => remark.reading) remarks: Relation<Remark[]>;
}

@Restify({
  app: 'times',
  readOnly: ['reading'],
  filterFields: { reading: ['exact'] },
  expandable: ['reading'],
})
@Entity('times_remark')
class Remark {
  @PrimaryColumn() id: number;
  @Column({ type: 'varchar', length: 10, default: '' }) text: string;
  @ManyToOne(() => Reading, (reading) => reading.remarks, { nullable: true })
  reading: Relation<Reading> | null;
}

const MODELS = [Sensor, Reading, Remark];
const READING = '/rest/v1/times/reading/';
const [FIRST, SECOND, THIRD] = [
  '2026-03-01T10:00:00.123456Z',
  '2026-03-01T10:00:00.123457Z',
  '2026-03-01T10:00:00.123999Z',
] as const;

interface Page {
  readonly next: string | null;
  readonly results: readonly { readonly at: string; readonly value: number }[];
}

onEachDatabase(
  'keys with microseconds, of a model that is only read,',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ entities: [...MODELS], database });
      await started.dataSource.query(`INSERT INTO "times_sensor" VALUES (1), (2)`);
      await started.dataSource.query(
        `INSERT INTO "times_reading" ("sensorId", "at", "value") VALUES (1, '${FIRST}', 1), (1, '${SECOND}', 2), (1, '${THIRD}', 3), (2, '${FIRST}', 4)`,
      );
      await started.dataSource.query(
        `INSERT INTO "times_remark" ("id", "text", "readingSensorId", "readingAt") VALUES (1, 'a', 1, '${FIRST}'), (2, 'b', 1, '${SECOND}')`,
      );
    });
    afterAll(() => started.close());

    const valuesOf = async (path: string): Promise<readonly number[]> => {
      const { status, json } = await started.client.get(path);
      expect(status).toBe(200);
      return (json as Page).results.map(({ value }) => value);
    };

    test('find one row each', async () => {
      for (const [at, value] of [
        [FIRST, 1],
        [SECOND, 2],
        [THIRD, 3],
      ] as const)
        expect((await started.client.get(`${READING}1,${at}/`)).json).toMatchObject({ at, value });
      expect((await started.client.get(`${READING}1,2026-03-01T10:00:00.123Z/`)).status).toBe(404);
      expect((await started.client.get(`${READING}2,${SECOND}/`)).status).toBe(404);
    });

    test('are listed, filtered and paged without loss', async () => {
      expect(await valuesOf(`${READING}?at=${SECOND}`)).toEqual([2]);
      expect(await valuesOf(`${READING}?at__gt=${FIRST}&ordering=at`)).toEqual([2, 3]);
      const { json } = await started.client.get(`${READING}?sensor=1&ordering=at`);
      const { results, next } = json as Page;
      expect(results.map(({ at }) => at)).toEqual([FIRST, SECOND]);
      expect(await valuesOf(new URL(next ?? '').pathname + new URL(next ?? '').search)).toEqual([3]);
      expect(await valuesOf('/rest/v1/times/sensor/2/readings/')).toEqual([4]);
    });

    test('are the values of relations and of links', async () => {
      const { json } = await started.client.get('/rest/v1/times/remark/2/?expand=reading');
      expect(json).toMatchObject({ id: 2, reading: { at: SECOND, value: 2 } });
      expect((await started.client.get('/rest/v1/times/remark/2/')).json).toMatchObject({
        reading: `1,${encodeURIComponent(SECOND)}`,
      });
      const { json: found } = await started.client.get(`/rest/v1/times/remark/?reading=1,${SECOND}`);
      expect(found).toMatchObject([{ id: 2 }]);
      const { json: nested } = await started.client.get(`${READING}1,${SECOND}/remarks/`);
      expect(nested).toMatchObject([{ id: 2 }]);
    });

    test('are not written, and changes of rows that refer to them keep them', async () => {
      expect((await started.client.post(READING, { sensor: 1, at: FIRST, value: 5 })).status).toBe(405);
      expect((await started.client.patch('/rest/v1/times/remark/1/', { text: 'c' })).json).toMatchObject({
        text: 'c',
        reading: `1,${encodeURIComponent(FIRST)}`,
      });
      expect((await started.client.delete('/rest/v1/times/remark/1/')).status).toBe(204);
    });

    test('prevent the start where an entity would have to be loaded or written by them', async () => {
      @Restify({ app: 'times', operations: ['list', 'retrieve'] })
      @Entity('times_heard')
      class Heard {
        @PrimaryColumn({ type: 'timestamptz' }) at: Date;
        @AfterLoad() change(): void {
          this.at = new Date(0);
        }
      }
      @Restify({ app: 'times', operations: ['list', 'retrieve'], computed: { year: () => 2026 } })
      @Entity('times_computed')
      class Computed {
        @PrimaryColumn({ type: 'timestamptz' }) at: Date;
      }
      @Restify({ app: 'times' })
      @Entity('times_written')
      class Written {
        @PrimaryColumn() id: number;
        @ManyToOne(() => Reading) reading: Relation<Reading>;
      }
      const start = startApp({ entities: [...MODELS, Heard, Computed, Written], database }).then(
        (other) => other.close().then(() => 'started'),
        String,
      );
      const error = await start;
      for (const where of ['Heard.at', 'Computed.at'])
        expect(error).toMatch(
          `${where}: its key is a date-time of more than three digits, of which TypeORM keeps three. Give it`,
        );
      expect(error).toMatch(
        `Written.reading: it refers to a key that TypeORM does not write exactly. Let it be read only: readOnly: ['reading'].`,
      );
    });
  },
  ['postgres'],
);
