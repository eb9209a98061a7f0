// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  AfterLoad,
  BeforeInsert,
  BeforeRemove,
  BeforeUpdate,
  ChildEntity,
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  JoinColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { DELETED, idOf, NOT_FOUND, noSuchPk, REQUIRED, seen } from './nested-answers.js';

class Engine {
  @Column({ length: 20, default: '' })
  maker: string;

  @Column()
  power: number;
}

class Size {
  @Column({ nullable: true })
  length: number;
}

/** No entity of its own: its columns are those of each class that extends it. */
abstract class Stamped {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  plate: string;
}

@Restify('fleet')
@Entity()
class Garage {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @OneToMany(() => Vehicle, (vehicle) => vehicle.garage)
  vehicles: Relation<Vehicle[]>;

  @OneToMany(() => Bus, (bus) => bus.garage)
  buses: Relation<Bus[]>;

  @OneToOne(() => Bus, (bus) => bus.home)
  resident: Relation<Bus>;

  @ManyToMany(() => Bus, (bus) => bus.stops)
  calls: Relation<Bus[]>;
}

@Restify({
  app: 'fleet',
  searchFields: ['plate'],
  filterFields: { 'garage.name': ['exact'], plate: ['exact', 'in'], kind: ['exact'] },
})
@Entity()
@TableInheritance({ column: 'kind' })
class Vehicle extends Stamped {
  @Column({ length: 20 })
  kind: string;

  @ManyToOne(() => Garage, (garage) => garage.vehicles, { onDelete: 'RESTRICT' })
  garage: Relation<Garage> | null;

  @Column(() => Size)
  size: Size;

  @OneToMany(() => Trip, (trip) => trip.vehicle)
  trips: Relation<Trip[]>;

  @ManyToMany(() => Driver, (driver) => driver.vehicles)
  @JoinTable({ name: 'fleet_licence' })
  drivers: Relation<Driver[]>;
}

@Restify({ app: 'fleet', orderingFields: ['seats', 'plate'] })
@ChildEntity('bus')
class Bus extends Vehicle {
  @Column()
  seats: number;

  @Column(() => Engine)
  engine: Engine;

  @OneToOne(() => Garage, (garage) => garage.resident)
  @JoinColumn()
  home: Relation<Garage> | null;

  @OneToMany(() => Trip, (trip) => trip.bus)
  busTrips: Relation<Trip[]>;

  @ManyToMany(() => Garage, (garage) => garage.calls)
  @JoinTable({ name: 'fleet_stop' })
  stops: Relation<Garage[]>;

  @BeforeUpdate()
  fewerSeats(): void {
    if (this.seats > 500) this.seats = 500;
  }
}

@Restify('fleet')
@ChildEntity()
class MiniBus extends Bus {
  @Column({ nullable: true })
  doors: number;
}

@Restify('fleet')
@ChildEntity()
class Truck extends Vehicle {
  /** The same column as that of a bus. */
  @Column({ nullable: true })
  seats: number;

  @Column()
  tons: number;
}

/** Served nowhere by itself: its rows are vehicles. */
@ChildEntity()
class Bike extends Vehicle {
  @Column({ length: 10, default: 'red' })
  colour: string;
}

@Restify({
  app: 'fleet',
  filterFields: {
    vehicle: ['exact'],
    bus: ['exact', 'isnull'],
    'bus.seats': ['exact', 'gte'],
    'vehicle.plate': ['exact'],
  },
})
@Entity()
class Trip {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Vehicle, (vehicle) => vehicle.trips, { onDelete: 'RESTRICT' })
  vehicle: Relation<Vehicle> | null;

  @ManyToOne(() => Bus, (bus) => bus.busTrips, { onDelete: 'SET NULL' })
  bus: Relation<Bus> | null;
}

@Restify('fleet')
@Entity()
class Driver {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Vehicle, (vehicle) => vehicle.drivers)
  vehicles: Relation<Vehicle[]>;
}

