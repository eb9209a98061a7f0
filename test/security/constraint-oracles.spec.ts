// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  allow,
  and,
  deny,
  not,
  or,
  ResourceController,
  Restify,
  RestifyController,
  where,
} from 'nestjs-restify';
import type { Grant, Permission, Denial, RowFilter, Write } from 'nestjs-restify';
import {
  Column,
  CreateDateColumn,
  Entity,
  Exclusion,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  Unique,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** What the caller may have; each test says it. */
let granted: RowFilter | undefined;

class Granted implements Permission {
  decide(): Grant {
    return granted ? allow({ rows: granted }) : allow();
  }
}

@Restify('co')
@Entity('co_tenant')
class CoTenant {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @OneToMany(() => CoMember, (member) => member.tenant) members: Relation<CoMember[]>;
}

@Restify('co')
@Entity('co_member')
class CoMember {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) person: string;
  @ManyToOne(() => CoTenant, (tenant) => tenant.members) tenant: Relation<CoTenant>;
}

@Restify({ app: 'co', permissions: [Granted], bulk: { upsert: ['tenant', 'title'] } })
@Entity('co_note')
@Unique('co_note_title', ['tenant', 'title'])
class CoNote {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => CoTenant, { nullable: false }) tenant: Relation<CoTenant>;
  @Column({ length: 20 }) title: string;
  @Column({ length: 20, default: 'draft' }) state: string;
  @Column({ type: 'int', default: 5 }) votes: number;
  @Column({ type: 'decimal', precision: 8, scale: 2, default: '1.00' }) price: string;
  @Column({ type: 'float', default: 1 }) weight: number;
  @Column({ nullable: true }) due: Date;
  @CreateDateColumn() made: Date;
}

/** Rows that its own hook opens to those who make them. */
@Restify({ app: 'co', permissions: [Granted] })
@Entity('co_club')
class CoClub {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ length: 20, default: 'here' }) place: string;
  @OneToMany(() => CoGuest, (guest) => guest.club) guests: Relation<CoGuest[]>;
}

@Entity('co_guest')
class CoGuest {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) person: string;
  @ManyToOne(() => CoClub, (club) => club.guests) club: Relation<CoClub>;
}

@RestifyController(CoClub)
class ClubController extends ResourceController<CoClub> {
  override async afterWrite({ entity, manager }: Write<CoClub>): Promise<void> {
    if (entity.place === 'here') await manager.insert(CoGuest, { person: 'ann', club: { id: entity.id } });
  }
}

@Restify({ app: 'co', permissions: [Granted] })
@Entity('co_page')
class CoPage {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ length: 20, default: '' }) state: string;
  @VersionColumn() version: number;
}

@Restify('co')
@Entity('co_tag')
class CoTag {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) word: string;
}

@Restify({ app: 'co', through: { tags: { permissions: [Granted] } } })
@Entity('co_person')
class CoPerson {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @ManyToMany(() => CoRoom, (room) => room.people)
  @JoinTable({
    name: 'co_seat',
    joinColumn: { name: 'personId' },
    inverseJoinColumn: { name: 'roomId' },
    synchronize: false,
  })
  rooms: Relation<CoRoom[]>;
  @ManyToMany(() => CoTag)
  @JoinTable({
    name: 'co_person_tag',
    joinColumn: { name: 'personId' },
    inverseJoinColumn: { name: 'tagId' },
  })
  tags: Relation<CoTag[]>;
}

@Restify('co')
@Entity('co_room')
class CoRoom {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @ManyToMany(() => CoPerson, (person) => person.rooms) people: Relation<CoPerson[]>;
}

@Restify({ app: 'co', permissions: [Granted] })
@Entity('co_seat')
@Unique('co_seat_pair', ['person', 'room'])
class CoSeat {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => CoPerson, { nullable: false }) person: Relation<CoPerson>;
  @ManyToOne(() => CoRoom, { nullable: false }) room: Relation<CoRoom>;
  @Column({ length: 20, default: '' }) place: string;
}

@Restify({ app: 'co', permissions: [Granted] })
@Entity('co_booking')
@Exclusion('co_booking_once', 'USING btree ("room" WITH =, "day" WITH =)')
class CoBooking {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) room: string;
  @Column('int') day: number;
}

class Nobody implements Permission {
  decide(): Denial {
    return deny();
  }
}

@Restify({ app: 'co', bulk: true, through: { tags: { permissions: [Nobody] } } })
@Entity('co_shelf')
class CoShelf {
  @PrimaryGeneratedColumn() id: number;
  @ManyToMany(() => CoTag)
  @JoinTable({
    name: 'co_pin',
    joinColumn: { name: 'shelfId' },
    inverseJoinColumn: { name: 'tagId' },
    synchronize: false,
  })
  tags: Relation<CoTag[]>;
}

