// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  IsDate,
  IsDateString,
  IsEmail,
  IsISO8601,
  IsRFC3339,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { Restify } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class VdSpan {
  @IsRFC3339() @Column() until: Date;
}

@Restify({ app: 'vd', bulk: { upsert: ['name'] } })
@Entity('vd_event')
class VdEvent {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @IsDateString() @Column() starts: Date;
  @IsISO8601({ strict: true, strictSeparator: true }) @Column() ends: Date;
  @IsRFC3339() @Column() told: Date;
  @IsDate() @Column() made: Date;
  @IsDateString() @Column({ nullable: true }) maybe: Date;
  @IsEmail() @Column({ nullable: true }) mail: string;
  @ValidateNested() @Column(() => VdSpan) span: VdSpan;
}

@Restify('vd')
@Entity('vd_guest')
class VdGuest {
  @PrimaryColumn('int') id: number;
  @ManyToMany(() => VdRoom, (room) => room.guests)
  @JoinTable({ name: 'vd_stay', synchronize: false })
  rooms: Relation<VdRoom[]>;
}

@Restify('vd')
@Entity('vd_room')
class VdRoom {
  @PrimaryColumn('int') id: number;
  @ManyToMany(() => VdGuest, (guest) => guest.rooms) guests: Relation<VdGuest[]>;
}

@Restify('vd')
@Entity('vd_stay')
class VdStay {
  @PrimaryGeneratedColumn() id: number;
  @Column('int') vdGuestId: number;
  @Column('int') vdRoomId: number;
  @IsRFC3339() @Column() since: Date;
}

@Restify('vd')
@Entity('vd_visit')
class VdVisit {
  @PrimaryGeneratedColumn() id: number;
  @Column('int') room_id: number;
  @ManyToOne(() => VdRoom, { nullable: false }) @JoinColumn({ name: 'room_id' }) room: Relation<VdRoom>;
  @IsISO8601({ strict: true, strictSeparator: true }) @Column() since: Date;
}

@Restify({ app: 'vd', bulk: true })
@Entity('vd_text')
class VdText {
  @PrimaryGeneratedColumn() id: number;
  @IsString() @Column() at: Date;
  @IsString() @Length(10, 24) @Column({ nullable: true }) maybe: Date;
  @Matches(/^\d{4}-/) @Column('date', { nullable: true }) day: Date;
}

class VdLimits {
  @Min(1) @Column({ default: 0 }) least: number;
}

/** With defaults that its own validators reject. */
@Restify({ app: 'vd', bulk: true })
@Entity('vd_limit')
class VdLimit {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, nullable: true }) note: string;
  @Min(1) @Column({ default: 0 }) least: number;
  @Max(1) @Column('int', { default: () => '7' }) most: number;
  @Length(2, 5) @Column({ length: 20, default: '' }) text: string;
  @Min(1) @Column('decimal', { precision: 6, scale: 2, default: 0.5 }) part: number;
  @ValidateNested() @Column(() => VdLimits) inner: VdLimits;
}

const TEXT = '2022-10-02T09:23:28Z';
const GOOD = { starts: TEXT, ends: TEXT, told: TEXT, made: TEXT, span: { until: TEXT } };