const ENTITIES = [Garage, Vehicle, Bus, MiniBus, Truck, Bike, Trip, Driver];

onEachDatabase('single-table inheritance', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  let garage: number, vehicle: number, bus: number, mini: number, truck: number;
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database });
    client = started.client;
    garage = idOf(await client.post('/rest/v1/fleet/garage/', { name: 'north' }));
    vehicle = idOf(await client.post('/rest/v1/fleet/vehicle/', { plate: 'V1', garage }));
    bus = idOf(
      await client.post('/rest/v1/fleet/bus/', { plate: 'B1', garage, seats: 50, engine: { power: 100 } }),
    );
    mini = idOf(
      await client.post('/rest/v1/fleet/minibus/', {
        plate: 'M1',
        garage,
        seats: 9,
        engine: { power: 50 },
        doors: 3,
      }),
    );
    truck = idOf(await client.post('/rest/v1/fleet/truck/', { plate: 'T1', garage, tons: 7 }));
    await started.dataSource.getRepository(Bike).save({ plate: 'K1' });
  });
  afterAll(() => started.close());

  const ids = async (path: string): Promise<unknown> =>
    ((await client.get(`/rest/v1/fleet/${path}`)).json as { id: number }[]).map(({ id }) => id);

  test('shows every row to the base, with the columns of the base, and to a child those of its own kind', async () => {
    expect((await client.get(`/rest/v1/fleet/vehicle/${bus}/`)).json).toEqual({
      id: bus,
      plate: 'B1',
      kind: 'bus',
      size: { length: null },
      garage,
      trips: `/rest/v1/fleet/vehicle/${bus}/trips/`,
      drivers: `/rest/v1/fleet/vehicle/${bus}/drivers/`,
    });
    expect(
      ((await client.get('/rest/v1/fleet/vehicle/')).json as { plate: string; kind: string }[]).map(
        ({ plate, kind }) => [plate, kind],
      ),
    ).toEqual([
      ['V1', 'Vehicle'],
      ['B1', 'bus'],
      ['M1', 'MiniBus'],
      ['T1', 'Truck'],
      ['K1', 'Bike'],
    ]);
    expect(await ids('bus/')).toEqual([bus, mini]);
    expect(await ids('minibus/')).toEqual([mini]);
    expect((await client.get('/rest/v1/fleet/truck/')).json).toEqual([
      {
        id: truck,
        plate: 'T1',
        kind: 'Truck',
        seats: null,
        tons: 7,
        size: { length: null },
        garage,
        trips: `/rest/v1/fleet/truck/${truck}/trips/`,
        drivers: `/rest/v1/fleet/truck/${truck}/drivers/`,
      },
    ]);
    const base = `/rest/v1/fleet/minibus/${mini}`;
    expect((await client.get(`${base}/`)).json).toEqual({
      id: mini,
      plate: 'M1',
      kind: 'MiniBus',
      seats: 9,
      doors: 3,
      size: { length: null },
      engine: { maker: '', power: 50 },
      garage,
      trips: `${base}/trips/`,
      drivers: `${base}/drivers/`,
      home: null,
      busTrips: `${base}/busTrips/`,
      stops: `${base}/stops/`,
    });
  });

  test('excludes rows of other kinds, in each operation', async () => {
    for (const id of [vehicle, truck]) {
      const url = `/rest/v1/fleet/bus/${id}/`;
      expect(seen(await client.get(url))).toEqual(NOT_FOUND);
      expect(seen(await client.patch(url, { seats: 1 }))).toEqual(NOT_FOUND);
      expect(seen(await client.put(url, { plate: 'X', seats: 1, engine: { power: 1 } }))).toEqual(NOT_FOUND);
      expect(seen(await client.delete(url))).toEqual(NOT_FOUND);
      for (const nested of ['trips', 'busTrips', 'drivers', 'stops'])
        expect(seen(await client.get(`${url}${nested}/`))).toEqual(NOT_FOUND);
      expect(seen(await client.post(`${url}stops/`, { garage }))).toEqual(NOT_FOUND);
    }
    expect(seen(await client.get(`/rest/v1/fleet/minibus/${bus}/`))).toEqual(NOT_FOUND);
    expect((await client.get(`/rest/v1/fleet/bus/${mini}/`)).status).toBe(200);
    expect(await ids('bus/?plate=T1')).toEqual([]);
    expect(await ids('bus/?search=T1')).toEqual([]);
    expect(await ids('bus/?ordering=-seats')).toEqual([bus, mini]);
    expect(await ids('bus/?seats=9')).toEqual([mini]);
  });

  test('creates rows of the kind of the URL, and ignores the kind in a body', async () => {
    const made = await client.post('/rest/v1/fleet/bus/', {
      plate: 'B2',
      seats: 30,
      engine: { power: 1 },
      kind: 'Truck',
    });
    expect(made.json).toMatchObject({ kind: 'bus', seats: 30 });
    const id = idOf(made);
    expect(
      (await client.patch(`/rest/v1/fleet/vehicle/${id}/`, { kind: 'Truck', plate: 'B2b' })).json,
    ).toMatchObject({ id, kind: 'bus', plate: 'B2b' });
    expect((await client.get(`/rest/v1/fleet/bus/${id}/`)).json).toMatchObject({ plate: 'B2b', seats: 30 });
    expect(seen(await client.delete(`/rest/v1/fleet/vehicle/${id}/`))).toEqual(DELETED);
    expect(seen(await client.get(`/rest/v1/fleet/bus/${id}/`))).toEqual(NOT_FOUND);
  });

  test('requires only the columns of the kind, also those that TypeORM made nullable for the others', async () => {
    expect(seen(await client.post('/rest/v1/fleet/bus/', {}))).toEqual([
      400,
      { plate: REQUIRED, seats: REQUIRED, engine: REQUIRED },
    ]);
    expect(
      seen(await client.post('/rest/v1/fleet/bus/', { plate: 'B3', seats: null, engine: { power: null } })),
    ).toEqual([
      400,
      { seats: ['This field may not be null.'], engine: { power: ['This field may not be null.'] } },
    ]);
    expect(seen(await client.post('/rest/v1/fleet/truck/', {}))).toEqual([
      400,
      { plate: REQUIRED, tons: REQUIRED },
    ]);
    expect(seen(await client.patch(`/rest/v1/fleet/truck/${truck}/`, { tons: null }))).toEqual([
      400,
      { tons: ['This field may not be null.'] },
    ]);
    expect(
      (await client.patch(`/rest/v1/fleet/truck/${truck}/`, { seats: null, tons: 8 })).json,
    ).toMatchObject({ seats: null, tons: 8 });
    for (const model of ['vehicle', 'truck'])
      expect(seen(await client.post(`/rest/v1/fleet/${model}/`, { plate: 'B1', tons: 1 }))).toEqual([
        400,
        { plate: ['This field must be unique.'] },
      ]);
  });

  test('changes a row through its base as the entity that it is', async () => {
    expect((await client.patch(`/rest/v1/fleet/bus/${bus}/`, { seats: 900 })).json).toMatchObject({
      seats: 500,
    });
    await started.dataSource.getRepository(Bus).update(bus, { seats: 900 });
    expect(
      (await client.patch(`/rest/v1/fleet/vehicle/${bus}/`, { size: { length: 12 } })).json,
    ).toMatchObject({ size: { length: 12 } });
    expect((await client.get(`/rest/v1/fleet/bus/${bus}/`)).json).toMatchObject({
      seats: 500,
      size: { length: 12 },
      engine: { power: 100 },
    });
    await started.dataSource.getRepository(Bus).update(bus, { seats: 50 });
  });

  test('lists below a parent the rows of the kind that the relation leads to', async () => {
    expect(await ids(`garage/${garage}/buses/`)).toEqual([bus, mini]);
    expect(await ids(`garage/${garage}/vehicles/`)).toEqual([vehicle, bus, mini, truck]);
    expect(await ids(`garage/${garage}/buses/?seats=9`)).toEqual([mini]);
    expect(await ids('vehicle/?garage__name=north')).toEqual([vehicle, bus, mini, truck]);
    expect(await ids('vehicle/?kind=Truck')).toEqual([truck]);
  });

  test('takes keys of the kind alone, and filters over it', async () => {
    expect(seen(await client.post('/rest/v1/fleet/trip/', { bus: truck, vehicle: 9999 }))).toEqual([
      400,
      { vehicle: noSuchPk('9999'), bus: noSuchPk(String(truck)) },
    ]);
    const first = idOf(await client.post('/rest/v1/fleet/trip/', { bus: mini, vehicle: truck }));
    const second = idOf(await client.post('/rest/v1/fleet/trip/', { bus, vehicle: bus }));
    expect(await ids(`bus/${bus}/busTrips/`)).toEqual([second]);
    expect(await ids(`bus/${bus}/trips/`)).toEqual([second]);
    expect(await ids(`truck/${truck}/trips/`)).toEqual([first]);
    expect(await ids('trip/?bus__seats__gte=10')).toEqual([second]);
    expect(await ids(`trip/?bus=${mini}`)).toEqual([first]);
    expect(await ids('trip/?vehicle__plate=T1')).toEqual([first]);
    // A row of another kind under the foreign key is none of that model.
    await started.dataSource.query(
      `UPDATE trip SET ${database.name === 'mariadb' ? '`busId`' : '"busId"'} = ${truck} WHERE id = ${first}`,
    );
    await started.dataSource.getRepository(Truck).update(truck, { seats: 70 });
    expect(await ids('trip/?bus__seats=70')).toEqual([]);
    expect(seen(await client.delete(`/rest/v1/fleet/truck/${truck}/`))).toEqual([
      409,
      { detail: expect.stringContaining('fleet.trip') },
    ]);
    for (const trip of [first, second]) await client.delete(`/rest/v1/fleet/trip/${trip}/`);
    expect(seen(await client.delete(`/rest/v1/fleet/garage/${garage}/`))).toEqual([
      409,
      { detail: expect.stringContaining('fleet.vehicle') },
    ]);
  });

  test('is the other side of a one-to-one', async () => {
    expect((await client.patch(`/rest/v1/fleet/bus/${bus}/`, { home: garage })).json).toMatchObject({
      home: garage,
    });
    expect((await client.get(`/rest/v1/fleet/garage/${garage}/`)).json).toMatchObject({ resident: bus });
    expect(seen(await client.patch(`/rest/v1/fleet/minibus/${mini}/`, { home: garage }))).toEqual([
      400,
      { home: ['This field must be unique.'] },
    ]);
    expect((await client.patch(`/rest/v1/fleet/bus/${bus}/`, { home: null })).json).toMatchObject({
      home: null,
    });
  });

  test('has through objects, with the model of the URL as a side', async () => {
    const driver = idOf(await client.post('/rest/v1/fleet/driver/', {}));
    expect(seen(await client.post(`/rest/v1/fleet/bus/${bus}/drivers/`, { driver }))).toEqual([
      201,
      { id: driver, bus, driver },
    ]);
    expect(seen(await client.get(`/rest/v1/fleet/vehicle/${bus}/drivers/${driver}/`))).toEqual([
      200,
      { id: driver, vehicle: bus, driver },
    ]);
    expect(seen(await client.post(`/rest/v1/fleet/driver/${driver}/vehicles/`, { vehicle: truck }))).toEqual([
      201,
      { id: truck, vehicle: truck, driver },
    ]);
    expect(await ids(`driver/${driver}/vehicles/`)).toEqual([bus, truck]);
    expect(seen(await client.post(`/rest/v1/fleet/bus/${mini}/stops/`, { garage }))).toEqual([
      201,
      { id: garage, bus: mini, garage },
    ]);
    expect(seen(await client.get(`/rest/v1/fleet/garage/${garage}/calls/`))).toEqual([
      200,
      [{ id: mini, bus: mini, garage }],
    ]);
    expect(seen(await client.post(`/rest/v1/fleet/garage/${garage}/calls/`, { bus: truck }))).toEqual([
      400,
      { bus: noSuchPk(String(truck)) },
    ]);
    expect(seen(await client.delete(`/rest/v1/fleet/garage/${garage}/calls/${mini}/`))).toEqual(DELETED);
  });

  test('has an index entry for each registered entity', async () => {
    expect(Object.keys((await client.get('/')).json as object)).toEqual(
      ['bus', 'driver', 'garage', 'minibus', 'trip', 'truck', 'vehicle'].map(
        (model) => `rest/v1/fleet/${model}`,
      ),
    );
  });
});

