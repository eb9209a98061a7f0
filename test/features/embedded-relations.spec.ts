// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { DELETED, idOf, isRefusedPair, noSuchPk, NOT_FOUND, REQUIRED, seen } from './nested-answers.js';

@Restify('mail')
@Entity()
class Country {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @OneToMany(() => Parcel, (parcel) => parcel.to.country)
  parcels: Relation<Parcel[]>;
}

@Restify('mail')
@Entity()
class Stamp {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Parcel, (parcel) => parcel.to.stamps)
  parcels: Relation<Parcel[]>;
}

@Restify('mail')
@Entity()
class Receipt {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToOne(() => Parcel, (parcel) => parcel.proof.receipt)
  parcel: Relation<Parcel>;
}

@Restify('mail')
@Entity()
class Scan {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Parcel, (parcel) => parcel.to.route.scans, { nullable: false })
  parcel: Relation<Parcel>;
}

class Itinerary {
  @Column({ length: 20, default: '' })
  line: string;

  @ManyToOne(() => Country)
  over: Relation<Country> | null;

  @OneToMany(() => Scan, (scan) => scan.parcel)
  scans: Relation<Scan[]>;
}

class Address {
  @Column({ length: 20 })
  street: string;

  @ManyToOne(() => Country, (country) => country.parcels, { nullable: false })
  country: Relation<Country>;

  @ManyToMany(() => Stamp, (stamp) => stamp.parcels)
  @JoinTable({ name: 'mail_parcel_stamps' })
  stamps: Relation<Stamp[]>;

  @Column(() => Itinerary)
  route: Itinerary;
}

/** Nothing but relations. */
class Proof {
  @OneToOne(() => Receipt, (receipt) => receipt.parcel)
  @JoinColumn()
  receipt: Relation<Receipt> | null;
}

@Restify({
  app: 'mail',
  filterFields: {
    'to.country': ['exact', 'in'],
    'to.country.name': ['exact'],
    'to.route.over': ['isnull'],
    'to.street': ['exact'],
  },
  orderingFields: ['to.country', 'to.country.name'],
  searchFields: ['to.country.name'],
})
@Entity()
class Parcel {
  @PrimaryGeneratedColumn()
  id: number;

  @Column(() => Address)
  to: Address;

  @Column(() => Proof)
  proof: Proof;

  @Column({ default: 0 })
  grams: number;
}