onEachDatabase('validators of texts on a column of dates', (database) => {
  let started: StartedApp;
  const PATH = '/rest/v1/vd/vdevent/';
  beforeAll(async () => {
    started = await startApp({
      entities: [VdEvent, VdGuest, VdRoom, VdStay, VdVisit, VdText, VdLimit],
      database,
    });
    expect(await started.client.post(PATH, { name: 'first', ...GOOD })).toMatchObject({ status: 201 });
  });
  afterAll(() => started.close());

  test('see the text that was sent, and the stored date where nothing was', async () => {
    const { client } = started;
    const shown: unknown = expect.stringMatching(/^2022-10-02T09:23:28\.0+Z$/);
    expect((await client.get(`${PATH}1/`)).json).toMatchObject({
      starts: shown,
      made: shown,
      span: { until: shown },
    });
    expect(await client.patch(`${PATH}1/`, { starts: '2023-01-01T00:00:00+02:00' })).toMatchObject({
      status: 200,
      json: { starts: expect.stringMatching(/^2022-12-31T22:00:00\.0+Z$/), maybe: null, mail: null },
    });
    // What the interface takes, and they do not.
    const odd = '2022-10-02 09:23';
    expect(
      await client.patch(`${PATH}1/`, { ends: odd, told: odd, made: odd, span: { until: odd } }),
    ).toMatchObject({
      status: 400,
      json: {
        ends: ['ends must be a valid ISO 8601 date string'],
        told: ['told must be RFC 3339 date'],
        span: { until: ['until must be RFC 3339 date'] },
      },
    });
    expect((await client.patch(`${PATH}1/`, { made: odd })).status).toBe(200);
  });

  test('judge an empty column only where a body names it', async () => {
    const { client } = started;
    expect((await client.patch(`${PATH}1/`, {})).status).toBe(200);
    expect(await client.patch(`${PATH}1/`, { mail: null, maybe: null })).toMatchObject({
      status: 400,
      json: { mail: ['mail must be an email'], maybe: ['maybe must be a valid ISO 8601 date string'] },
    });
  });

  test('see it in lists of bodies, upserts and through objects too', async () => {
    const { client } = started;
    const odd = { ...GOOD, told: '2022-10-02T09:23:28' };
    const message = { told: ['told must be RFC 3339 date'] };
    expect(
      await client.post(PATH, [
        { name: 'a', ...GOOD },
        { name: 'b', ...odd },
      ]),
    ).toMatchObject({
      status: 400,
      json: [{}, message],
    });
    expect((await client.post(PATH, [{ name: 'a', ...GOOD }])).status).toBe(201);
    expect(await client.post(`${PATH}?upsert=true`, { name: 'a', ...odd })).toMatchObject({
      status: 400,
      json: [message],
    });
    expect((await client.post(`${PATH}?upsert=true`, { name: 'a', ...GOOD })).status).toBe(200);
    expect((await client.patch(PATH, [{ id: 1, told: TEXT }])).status).toBe(200);
    expect((await client.patch(PATH, [{ id: 1, told: odd.told }])).status).toBe(400);
    await client.post('/rest/v1/vd/vdguest/', { id: 1 });
    await client.post('/rest/v1/vd/vdroom/', { id: 1 });
    const stays = '/rest/v1/vd/vdguest/1/rooms/';
    expect((await client.post(stays, { vdRoomId: 1, since: odd.told })).status).toBe(400);
    expect((await client.post(stays, { vdRoomId: 1, since: TEXT })).status).toBe(201);
  });

  test('see the text also beside a relation and a column of one foreign key', async () => {
    const { client } = started;
    const path = '/rest/v1/vd/vdvisit/';
    expect(await client.post('/rest/v1/vd/vdroom/', { id: 7 })).toMatchObject({ status: 201 });
    expect(await client.post(path, { room: 7, since: TEXT })).toMatchObject({ status: 201 });
    for (const body of [{ room: 7 }, { room_id: 7 }, { room: 7, room_id: 7 }]) {
      const refused = await client.post(path, { ...body, since: '2022-10-02 09:23' });
      expect(refused).toMatchObject({ status: 400, json: { since: expect.anything() } });
    }
    const changed = await client.patch(`${path}1/`, { since: '2022-10-02 09:23' });
    expect(changed).toMatchObject({ status: 400, json: { since: expect.anything() } });
  });

  test('that admit texts only see the text, as it was sent and as it is stored', async () => {
    const { client } = started;
    const path = '/rest/v1/vd/vdtext/';
    expect(await client.post(path, { at: TEXT, maybe: TEXT, day: '2022-10-02' })).toMatchObject({
      status: 201,
      json: { at: expect.stringMatching(/^2022-10-02T09:23:28\.0+Z$/), day: '2022-10-02' },
    });
    expect(await client.patch(`${path}1/`, { day: '2023-01-02' })).toMatchObject({ status: 200 });
    expect(await client.patch(path, [{ id: 1, at: '2023-01-01T00:00:00Z' }])).toMatchObject({ status: 200 });
    expect(await client.patch(`${path}1/`, { maybe: null })).toMatchObject({
      status: 400,
      json: { maybe: expect.arrayContaining(['maybe must be a string']) },
    });
  });

  test('let a default pass that they reject, in a creation and in every later change that does not name it', async () => {
    const { client } = started;
    const path = '/rest/v1/vd/vdlimit/';
    const defaults = { least: 0, most: 7, text: '', inner: { least: 0 } };
    expect(await client.post(path, {})).toMatchObject({ status: 201, json: defaults });
    expect(await client.patch(`${path}1/`, { note: 'a' })).toMatchObject({ status: 200, json: defaults });
    expect(await client.put(`${path}1/`, { note: 'b' })).toMatchObject({ status: 200, json: defaults });
    expect(await client.patch(path, [{ id: 1, note: 'c' }])).toMatchObject({ status: 200 });
    const named = { least: 0, most: 7, text: '', inner: { least: 0 } };
    const refused = {
      status: 400,
      json: {
        least: ['least must not be less than 1'],
        most: ['most must not be greater than 1'],
        text: ['text must be longer than or equal to 2 characters'],
        inner: { least: ['least must not be less than 1'] },
      },
    };
    expect(await client.post(path, named)).toMatchObject(refused);
    expect(await client.patch(`${path}1/`, named)).toMatchObject(refused);
    expect(await client.patch(`${path}1/`, { least: 2, inner: { least: 3 } })).toMatchObject({ status: 200 });
    await started.dataSource.manager.update(VdLimit, 1, { least: -5 });
    expect(await client.patch(`${path}1/`, { note: 'd' })).toMatchObject({
      status: 400,
      json: { least: ['least must not be less than 1'] },
    });
  });
});