// Children alone, through a base that nobody registered, with what makes TypeORM load the entities.
@Entity()
@TableInheritance({ column: { type: 'int', name: 'type_no' } })
class Media {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  title: string;

  loaded: string;

  @DeleteDateColumn({ select: false })
  removed: Date | null;

  @ManyToMany(() => Label)
  @JoinTable({ name: 'shelf_labels' })
  labels: Relation<Label[]>;

  @AfterLoad()
  remember(): void {
    this.loaded = `${this.constructor.name}:${this.title}`;
  }
}

@Restify({ app: 'shelf', computed: { loaded: (film: Film) => film.loaded } })
@ChildEntity(1)
class Film extends Media {
  @Column()
  minutes: number;
}

@Restify({ app: 'shelf', computed: { loaded: (book: Book) => book.loaded } })
@ChildEntity(2)
class Book extends Media {
  @Column()
  pages: number;

  @ManyToOne(() => Film, { onDelete: 'SET NULL' })
  film: Relation<Film> | null;
}

@Restify('shelf')
@Entity()
class Label {
  @PrimaryGeneratedColumn()
  id: number;
}

onEachDatabase('children of a base that is not registered', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Media, Film, Book, Label], database });
  });
  afterAll(() => started.close());

  test('are served as any other, with numbers for their kinds, loaded entities and soft deletion', async () => {
    const { client } = started;
    const film = idOf(await client.post('/rest/v1/shelf/film/', { title: 'F', minutes: 90 }));
    const made = await client.post('/rest/v1/shelf/book/', { title: 'B', pages: 9, film });
    const book = idOf(made);
    expect(seen(made)).toEqual([
      201,
      {
        id: book,
        title: 'B',
        pages: 9,
        film,
        labels: `/rest/v1/shelf/book/${book}/labels/`,
        loaded: 'Book:B',
      },
    ]);
    expect(seen(await client.get('/rest/v1/shelf/film/'))).toEqual([
      200,
      [
        {
          id: film,
          title: 'F',
          minutes: 90,
          labels: `/rest/v1/shelf/film/${film}/labels/`,
          loaded: 'Film:F',
        },
      ],
    ]);
    expect(seen(await client.patch(`/rest/v1/shelf/book/${book}/`, { film: book }))).toEqual([
      400,
      { film: noSuchPk(String(book)) },
    ]);
    const label = idOf(await client.post('/rest/v1/shelf/label/', {}));
    expect(seen(await client.post(`/rest/v1/shelf/film/${film}/labels/`, { label }))).toEqual([
      201,
      { id: label, film, label },
    ]);
    expect(seen(await client.delete(`/rest/v1/shelf/film/${film}/`))).toEqual(DELETED);
    expect(seen(await client.get('/rest/v1/shelf/film/'))).toEqual([200, []]);
    expect(await started.dataSource.getRepository(Film).count({ withDeleted: true })).toBe(1);
    expect(await started.dataSource.query('SELECT type_no FROM media ORDER BY type_no')).toEqual([
      { type_no: 1 },
      { type_no: 2 },
    ]);
    expect(Object.keys((await client.get('/')).json as object)).toEqual([
      'rest/v1/shelf/book',
      'rest/v1/shelf/film',
      'rest/v1/shelf/label',
    ]);
  });
});

