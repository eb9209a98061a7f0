// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, or, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class OfAnn implements Permission {
  decide(): Grant {
    return allow({ rows: or(where('team.lead', 'ann'), where('team.members.name', 'ann')) });
  }
}

class SeatsOfAnn implements Permission {
  decide(): Grant {
    return allow({ rows: where('person.name', 'in', ['ann', 'bob']) });
  }
}

@Restify('up')
@Entity('up_team')
class UpTeam {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) lead: string;
  @OneToMany(() => UpPerson, (person) => person.team) members: Relation<UpPerson[]>;
}

@Restify('up')
@Entity('up_person')
class UpPerson {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @ManyToOne(() => UpTeam, (team) => team.members) team: Relation<UpTeam>;
  @ManyToMany(() => UpRoom, (room) => room.people)
  @JoinTable({
    name: 'up_seat',
    joinColumn: { name: 'personId' },
    inverseJoinColumn: { name: 'roomId' },
    synchronize: false,
  })
  rooms: Relation<UpRoom[]>;
}

@Restify('up')
@Entity('up_room')
class UpRoom {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @ManyToMany(() => UpPerson, (person) => person.rooms) people: Relation<UpPerson[]>;
}

@Restify({ app: 'up', permissions: [SeatsOfAnn], bulk: { upsert: ['person', 'room'] } })
@Entity('up_seat')
@Unique('up_seat_pair', ['person', 'room'])
class UpSeat {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, default: '' }) place: string;
  @ManyToOne(() => UpPerson, { nullable: false }) person: Relation<UpPerson>;
  @ManyToOne(() => UpRoom, { nullable: false }) room: Relation<UpRoom>;
}

@Restify({ app: 'up', permissions: [OfAnn], bulk: { upsert: ['code'] } })
@Entity('up_task')
class UpTask {
  @PrimaryGeneratedColumn() id: number;
  /** A number of 64 bits, whose type holds numbers that JSON has not. */
  @Column({ type: 'bigint', unique: true }) code: string;
  @Column({ type: 'int', default: 0 }) votes: number;
  @ManyToOne(() => UpTeam, { nullable: false }) team: Relation<UpTeam>;
}

onEachDatabase('an upsert under a grant that goes over relations', (database) => {
  let started: StartedApp;
  let [team, other, ann, bob, cid, room] = [0, 0, 0, 0, 0, 0];
  beforeAll(async () => {
    started = await startApp({ entities: [UpTeam, UpPerson, UpRoom, UpSeat, UpTask], database });
    const { client } = started;
    const made = async (model: string, body: object): Promise<number> =>
      ((await client.post(`/rest/v1/up/${model}/`, body)).json as { id: number }).id;
    team = await made('upteam', { lead: 'ann' });
    other = await made('upteam', { lead: 'bob' });
    ann = await made('upperson', { name: 'ann', team });
    bob = await made('upperson', { name: 'bob', team });
    cid = await made('upperson', { name: 'cid', team: other });
    room = await made('uproom', { name: 'hall' });
  });
  afterAll(() => started.close());

  test('makes and changes rows of the grant, and no others', async () => {
    const { client } = started;
    const url = '/rest/v1/up/uptask/?upsert=true';
    expect(
      await client.post(url, [
        { code: '1', votes: 1, team },
        { code: '2', votes: 2, team },
      ]),
    ).toMatchObject({
      status: 201,
      json: [
        { code: '1', votes: 1, team },
        { code: '2', votes: 2, team },
      ],
    });
    expect(
      await client.post(url, [
        { code: 1, votes: 5, team },
        { code: '3', team },
      ]),
    ).toMatchObject({
      status: 201,
      json: [
        { code: '1', votes: 5 },
        { code: '3', votes: 0 },
      ],
    });
    expect(await client.post(url, { code: '1', votes: 6, team })).toMatchObject({
      status: 200,
      json: { code: '1', votes: 6 },
    });
    expect(await client.post(url, [{ code: '1', votes: 7, team: other }])).toMatchObject({ status: 403 });
    expect(await started.dataSource.manager.findOneByOrFail(UpTask, { code: '1' })).toMatchObject({
      votes: 6,
    });
  });

  test('detects a duplicate object in the list, in each spelling of its number', async () => {
    expect(
      await started.client.post('/rest/v1/up/uptask/?upsert=true', [
        { code: '9', team },
        { code: 9, team },
      ]),
    ).toMatchObject({ status: 400, json: [{}, { code: ['This object is in the list already.'] }] });
  });

  test('goes through the list of a through model from both sides', async () => {
    const { client } = started;
    const rooms = (person: number): string => `/rest/v1/up/upperson/${person}/rooms/?upsert=true`;
    expect(await client.post(rooms(ann), [{ room, place: 'left' }])).toMatchObject({
      status: 201,
      json: [{ person: ann, room, place: 'left' }],
    });
    expect(await client.post(rooms(ann), [{ room, place: 'right' }])).toMatchObject({
      status: 200,
      json: [{ person: ann, room, place: 'right' }],
    });
    expect(
      await client.post(`/rest/v1/up/uproom/${room}/people/?upsert=true`, [
        { person: ann, place: 'front' },
        { person: bob },
      ]),
    ).toMatchObject({ status: 201, json: [{ place: 'front' }, { person: bob, place: '' }] });
    expect(await client.post(rooms(ann), [{ room }, { room }])).toMatchObject({
      status: 400,
      json: [{}, { non_field_errors: ['This object is in the list already.'] }],
    });
    expect(await client.post(rooms(cid), [{ room }])).toMatchObject({ status: 403 });
    expect(await started.dataSource.manager.count(UpSeat)).toBe(2);
  });
});