@Restify({ app: 'co', permissions: [Nobody] })
@Entity('co_secret')
class CoSecret {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => CoShelf, { onDelete: 'RESTRICT' }) shelf: Relation<CoShelf>;
}

/** Has the URLs of a many-to-many alone. */
@Entity('co_pin')
@Unique('co_pin_pair', ['shelf', 'tag'])
class CoPin {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => CoShelf, { nullable: false, onDelete: 'RESTRICT' }) shelf: Relation<CoShelf>;
  @ManyToOne(() => CoTag, { nullable: false }) tag: Relation<CoTag>;
}

@Restify('co')
@Entity('co_volume')
class CoVolume {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => CoShelf, { onDelete: 'RESTRICT' }) shelf: Relation<CoShelf>;
}

const CO = '/rest/v1/co';
const NOTES = `${CO}/conote/`;
const FORBIDDEN = [403, { detail: 'You do not have permission to perform this action.' }];

function seen({ status, json }: Answer): readonly [number, unknown] {
  return [status, json];
}

onEachDatabase('S24 a unique index does not reveal rows that a caller may not see', (database) => {
  let started: StartedApp;
  const [ann, bob] = [1, 2];
  let own = 0;
  beforeAll(async () => {
    started = await startApp({
      entities: [
        CoTenant,
        CoMember,
        CoNote,
        CoClub,
        CoGuest,
        CoPerson,
        CoRoom,
        CoSeat,
        CoTag,
        CoPage,
        CoShelf,
        CoSecret,
        CoPin,
        CoVolume,
      ],
      database,
      controllers: [ClubController],
    });
    const { manager } = started.dataSource;
    await manager.insert(CoTenant, [{ name: 'ann' }, { name: 'bob' }]);
    await manager.insert(CoMember, [
      { person: 'ann', tenant: { id: ann } },
      { person: 'bob', tenant: { id: bob } },
    ]);
    await manager.insert(CoNote, {
      tenant: { id: bob },
      title: 'layoffs',
      state: 'secret',
      votes: 50,
      price: '9.99',
      weight: 9.5,
    });
    own = (
      (await manager.insert(CoNote, { tenant: { id: ann }, title: 'mine', state: 'draft' }))
        .identifiers[0] as { id: number }
    ).id;
    await manager.insert(CoPerson, [{ name: 'ann' }, { name: 'bob' }]);
    await manager.insert(CoRoom, [{ name: 'hall' }, { name: 'attic' }]);
    await manager.insert(CoSeat, { person: { id: bob }, room: { id: 1 }, place: 'front' });
    await manager.insert(CoPage, { name: 'hidden' });
    await manager.query('UPDATE co_page SET version = 5');
    await manager.insert(CoTag, [{ word: 'red' }, { word: 'blue' }]);
    await manager.createQueryBuilder().relation(CoPerson, 'tags').of(bob).add(1);
    await manager.insert(CoClub, { name: 'hidden', place: 'there' });
  });
  afterAll(() => started.close());

  /** A row in the hidden one's place, by each way to write, where one is and where none is: the same answer. */
  async function refused(outside: object): Promise<void> {
    const { client } = started;
    const before = await started.dataSource.manager.find(CoNote, { order: { id: 'ASC' } });
    for (const title of ['layoffs', 'raises']) {
      const body = { tenant: bob, title, ...outside };
      expect([title, 'POST', ...seen(await client.post(NOTES, body))]).toEqual([title, 'POST', ...FORBIDDEN]);
      expect([
        title,
        'bulk',
        ...seen(await client.post(NOTES, [{ tenant: ann, title: 'fine' }, body])),
      ]).toEqual([title, 'bulk', ...FORBIDDEN]);
      expect([title, 'upsert', ...seen(await client.post(`${NOTES}?upsert=true`, [body]))]).toEqual([
        title,
        'upsert',
        ...FORBIDDEN,
      ]);
      for (const method of ['PATCH', 'PUT'])
        expect([title, method, ...seen(await client.send(method, `${NOTES}${own}/`, { body }))]).toEqual([
          title,
          method,
          ...FORBIDDEN,
        ]);
      expect([title, 'list', ...seen(await client.patch(NOTES, [{ id: own, ...body }]))]).toEqual([
        title,
        'list',
        ...FORBIDDEN,
      ]);
      expect([title, 'keys', ...seen(await client.patch(`${NOTES}?keys=${own}`, body))]).toEqual([
        title,
        'keys',
        ...FORBIDDEN,
      ]);
    }
    expect(await started.dataSource.manager.find(CoNote, { order: { id: 'ASC' } })).toEqual(before);
  }

  const GRANTS: readonly (readonly [string, RowFilter, object])[] = [
    ['a relation', where('tenant.name', 'ann'), {}],
    ['a relation of many', where('tenant.members.person', 'ann'), {}],
    ['a text without case', where('state', 'iexact', 'DRAFT'), { state: 'secret' }],
    ['the beginning of a text', where('state', 'startswith', 'dr'), { state: 'secret' }],
    ['a range', where('votes', 'range', [1, 9]), { votes: 50 }],
    ['less than', where('votes', 'lt', 10), { votes: 50 }],
    ['a decimal number', where('price', 'lte', '1.00'), { price: '1.01' }],
    ['a number with a fraction', where('weight', 'lt', 1.5), { weight: 1.75 }],
    ['what is not', not(where('state', 'icontains', 'SECR')), { state: 'secret' }],
    ['a default', where('votes', 'gt', 5), { votes: 5 }],
    ['what is not over a relation', not(where('tenant.name', 'bob')), {}],
    [
      'an instant',
      or(where('due', 'lt', '2030-01-01T00:00:00Z'), where('due', 'isnull', true)),
      { due: '2030-01-01T00:00:00.000Z' },
    ],
    [
      'several',
      and(
        where('made', 'gte', '2020-01-01T00:00:00Z'),
        or(where('tenant.name', 'ann'), where('state', 'endswith', 'zzz')),
      ),
      {},
    ],
  ];
  for (const [title, rows, outside] of GRANTS) {
    test(title, async () => {
      granted = title === 'a default' ? or(rows, where('id', own)) : rows;
      if (title === 'a default') granted = or(where('votes', 'gt', 5), where('title', 'mine'));
      await refused(outside);
    });
  }

  test('and is an error of the fields within the rows of the caller', async () => {
    const { client } = started;
    const twice = [400, { non_field_errors: ['The fields tenant, title must make a unique set.'] }];
    for (const rows of [
      where('tenant.name', 'ann'),
      where('tenant.members.person', 'ann'),
      and(where('state', 'iexact', 'DRAFT'), where('tenant.name', 'ann')),
      and(
        where('made', 'gte', '2020-01-01T00:00:00Z'),
        where('votes', 'range', [5, 6]),
        where('price', 'lte', '1.00'),
      ),
    ]) {
      granted = rows;
      expect(seen(await client.post(NOTES, { tenant: ann, title: 'mine' }))).toEqual(twice);
      const { id } = (await client.post(NOTES, { tenant: ann, title: 'other' })).json as { id: number };
      expect(seen(await client.patch(`${NOTES}${id}/`, { title: 'mine' }))).toEqual(twice);
      expect(
        seen(
          await client.patch(`${NOTES}${id}/`, {
            title: 'mine',
            votes: 6,
            weight: 2.5,
            due: '2031-01-01T00:00:00.123Z',
          }),
        ),
      ).toEqual(twice);
      expect((await client.delete(`${NOTES}${id}/`)).status).toBe(204);
    }
  });

  test('the first of a list that is outside refuses it', async () => {
    granted = where('tenant.name', 'ann');
    for (const title of ['layoffs', 'raises']) {
      expect(
        seen(
          await started.client.post(NOTES, [
            { tenant: bob, title },
            { tenant: ann, title: 'mine' },
          ]),
        ),
      ).toEqual(FORBIDDEN);
    }
    expect(
      seen(
        await started.client.post(NOTES, [
          { tenant: ann, title: 'mine' },
          { tenant: bob, title: 'layoffs' },
        ]),
      ),
    ).toEqual([400, [{ non_field_errors: ['The fields tenant, title must make a unique set.'] }, {}]]);
  });

  test('what a hook adds to a new row counts where it may', async () => {
    const { client } = started;
    granted = where('guests.person', 'ann');
    expect((await client.post(`${CO}/coclub/`, { name: 'mine' })).status).toBe(201);
    expect(seen(await client.post(`${CO}/coclub/`, { name: 'mine' }))).toEqual([
      400,
      { name: ['This field must be unique.'] },
    ]);
    granted = and(where('guests.person', 'ann'), where('place', 'startswith', 'h'));
    for (const name of ['hidden', 'free'])
      expect(seen(await client.post(`${CO}/coclub/`, { name, place: 'there' }))).toEqual(FORBIDDEN);
  });

  test('of a plain junction', async () => {
    const { client } = started;
    granted = where('personId', 'lt', bob);
    for (const cotag of [1, 2])
      expect([cotag, ...seen(await client.post(`${CO}/coperson/${bob}/tags/`, { cotag }))]).toEqual([
        cotag,
        ...FORBIDDEN,
      ]);
    expect((await client.post(`${CO}/coperson/${ann}/tags/`, { cotag: 2 })).status).toBe(201);
    expect(seen(await client.post(`${CO}/coperson/${ann}/tags/`, { cotag: 2 }))).toEqual([
      400,
      { non_field_errors: ['The fields coperson, cotag must make a unique set.'] },
    ]);
    expect((await client.delete(`${CO}/coperson/${ann}/tags/2/`)).status).toBe(204);
  });

  test('a change is judged with the version that it makes', async () => {
    const { client } = started;
    granted = where('state', 'iexact', 'mine');
    const made = (await client.post(`${CO}/copage/`, { name: 'own', state: 'mine' })).json as { id: number };
    granted = or(where('version', 'lt', 2), where('state', 'iexact', 'none'));
    for (const name of ['hidden', 'free'])
      expect([name, ...seen(await client.patch(`${CO}/copage/${made.id}/`, { name }))]).toEqual([
        name,
        ...FORBIDDEN,
      ]);
  });

  test('a deletion that rows restrict names no model that the caller may not view', async () => {
    const { client, dataSource } = started;
    const { id } = (await client.post(`${CO}/coshelf/`, {})).json as { id: number };
    await dataSource.manager.insert(CoPin, { shelf: { id }, tag: { id: 1 } });
    const told = async (): Promise<readonly unknown[]> => [
      seen(await client.delete(`${CO}/coshelf/${id}/`)),
      seen(await client.delete(`${CO}/coshelf/?keys=${id}`)),
    ];
    const other = [409, { detail: 'This object cannot be deleted: other objects still refer to it.' }];
    expect(await told()).toEqual([other, other]);
    await dataSource.manager.insert(CoSecret, { shelf: { id } });
    expect(await told()).toEqual([other, other]);
    await dataSource.manager.insert(CoVolume, { shelf: { id } });
    const named = [
      409,
      { detail: 'This object cannot be deleted: objects of "co.covolume" still refer to it.' },
    ];
    expect(await told()).toEqual([named, named]);
  });

  test('through the lists of both sides, and on the through model', async () => {
    const { client } = started;
    granted = where('person.name', 'ann');
    const made = await client.post(`${CO}/coperson/${ann}/rooms/`, { room: 2 });
    expect(made.status).toBe(201);
    const { id } = made.json as { id: number };
    for (const room of [1, 2]) {
      expect([room, ...seen(await client.post(`${CO}/coperson/${bob}/rooms/`, { room }))]).toEqual([
        room,
        ...FORBIDDEN,
      ]);
      expect([room, ...seen(await client.post(`${CO}/coroom/${room}/people/`, { person: bob }))]).toEqual([
        room,
        ...FORBIDDEN,
      ]);
      expect([room, ...seen(await client.post(`${CO}/coseat/`, { person: bob, room }))]).toEqual([
        room,
        ...FORBIDDEN,
      ]);
      for (const url of [`${CO}/coseat/${id}/`, `${CO}/coroom/2/people/${id}/`])
        expect([room, ...seen(await client.patch(url, { person: bob, room }))]).toEqual([room, ...FORBIDDEN]);
    }
    expect(seen(await client.post(`${CO}/coperson/${ann}/rooms/`, { room: 2 }))).toEqual([
      400,
      { non_field_errors: ['The fields person, room must make a unique set.'] },
    ]);
  });
});

onEachDatabase(
  'S24 an exclusion constraint does not reveal rows that a caller may not see',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ entities: [CoBooking], database });
      await started.dataSource.manager.insert(CoBooking, { room: 'bobs', day: 1 });
    });
    afterAll(() => started.close());

    test('a row outside of the grant gets the same rejection, and one inside the error of the constraint', async () => {
      const { client } = started;
      granted = where('room', 'startswith', 'ann');
      const made = await client.post(`${CO}/cobooking/`, { room: 'anns', day: 1 });
      expect(made.status).toBe(201);
      for (const day of [1, 2]) {
        expect([day, ...seen(await client.post(`${CO}/cobooking/`, { room: 'bobs', day }))]).toEqual([
          day,
          ...FORBIDDEN,
        ]);
        expect([
          day,
          ...seen(
            await client.patch(`${CO}/cobooking/${(made.json as { id: number }).id}/`, { room: 'bobs', day }),
          ),
        ]).toEqual([day, ...FORBIDDEN]);
      }
      expect(seen(await client.post(`${CO}/cobooking/`, { room: 'anns', day: 1 }))).toEqual([
        400,
        { non_field_errors: ['These values break a rule of the database.'] },
      ]);
    });
  },
  ['postgres'],
);