@Restify('kennel')
@Entity()
class Owner {
  @PrimaryGeneratedColumn()
  id: number;
}

@Entity()
@TableInheritance({ column: 'kind' })
class Animal {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  kind: string;
}

@Restify('kennel')
@ChildEntity()
class Dog extends Animal {
  @ManyToOne(() => Owner, { onDelete: 'RESTRICT' })
  owner: Relation<Owner> | null;
}

onEachDatabase('a child whose base is not registered', (database) => {
  test('is the model that a refused deletion names', async () => {
    const started = await startApp({ entities: [Owner, Animal, Dog], database });
    const { client } = started;
    const owner = idOf(await client.post('/rest/v1/kennel/owner/', {}));
    expect((await client.post('/rest/v1/kennel/dog/', { owner })).json).toMatchObject({ kind: 'Dog', owner });
    expect(seen(await client.delete(`/rest/v1/kennel/owner/${owner}/`))).toEqual([
      409,
      { detail: 'This object cannot be deleted: objects of "kennel.dog" still refer to it.' },
    ]);
    await started.close();
  });
});

const heard: string[] = [];

@Restify('stable')
@Entity('st_animal')
@TableInheritance({ column: { type: 'varchar', name: 'kind', length: 20 } })
class StAnimal {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;

  @BeforeUpdate() tellChange(): void {
    heard.push(`change ${this.name}`);
  }
}

