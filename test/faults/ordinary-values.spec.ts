// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  Column,
  CreateDateColumn,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { StatementLog } from './statement-log.js';

class Size {
  @Column({ type: 'integer', nullable: true }) width: number | null;
  @Column({ type: 'varchar', nullable: true }) unit: string | null;
}

@Restify('usual')
@Entity('usual_room')
class Room {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'integer', nullable: true }) number: number | null;
  @Column({ type: 'varchar', nullable: true }) name: string | null;
  @Column({ type: 'boolean', nullable: true }) open: boolean | null;
  @Column({ type: 'datetime', nullable: true }) built: Date | null;
  @Column({ type: 'date', nullable: true }) inspected: string | null;
  @Column({ type: 'bigint', nullable: true }) serial: string | null;
  @Column({ type: 'simple-enum', enum: ['warm', 'cold'], nullable: true }) kind: string | null;
  @CreateDateColumn() since: Date;
  @Column(() => Size) size: Size;
  @ManyToOne(() => Room, (room) => room.rooms, { nullable: true }) within: Relation<Room> | null;
  @OneToMany(() => Room, (room) => room.within) rooms: Relation<Room[]>;
}

@Restify('usual')
@Entity('usual_tag')
class Tag {
  @PrimaryColumn('uuid') id: string;
  @Column() text: string;
  @OneToMany(() => Use, (use) => use.tag) uses: Relation<Use[]>;
}

@Restify('usual')
@Entity('usual_use')
class Use {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Tag, (tag) => tag.uses) tag: Relation<Tag>;
}

const ROOMS = '/rest/v1/usual/room/';

/** Bodies, and what is stored of them is what everybody stores. */
const ORDINARY = [
  {},
  {
    number: 0,
    name: '',
    open: false,
    built: '2022-10-02T09:23:28.297Z',
    inspected: '2022-10-02',
    serial: '0',
    kind: 'warm',
    size: { width: 1, unit: 'cm' },
  },
  {
    number: -1,
    name: 'Äpfel, {"a":[1]} \\ "quoted" \u0001\n\u2028 🍏',
    open: true,
    built: '2024-02-29T23:59:59.999Z',
    inspected: '0001-01-01',
    serial: '-9223372036854775808',
    kind: 'cold',
  },
  {
    number: 2_147_483_647,
    name: '"},{"id":1',
    open: true,
    built: '0001-01-01T00:00:00.000Z',
    serial: '9223372036854775807',
    size: { width: -7, unit: '"' },
  },
  { number: -2_147_483_648, name: 'null', built: '9999-12-31T00:00:00.000Z', within: 1 },
  { name: '\\', built: '2000-02-29T12:30:00.500Z' },
];

/** What the database writes is taken as it is: one statement a request. Were it doubted, the process would read all of it again. */
describe('ordinary values are written by SQLite', () => {
  const log = new StatementLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: [Room, Tag, Use],
      dataSource: { logger: log, logging: ['query'] },
    });
    for (const body of ORDINARY)
      expect(await started.client.post(ROOMS, body)).toMatchObject({ status: 201 });
    for (const days of [
      '01-31',
      '02-28',
      '03-31',
      '04-30',
      '05-29',
      '06-29',
      '07-30',
      '08-31',
      '09-30',
      '10-31',
      '11-30',
      '12-31',
    ])
      expect((await started.client.post(ROOMS, { built: `2023-${days}T20:15:45.001Z` })).status).toBe(201);
    expect(
      (
        await started.client.post('/rest/v1/usual/tag/', {
          id: '0b9e4f4e-27c5-4a0e-9df5-6a5fd2a3f1aa',
          text: 'old',
        })
      ).status,
    ).toBe(201);
  });
  afterAll(() => started.close());

  test.each(['', '?ordering=-id', '1/', '2/', '3/', '4/', '5/', '6/', '7/', '18/', '1/rooms/'])(
    '%s',
    async (path) => {
      log.clear();
      const answer = await started.client.get(ROOMS + path);
      expect([answer.status, log.statements]).toEqual([200, [expect.stringContaining('json_object')]]);
      expect(answer.text).toBe(JSON.stringify(answer.json));
    },
  );

  test.each(['', '0b9e4f4e-27c5-4a0e-9df5-6a5fd2a3f1aa/'])('of a key that is no number, %s', async (path) => {
    log.clear();
    const answer = await started.client.get(`/rest/v1/usual/tag/${path}`);
    expect([answer.status, log.statements]).toEqual([200, [expect.stringContaining('json_object')]]);
  });
});

describe('a value of another kind is written by the process', () => {
  const log = new StatementLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: [Room],
      dataSource: { logger: log, logging: ['query'] },
      undescribed: 'all',
    });
    expect((await started.client.post(ROOMS, {})).status).toBe(201);
  });
  afterAll(() => started.close());

  test.each([
    ['number', "'seven'"],
    ['number', '9007199254740993'],
    ['name', "x'35'"],
    ['open', "'maybe'"],
    ['built', "'2023-02-29 10:00:00.000'"],
    ['serial', '1.5'],
    ['sizeWidth', "'wide'"],
    // Of many escapes a regular expression cannot find the end.
    ['name', "replace(hex(zeroblob(16000000)), '00', char(10))"],
  ])('%s with %s', async (column, value) => {
    await started.dataSource.query(
      `UPDATE usual_room SET "number" = NULL, "name" = NULL, "open" = NULL, "built" = NULL, "serial" = NULL, "sizeWidth" = NULL`,
    );
    await started.dataSource.query(`UPDATE usual_room SET "${column}" = ${value}`);
    for (const path of ['', '1/']) {
      log.clear();
      const answer = await started.client.get(ROOMS + path);
      expect(answer.status).toBe(200);
      expect(log.statements).toHaveLength(2);
      expect(answer.text).toBe(JSON.stringify(answer.json));
    }
  });
});