onEachDatabase('relations in embedded objects', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  let ch: number, at: number, parcel: number;
  const url = '/rest/v1/mail/parcel/';
  beforeAll(async () => {
    started = await startApp({ entities: [Country, Stamp, Receipt, Scan, Parcel], database });
    client = started.client;
    [ch, at] = [
      idOf(await client.post('/rest/v1/mail/country/', { name: 'ch' })),
      idOf(await client.post('/rest/v1/mail/country/', { name: 'at' })),
    ];
  });
  afterAll(() => started.close());

  const shown = (id: number, more: object = {}): object => ({
    id,
    to: {
      street: 'A',
      route: { line: '', over: null, scans: `${url}${id}/to.route.scans/` },
      country: ch,
      stamps: `${url}${id}/to.stamps/`,
      ...more,
    },
    grams: 0,
    proof: { receipt: null },
  });
  const ids = async (path: string): Promise<unknown> =>
    ((await client.get(`/rest/v1/mail/${path}`)).json as { id: number }[]).map(({ id }) => id);

  test('are keys and links within the object', async () => {
    const made = await client.post(url, { to: { street: 'A', country: ch } });
    parcel = idOf(made);
    expect(seen(made)).toEqual([201, shown(parcel)]);
    expect(seen(await client.get(`${url}${parcel}/`))).toEqual([200, shown(parcel)]);
    const body = { to: { country: at, route: { over: ch, line: 'x' } } };
    const changed = { country: at, route: { line: 'x', over: ch, scans: `${url}${parcel}/to.route.scans/` } };
    expect(seen(await client.patch(`${url}${parcel}/`, body))).toEqual([200, shown(parcel, changed)]);
    expect(seen(await client.patch(`${url}${parcel}/`, { to: { street: 'A' }, proof: {} }))).toEqual([
      200,
      shown(parcel, changed),
    ]);
    expect(
      seen(await client.patch(`${url}${parcel}/`, { grams: 0, to: { route: { over: null, line: '' } } })),
    ).toEqual([200, shown(parcel, { country: at })]);
    expect(seen(await client.put(`${url}${parcel}/`, { to: { street: 'A', country: ch } }))).toEqual([
      200,
      shown(parcel),
    ]);
  });

  test('have their errors within the object, together with all others', async () => {
    expect(
      seen(await client.post(url, { grams: 'x', to: { street: '', country: 999, route: { over: 'y' } } })),
    ).toEqual([
      400,
      {
        grams: ['A valid integer is required.'],
        to: {
          street: ['This field may not be blank.'],
          country: noSuchPk('999'),
          route: { over: ['Incorrect type. Expected pk value, received str.'] },
        },
      },
    ]);
    expect(seen(await client.post(url, { to: { street: 'A' } }))).toEqual([
      400,
      { to: { country: REQUIRED } },
    ]);
    expect(
      seen(await client.patch(`${url}${parcel}/`, { to: { country: null, route: { over: 998 } } })),
    ).toEqual([400, { to: { country: ['This field may not be null.'], route: { over: noSuchPk('998') } } }]);
    expect(seen(await client.patch(`${url}${parcel}/`, { to: { country: { name: 'x' } } }))).toEqual([
      400,
      { to: { country: ['Incorrect type. Expected pk value, received dict.'] } },
    ]);
    expect(seen(await client.get(`${url}${parcel}/`))).toEqual([200, shown(parcel)]);
  });

  test('are filtered, searched and ordered by', async () => {
    const other = idOf(await client.post(url, { to: { street: 'B', country: at, route: { over: at } } }));
    expect(await ids(`parcel/?to__country=${at}`)).toEqual([other]);
    expect(await ids(`parcel/?to__country__in=${ch},${at}`)).toEqual([parcel, other]);
    expect(await ids('parcel/?to__country__name=ch')).toEqual([parcel]);
    expect(await ids('parcel/?to__route__over__isnull=false')).toEqual([other]);
    expect(await ids('parcel/?search=at')).toEqual([other]);
    expect(await ids('parcel/?ordering=to__country__name')).toEqual([other, parcel]);
    expect(await ids('parcel/?ordering=-to__country')).toEqual([other, parcel]);
    expect((await client.get('/rest/v1/mail/parcel/?to__country=x')).status).toBe(400);
  });

  test('are the other side of relations', async () => {
    expect((await client.get(`/rest/v1/mail/country/${ch}/parcels/`)).json).toEqual([shown(parcel)]);
    const receipt = idOf(await client.post('/rest/v1/mail/receipt/', {}));
    expect((await client.patch(`${url}${parcel}/`, { proof: { receipt } })).json).toMatchObject({
      proof: { receipt },
    });
    expect(seen(await client.get(`/rest/v1/mail/receipt/${receipt}/`))).toEqual([
      200,
      { id: receipt, parcel },
    ]);
    expect((await client.post(url, { to: { street: 'C', country: ch }, proof: { receipt } })).status).toBe(
      400,
    );
    expect((await client.patch(`${url}${parcel}/`, { proof: { receipt: null } })).json).toMatchObject({
      proof: { receipt: null },
    });
    expect(seen(await client.delete(`/rest/v1/mail/country/${ch}/`))).toEqual([
      409,
      { detail: expect.stringContaining('mail.parcel') },
    ]);
  });

  test('have nested lists and through objects below their path', async () => {
    const scan = idOf(await client.post('/rest/v1/mail/scan/', { parcel }));
    expect(seen(await client.get(`${url}${parcel}/to.route.scans/`))).toEqual([200, [{ id: scan, parcel }]]);
    expect(seen(await client.get(`${url}9999/to.route.scans/`))).toEqual(NOT_FOUND);
    const stamp = idOf(await client.post('/rest/v1/mail/stamp/', {}));
    expect(seen(await client.post(`${url}${parcel}/to.stamps/`, { stamp }))).toEqual([
      201,
      { id: stamp, parcel, stamp },
    ]);
    expect(isRefusedPair(await client.post(`${url}${parcel}/to.stamps/`, { stamp }))).toBe(true);
    expect(seen(await client.get(`/rest/v1/mail/stamp/${stamp}/parcels/`))).toEqual([
      200,
      [{ id: parcel, parcel, stamp }],
    ]);
    expect(seen(await client.delete(`${url}${parcel}/to.stamps/${stamp}/`))).toEqual(DELETED);
  });

  test('are described by OPTIONS', async () => {
    const { actions } = (await client.send('OPTIONS', url)).json as {
      actions: { POST: { to: { children: Record<string, unknown> } } };
    };
    expect(Object.keys(actions.POST.to.children)).toEqual(['street', 'route', 'country', 'stamps']);
    expect(actions.POST.to.children).toMatchObject({
      country: { required: true, read_only: false },
      stamps: { read_only: true },
    });
  });
});