/** With listeners of its own. */
@Restify({ app: 'stable', computed: { tag: (horse: StHorse) => horse.tag } })
@ChildEntity()
class StHorse extends StAnimal {
  @Column({ default: 4 }) shoes: number;

  tag: string;

  @AfterLoad() addTag(): void {
    this.tag = `${this.name} with ${this.shoes}`;
  }
  @BeforeInsert() tellNew(): void {
    heard.push(`new ${this.name}`);
  }
  @BeforeRemove() tellRemoval(): void {
    heard.push(`remove ${this.name}`);
  }
}

@Restify('stable')
@ChildEntity()
class StDog extends StAnimal {
  @Column({ nullable: true }) trick: string;
}

onEachDatabase('a base with a child that has listeners', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [StAnimal, StHorse, StDog], database });
  });
  afterAll(() => started.close());

  test('is written and read, and the listeners are called for the objects of the child only', async () => {
    const { client } = started;
    const ANIMALS = '/rest/v1/stable/stanimal/';
    heard.length = 0;
    expect(await client.post(ANIMALS, { name: 'any' })).toMatchObject({ status: 201 });
    expect(await client.post('/rest/v1/stable/stdog/', { name: 'rex' })).toMatchObject({ status: 201 });
    expect(await client.post('/rest/v1/stable/sthorse/', { name: 'max' })).toMatchObject({
      status: 201,
      json: { tag: 'max with 4' },
    });
    expect(heard).toEqual(['new max']);
    expect(await client.get(ANIMALS)).toMatchObject({
      status: 200,
      json: [{ name: 'any' }, { name: 'rex' }, { name: 'max' }],
    });
    expect(await client.patch(`${ANIMALS}1/`, { name: 'each' })).toMatchObject({ status: 200 });
    expect(await client.patch(`${ANIMALS}2/`, { name: 'rax' })).toMatchObject({ status: 200 });
    expect(await client.put(`${ANIMALS}3/`, { name: 'mix' })).toMatchObject({ status: 200 });
    expect(heard).toEqual(['new max', 'change each', 'change rax', 'change mix']);
    for (const id of [1, 2, 3])
      expect(await client.delete(`${ANIMALS}${id}/`)).toMatchObject({ status: 204 });
    expect(heard.slice(4)).toEqual(['remove mix']);
  });
});