// Under grants.
class Public implements Permission {
  decide(): Grant {
    return allow({ rows: where('secret', false) });
  }
}

class WithoutPlace implements Permission {
  decide(): Grant {
    return allow({ readable: ['id', 'name'], writable: ['name'] });
  }
}

@Restify({ app: 'spy', permissions: [Public] })
@Entity()
class House {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: false })
  secret: boolean;
}

class Place {
  @ManyToOne(() => House)
  house: Relation<House> | null;
}

@Restify({
  app: 'spy',
  filterFields: { 'place.house': ['exact'], 'place.house.secret': ['exact'] },
  orderingFields: ['place.house'],
})
@Entity()
class Agent {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @Column(() => Place)
  place: Place;
}

@Restify({ app: 'spy', permissions: [WithoutPlace], filterFields: { 'place.house': ['exact'] } })
@Entity()
class Suspect {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @Column(() => Place)
  place: Place;
}

onEachDatabase('relations in embedded objects under grants', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [House, Agent, Suspect], database });
  });
  afterAll(() => started.close());

  test('take no key, and are filtered by no row, that the caller may not see', async () => {
    const { client, dataSource } = started;
    const open = await dataSource.getRepository(House).save({ secret: false });
    const secret = await dataSource.getRepository(House).save({ secret: true });
    expect(seen(await client.post('/rest/v1/spy/agent/', { place: { house: secret.id } }))).toEqual([
      400,
      { place: { house: noSuchPk(String(secret.id)) } },
    ]);
    const agent = await client.post('/rest/v1/spy/agent/', { place: { house: open.id } });
    expect(seen(agent)).toEqual([201, { id: idOf(agent), name: '', place: { house: open.id } }]);
    await dataSource.getRepository(Agent).save({ name: 'mole', place: { house: secret } });
    expect(seen(await client.get('/rest/v1/spy/agent/?place__house__secret=true'))).toEqual([200, []]);
    expect(
      ((await client.get('/rest/v1/spy/agent/?place__house__secret=false')).json as unknown[]).length,
    ).toBe(1);
  });

  test('of an object that is not granted are neither shown nor written nor filtered by', async () => {
    const { client, dataSource } = started;
    const house = await dataSource.getRepository(House).save({ secret: false });
    const made = await client.post('/rest/v1/spy/suspect/', { name: 'x', place: { house: house.id } });
    expect(seen(made)).toEqual([201, { id: idOf(made), name: 'x' }]);
    expect(
      (
        await dataSource
          .getRepository(Suspect)
          .findOne({ where: { id: idOf(made) }, relations: { place: { house: true } } })
      )?.place.house ?? null,
    ).toBeNull();
    expect(
      ((await client.get(`/rest/v1/spy/suspect/?place__house=${house.id}`)).json as unknown[]).length,
    ).toBe(1);
  });
});
