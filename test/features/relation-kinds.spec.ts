// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { DELETED, idOf, noSuchPk, NOT_FOUND, REQUIRED, seen } from './nested-answers.js';

const NO_NULL = ['This field may not be null.'];

// Relations to a unique column that is not the key.
@Restify('geo')
@Entity()
class Country {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 8, unique: true })
  code: string;

  @OneToMany(() => City, (city) => city.country)
  cities: Relation<City[]>;

  @OneToOne(() => Anthem, (anthem) => anthem.country)
  anthem: Relation<Anthem>;
}

@Restify('geo')
@Entity()
class City {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Country, (country) => country.cities, { nullable: false, onUpdate: 'CASCADE' })
  @JoinColumn({ name: 'country_code', referencedColumnName: 'code' })
  country: Relation<Country>;
}

@Restify('geo')
@Entity()
class Anthem {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToOne(() => Country, (country) => country.anthem)
  @JoinColumn({ name: 'country_code', referencedColumnName: 'code' })
  country: Relation<Country> | null;
}

type Client = StartedApp['client'];

async function created(client: Client, path: string, body: object = {}): Promise<number> {
  return idOf(await client.post(`/rest/v1/${path}/`, body));
}

onEachDatabase('a relation to a unique column that is not the key', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Country, City, Anthem], database });
    for (let index = 0; index < 5; index++) await started.client.post('/rest/v1/geo/anthem/', {});
  });
  afterAll(() => started.close());

  test('shows, takes and is filtered by the related pk, many-to-one', async () => {
    const { client } = started;
    const [a, b] = [
      await created(client, 'geo/country', { code: 'aa' }),
      await created(client, 'geo/country', { code: 'bb' }),
    ];
    const city = await client.post('/rest/v1/geo/city/', { country: b });
    const id = idOf(city);
    expect(seen(city)).toEqual([201, { id, country: b }]);
    expect(seen(await client.get(`/rest/v1/geo/country/${b}/cities/`))).toEqual([200, [{ id, country: b }]]);
    expect(seen(await client.get(`/rest/v1/geo/country/${a}/cities/`))).toEqual([200, []]);
    expect(seen(await client.get(`/rest/v1/geo/city/?country=${b}`))).toEqual([200, [{ id, country: b }]]);
    expect(seen(await client.get(`/rest/v1/geo/city/?country=${a}`))).toEqual([200, []]);
    expect(seen(await client.patch(`/rest/v1/geo/city/${id}/`, { country: a }))).toEqual([
      200,
      { id, country: a },
    ]);
    expect(seen(await client.put(`/rest/v1/geo/city/${id}/`, { country: String(b) }))).toEqual([
      200,
      { id, country: b },
    ]);
    expect(seen(await client.patch(`/rest/v1/geo/city/${id}/`, { country: 'bb' }))).toEqual([
      400,
      { country: ['Incorrect type. Expected pk value, received str.'] },
    ]);
    expect(seen(await client.patch(`/rest/v1/geo/city/${id}/`, { country: 999999 }))).toEqual([
      400,
      { country: noSuchPk('999999') },
    ]);
    expect((await client.get('/rest/v1/geo/city/?country=bb')).status).toBe(400);
    expect((await client.patch(`/rest/v1/geo/country/${b}/`, { code: 'renamed' })).status).toBe(200);
    expect(seen(await client.get(`/rest/v1/geo/country/${b}/cities/`))).toEqual([200, [{ id, country: b }]]);
    expect((await client.delete(`/rest/v1/geo/country/${b}/`)).status).toBe(409);
  });

  test('shows and takes the related pk, one-to-one, from both sides', async () => {
    const { client } = started;
    const [a, b] = [
      await created(client, 'geo/country', { code: 'cc' }),
      await created(client, 'geo/country', { code: 'dd' }),
    ];
    const anthem = await client.post('/rest/v1/geo/anthem/', { country: a });
    const id = idOf(anthem);
    expect(seen(anthem)).toEqual([201, { id, country: a }]);
    expect((await client.get(`/rest/v1/geo/country/${a}/`)).json).toMatchObject({ anthem: id });
    expect((await client.get(`/rest/v1/geo/country/${b}/`)).json).toMatchObject({ anthem: null });
    expect(seen(await client.post('/rest/v1/geo/anthem/', { country: a }))).toEqual([
      400,
      { country: ['This field must be unique.'] },
    ]);
    expect(seen(await client.patch(`/rest/v1/geo/anthem/${id}/`, { country: b }))).toEqual([
      200,
      { id, country: b },
    ]);
    expect(seen(await client.patch(`/rest/v1/geo/anthem/${id}/`, { country: null }))).toEqual([
      200,
      { id, country: null },
    ]);
    expect((await client.get(`/rest/v1/geo/country/${b}/`)).json).toMatchObject({ anthem: null });
  });
});

// A tree by a relation of a model to itself.
@Restify('tree')
@Entity()
class Folder {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @ManyToOne(() => Folder, (folder) => folder.children, { onDelete: 'RESTRICT' })
  parent: Relation<Folder> | null;

  @OneToMany(() => Folder, (folder) => folder.parent)
  children: Relation<Folder[]>;

  @OneToOne(() => Folder, (folder) => folder.previous)
  @JoinColumn()
  next: Relation<Folder> | null;

  @OneToOne(() => Folder, (folder) => folder.next)
  previous: Relation<Folder>;
}

onEachDatabase('a relation of a model to itself', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Folder], database });
  });
  afterAll(() => started.close());

  test('many-to-one: has its children below each, and only the next level', async () => {
    const { client } = started;
    const root = await created(client, 'tree/folder');
    const child = await created(client, 'tree/folder', { parent: root });
    const grandchild = await created(client, 'tree/folder', { parent: child });
    const shown = (id: number, parent: number | null): object => ({
      id,
      name: '',
      parent,
      children: `/rest/v1/tree/folder/${id}/children/`,
      next: null,
      previous: null,
    });
    expect(seen(await client.get(`/rest/v1/tree/folder/${root}/`))).toEqual([200, shown(root, null)]);
    expect(seen(await client.get(`/rest/v1/tree/folder/${root}/children/`))).toEqual([
      200,
      [shown(child, root)],
    ]);
    expect(seen(await client.get(`/rest/v1/tree/folder/${child}/children/`))).toEqual([
      200,
      [shown(grandchild, child)],
    ]);
    expect(seen(await client.get(`/rest/v1/tree/folder/${grandchild}/children/`))).toEqual([200, []]);
    expect(seen(await client.get(`/rest/v1/tree/folder/${root}/children/?parent=${child}`))).toEqual([
      200,
      [],
    ]);
    expect(seen(await client.get(`/rest/v1/tree/folder/?parent=${child}`))).toEqual([
      200,
      [shown(grandchild, child)],
    ]);
    expect(seen(await client.delete(`/rest/v1/tree/folder/${root}/`))).toEqual([
      409,
      { detail: expect.stringContaining('tree.folder') },
    ]);
    expect(seen(await client.patch(`/rest/v1/tree/folder/${child}/`, { parent: null }))).toEqual([
      200,
      shown(child, null),
    ]);
    expect(seen(await client.patch(`/rest/v1/tree/folder/${root}/`, { parent: root }))).toEqual([
      200,
      shown(root, root),
    ]);
    expect(seen(await client.get(`/rest/v1/tree/folder/${root}/children/`))).toEqual([
      200,
      [shown(root, root)],
    ]);
  });

  test('one-to-one: shows either direction', async () => {
    const { client } = started;
    const first = await created(client, 'tree/folder');
    const second = await created(client, 'tree/folder');
    expect((await client.patch(`/rest/v1/tree/folder/${first}/`, { next: second })).json).toMatchObject({
      id: first,
      next: second,
      previous: null,
    });
    expect((await client.get(`/rest/v1/tree/folder/${second}/`)).json).toMatchObject({
      next: null,
      previous: first,
    });
    expect((await client.patch(`/rest/v1/tree/folder/${second}/`, { previous: null })).json).toMatchObject({
      previous: first,
    });
  });
});

// Lazy and eager relations, with cascades.
@Restify('load')
@Entity()
class Owner {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @OneToMany(() => Pet, (pet) => pet.owner, { cascade: true })
  pets: Promise<Pet[]>;

  @OneToMany(() => Toy, (toy) => toy.owner, { cascade: true, eager: true, orphanedRowAction: 'delete' })
  toys: Relation<Toy[]>;

  @ManyToMany(() => Toy, (toy) => toy.fans, { cascade: true, lazy: true })
  @JoinTable()
  favourites: Promise<Toy[]>;

  @ManyToMany(() => Pet, { cascade: true, eager: true })
  @JoinTable()
  friends: Relation<Pet[]>;
}

@Restify('load')
@Entity()
class Pet {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @ManyToOne(() => Owner, (owner) => owner.pets, { nullable: false, cascade: ['insert', 'update'] })
  owner: Promise<Owner>;

  @ManyToOne(() => Owner, { lazy: true })
  sitter: Promise<Owner | null>;

  @OneToOne(() => Toy, (toy) => toy.pet, { lazy: true })
  @JoinColumn()
  toy: Promise<Toy | null>;
}

@Restify('load')
@Entity()
class Toy {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @ManyToOne(() => Owner, (owner) => owner.toys)
  owner: Relation<Owner> | null;

  @OneToOne(() => Pet, (pet) => pet.toy, { lazy: true })
  pet: Promise<Pet | null>;

  @ManyToMany(() => Owner, (owner) => owner.favourites)
  fans: Promise<Owner[]>;
}

@Restify('load')
@Entity()
class Visit {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @ManyToOne(() => Pet, { eager: true, cascade: ['insert', 'update'], nullable: false })
  pet: Relation<Pet>;
}

onEachDatabase('lazy and eager relations', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Owner, Pet, Toy, Visit], database });
  });
  afterAll(() => started.close());

  test('are written, shown and listed as any other', async () => {
    const { client } = started;
    const [o1, o2] = [await created(client, 'load/owner'), await created(client, 'load/owner')];
    const toy = await created(client, 'load/toy', { owner: o1 });
    const pet = await client.post('/rest/v1/load/pet/', { owner: o1, sitter: o2, toy });
    const id = idOf(pet);
    expect(seen(pet)).toEqual([201, { id, name: '', owner: o1, sitter: o2, toy }]);
    expect(seen(await client.patch(`/rest/v1/load/pet/${id}/`, { name: 'Rex' }))).toEqual([
      200,
      { id, name: 'Rex', owner: o1, sitter: o2, toy },
    ]);
    expect(seen(await client.patch(`/rest/v1/load/pet/${id}/`, { sitter: null, owner: o2 }))).toEqual([
      200,
      { id, name: 'Rex', owner: o2, sitter: null, toy },
    ]);
    expect(seen(await client.put(`/rest/v1/load/pet/${id}/`, { owner: o1 }))).toEqual([
      200,
      { id, name: 'Rex', owner: o1, sitter: null, toy },
    ]);
    expect(seen(await client.post('/rest/v1/load/pet/', {}))).toEqual([400, { owner: REQUIRED }]);
    expect(seen(await client.get(`/rest/v1/load/toy/${toy}/`))).toEqual([
      200,
      { id: toy, name: '', owner: o1, pet: id, fans: `/rest/v1/load/toy/${toy}/fans/` },
    ]);
    expect(seen(await client.get(`/rest/v1/load/owner/${o1}/pets/`))).toEqual([
      200,
      [{ id, name: 'Rex', owner: o1, sitter: null, toy }],
    ]);
    const visit = await client.post('/rest/v1/load/visit/', { pet: id });
    expect(seen(visit)).toEqual([201, { id: idOf(visit), name: '', pet: id }]);
    expect(seen(await client.patch(`/rest/v1/load/visit/${idOf(visit)}/`, { name: 'x' }))).toEqual([
      200,
      { id: idOf(visit), name: 'x', pet: id },
    ]);
    const other = await created(client, 'load/pet', { owner: o1 });
    expect(seen(await client.patch(`/rest/v1/load/visit/${idOf(visit)}/`, { pet: other }))).toEqual([
      200,
      { id: idOf(visit), name: 'x', pet: other },
    ]);
    expect(seen(await client.delete(`/rest/v1/load/visit/${idOf(visit)}/`))).toEqual(DELETED);
    expect((await client.get(`/rest/v1/load/pet/${other}/`)).status).toBe(200);
  });

  test('many-to-many have through objects, and keep them when their owner is changed', async () => {
    const { client } = started;
    const owner = await created(client, 'load/owner');
    const toy = await created(client, 'load/toy', { owner });
    const pet = await created(client, 'load/pet', { owner });
    const url = `/rest/v1/load/owner/${owner}`;
    expect(seen(await client.post(`${url}/favourites/`, { toy }))).toEqual([201, { id: toy, owner, toy }]);
    expect(seen(await client.post(`${url}/friends/`, { pet }))).toEqual([201, { id: pet, owner, pet }]);
    expect((await client.patch(`${url}/`, { name: 'n' })).status).toBe(200);
    expect((await client.put(`${url}/`, { name: 'm' })).json).toEqual({
      id: owner,
      name: 'm',
      pets: `${url}/pets/`,
      toys: `${url}/toys/`,
      favourites: `${url}/favourites/`,
      friends: `${url}/friends/`,
    });
    expect(seen(await client.get(`${url}/favourites/`))).toEqual([200, [{ id: toy, owner, toy }]]);
    expect(seen(await client.get(`/rest/v1/load/toy/${toy}/fans/`))).toEqual([
      200,
      [{ id: owner, owner, toy }],
    ]);
    expect(seen(await client.get(`${url}/friends/`))).toEqual([200, [{ id: pet, owner, pet }]]);
    expect((await client.get(`${url}/toys/`)).json).toMatchObject([{ id: toy }]);
    expect((await client.get(`${url}/pets/`)).json).toMatchObject([{ id: pet }]);
  });

  test('with cascades write no nested object of a body, and remove none', async () => {
    const { client } = started;
    const counts = async (): Promise<unknown> =>
      Promise.all(
        ['owner', 'pet', 'toy', 'visit'].map(
          async (model) => ((await client.get(`/rest/v1/load/${model}/`)).json as unknown[]).length,
        ),
      );
    const owner = await created(client, 'load/owner', { name: 'kept' });
    const toy = await created(client, 'load/toy', { owner });
    const pet = await created(client, 'load/pet', { owner, toy });
    await client.post(`/rest/v1/load/owner/${owner}/favourites/`, { toy });
    const before = await counts();
    const url = `/rest/v1/load/owner/${owner}/`;
    for (const nested of [[], [{ name: 'new' }], [{ id: toy, name: 'renamed' }], null, {}]) {
      const body = {
        pets: nested,
        toys: nested,
        favourites: nested,
        friends: nested,
        __pets__: nested,
        __favourites__: nested,
      };
      expect((await client.patch(url, body)).status).toBe(200);
      expect((await client.put(url, body)).status).toBe(200);
    }
    expect(await counts()).toEqual(before);
    expect((await client.get(`/rest/v1/load/toy/${toy}/`)).json).toMatchObject({ name: '', owner });
    expect((await client.get(`/rest/v1/load/owner/${owner}/toys/`)).json).toMatchObject([{ id: toy }]);
    expect((await client.get(`/rest/v1/load/owner/${owner}/favourites/`)).json).toEqual([
      { id: toy, owner, toy },
    ]);
    const dict = { owner: ['Incorrect type. Expected pk value, received dict.'] };
    for (const nested of [{ name: 'new' }, { id: owner, name: 'renamed' }]) {
      expect(seen(await client.post('/rest/v1/load/pet/', { owner: nested }))).toEqual([400, dict]);
      expect(seen(await client.patch(`/rest/v1/load/pet/${pet}/`, { owner: nested }))).toEqual([400, dict]);
      expect(seen(await client.put(`/rest/v1/load/pet/${pet}/`, { owner: nested }))).toEqual([400, dict]);
    }
    expect(await counts()).toEqual(before);
    const made = await client.post('/rest/v1/load/owner/', {
      pets: [{ name: 'new' }],
      toys: [{ name: 'new' }],
      favourites: [{ name: 'new' }],
      friends: [{ id: pet }],
    });
    expect(made.status).toBe(201);
    for (const name of ['pets', 'toys', 'favourites', 'friends'])
      expect(seen(await client.get(`/rest/v1/load/owner/${idOf(made)}/${name}/`))).toEqual([200, []]);
    expect((await client.get(`/rest/v1/load/owner/${owner}/`)).json).toMatchObject({ name: 'kept' });
  });
});

// What a deletion does to others.
@Restify('del')
@Entity()
class Invoice {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToMany(() => InvoiceLine, (line) => line.invoice)
  lines: Relation<InvoiceLine[]>;

  @OneToMany(() => Payment, (payment) => payment.invoice)
  payments: Relation<Payment[]>;

  @OneToMany(() => Complaining, (each) => each.invoice)
  complaints: Relation<Complaining[]>;

  @ManyToMany(() => Stamp)
  @JoinTable({ name: 'del_stamps' })
  stamps: Relation<Stamp[]>;
}

@Restify('del')
@Entity()
class InvoiceLine {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Invoice, (invoice) => invoice.lines, { nullable: false, onDelete: 'CASCADE' })
  invoice: Relation<Invoice>;
}

@Restify('del')
@Entity()
class Payment {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Invoice, (invoice) => invoice.payments, { onDelete: 'SET NULL' })
  invoice: Relation<Invoice> | null;
}

@Restify('del')
@Entity()
class Complaining {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Invoice, (invoice) => invoice.complaints, { onDelete: 'RESTRICT' })
  invoice: Relation<Invoice> | null;
}

@Restify('del')
@Entity()
class Stamp {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify('del')
@Entity()
class Envelope {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Stamp, { cascade: true })
  stamp: Relation<Stamp>;

  @ManyToMany(() => Stamp)
  @JoinTable({
    name: 'del_franking',
    joinColumn: { name: 'envelope_id' },
    inverseJoinColumn: { name: 'stamp_id' },
    synchronize: false,
  })
  frankings: Relation<Stamp[]>;
}

@Entity('del_franking')
class Franking {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Envelope, { cascade: true, nullable: false })
  @JoinColumn({ name: 'envelope_id' })
  envelope: Relation<Envelope>;

  @ManyToOne(() => Stamp, { cascade: true, nullable: false })
  @JoinColumn({ name: 'stamp_id' })
  stamp: Relation<Stamp>;
}

@Entity()
class HiddenReferrer {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Stamp)
  stamp: Relation<Stamp>;
}

onEachDatabase('a deletion', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Invoice, InvoiceLine, Payment, Complaining, Stamp, Envelope, Franking, HiddenReferrer],
      database,
    });
  });
  afterAll(() => started.close());

  test('takes along, unmaps, or is refused with the model that still refers to the object', async () => {
    const { client, dataSource } = started;
    const invoice = await created(client, 'del/invoice');
    const line = await created(client, 'del/invoiceline', { invoice });
    const payment = await created(client, 'del/payment', { invoice });
    const complaint = await created(client, 'del/complaining', { invoice });
    const stamp = await created(client, 'del/stamp');
    await client.post(`/rest/v1/del/invoice/${invoice}/stamps/`, { stamp });
    const refused = await client.delete(`/rest/v1/del/invoice/${invoice}/`);
    expect(seen(refused)).toEqual([409, { detail: expect.stringContaining('del.complaining') }]);
    for (const path of [`invoice/${invoice}`, `invoiceline/${line}`, `complaining/${complaint}`])
      expect((await client.get(`/rest/v1/del/${path}/`)).status).toBe(200);
    expect(seen(await client.get(`/rest/v1/del/payment/${payment}/`))).toEqual([
      200,
      { id: payment, invoice },
    ]);
    expect(seen(await client.get(`/rest/v1/del/invoice/${invoice}/stamps/`))).toEqual([
      200,
      [{ id: stamp, invoice, stamp }],
    ]);
    await client.patch(`/rest/v1/del/complaining/${complaint}/`, { invoice: null });
    expect(seen(await client.delete(`/rest/v1/del/invoice/${invoice}/`))).toEqual(DELETED);
    expect(seen(await client.get(`/rest/v1/del/invoiceline/${line}/`))).toEqual(NOT_FOUND);
    expect(seen(await client.get(`/rest/v1/del/payment/${payment}/`))).toEqual([
      200,
      { id: payment, invoice: null },
    ]);
    expect(seen(await client.get(`/rest/v1/del/stamp/${stamp}/`))).toEqual([200, { id: stamp }]);
    expect(seen(await client.get(`/rest/v1/del/invoice/${invoice}/lines/`))).toEqual(NOT_FOUND);
    await dataSource.getRepository(HiddenReferrer).save({ stamp: { id: stamp } });
    const hidden = await client.delete(`/rest/v1/del/stamp/${stamp}/`);
    expect(seen(hidden)).toEqual([409, { detail: expect.stringMatching(/\S/) }]);
    expect((await client.get(`/rest/v1/del/stamp/${stamp}/`)).status).toBe(200);
  });

  test('S7 of an object with cascading relations takes along nothing that it refers to', async () => {
    const { client } = started;
    const stamp = await created(client, 'del/stamp');
    const envelope = await created(client, 'del/envelope', { stamp });
    expect(seen(await client.delete(`/rest/v1/del/envelope/${envelope}/`))).toEqual(DELETED);
    expect(seen(await client.get(`/rest/v1/del/stamp/${stamp}/`))).toEqual([200, { id: stamp }]);
  });

  test('S7 of a through object with cascading relations leaves both of its sides', async () => {
    const { client } = started;
    const stamp = await created(client, 'del/stamp');
    const envelope = await created(client, 'del/envelope');
    const url = `/rest/v1/del/envelope/${envelope}/frankings/`;
    const franking = await client.post(url, { stamp });
    expect(seen(franking)).toEqual([201, { id: idOf(franking), envelope, stamp }]);
    expect(seen(await client.delete(`${url}${idOf(franking)}/`))).toEqual(DELETED);
    expect(seen(await client.get(url))).toEqual([200, []]);
    expect(seen(await client.get(`/rest/v1/del/stamp/${stamp}/`))).toEqual([200, { id: stamp }]);
  });
});

// Soft deletion of parents, children, targets and through objects.
@Restify('soft')
@Entity()
class Team {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @DeleteDateColumn()
  deleted_at: Date | null;

  @OneToMany(() => Player, (player) => player.team)
  players: Relation<Player[]>;

  @ManyToMany(() => Cup, (cup) => cup.teams)
  @JoinTable({
    name: 'soft_entry',
    joinColumn: { name: 'team_id' },
    inverseJoinColumn: { name: 'cup_id' },
    synchronize: false,
  })
  cups: Relation<Cup[]>;

  @ManyToMany(() => Cup, (cup) => cup.winners)
  @JoinTable()
  wins: Relation<Cup[]>;

  @OneToOne(() => Coach, (coach) => coach.team)
  coach: Relation<Coach>;
}

@Restify('soft')
@Entity()
class Player {
  @PrimaryGeneratedColumn()
  id: number;

  @DeleteDateColumn({ select: false })
  deleted_at: Date | null;

  @ManyToOne(() => Team, (team) => team.players)
  team: Relation<Team> | null;
}

@Restify('soft')
@Entity()
class Coach {
  @PrimaryGeneratedColumn()
  id: number;

  @DeleteDateColumn()
  deleted_at: Date | null;

  @OneToOne(() => Team, (team) => team.coach)
  @JoinColumn()
  team: Relation<Team> | null;
}

@Restify('soft')
@Entity()
class Cup {
  @PrimaryGeneratedColumn()
  id: number;

  @DeleteDateColumn()
  deleted_at: Date | null;

  @ManyToMany(() => Team, (team) => team.cups)
  teams: Relation<Team[]>;

  @ManyToMany(() => Team, (team) => team.wins)
  winners: Relation<Team[]>;
}

@Entity('soft_entry')
class CupEntry {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ name: 'team_id' })
  team: number;

  @Column({ name: 'cup_id' })
  cup: number;

  @DeleteDateColumn()
  deleted_at: Date | null;
}

onEachDatabase('a soft-deleted row', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Team, Player, Coach, Cup, CupEntry], database });
  });
  afterAll(() => started.close());

  test('S16 is absent as an object, in lists and below its parent, and stays in its table', async () => {
    const { client, dataSource } = started;
    const team = await created(client, 'soft/team');
    const [gone, here] = [
      await created(client, 'soft/player', { team }),
      await created(client, 'soft/player', { team }),
    ];
    expect(seen(await client.delete(`/rest/v1/soft/player/${gone}/`))).toEqual(DELETED);
    const stored = await dataSource
      .getRepository(Player)
      .createQueryBuilder('p')
      .withDeleted()
      .addSelect('p.deleted_at')
      .where('p.id = :gone', { gone })
      .getOneOrFail();
    expect(stored.deleted_at).toBeInstanceOf(Date);
    expect(seen(await client.get(`/rest/v1/soft/team/${team}/players/`))).toEqual([
      200,
      [{ id: here, team }],
    ]);
    expect((await client.get('/rest/v1/soft/player/')).json).not.toContainEqual(
      expect.objectContaining({ id: gone }),
    );
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { team: null }],
      ['PUT', { team: null }],
      ['DELETE', undefined],
    ] as const) {
      expect(seen(await client.send(method, `/rest/v1/soft/player/${gone}/`, { body }))).toEqual(NOT_FOUND);
    }
  });

  test('S16 as a parent has no nested URL and takes none, and no key may name it', async () => {
    const { client, dataSource } = started;
    const [team, other] = [await created(client, 'soft/team'), await created(client, 'soft/team')];
    const player = await created(client, 'soft/player', { team });
    const cup = await created(client, 'soft/cup');
    const entry = await created(client, `soft/team/${team}/cups`, { cup });
    await client.post(`/rest/v1/soft/team/${team}/wins/`, { cup });
    expect(seen(await client.delete(`/rest/v1/soft/team/${team}/`))).toEqual(DELETED);
    for (const path of ['players/', 'cups/', `cups/${entry}/`, 'wins/', `wins/${cup}/`])
      expect([path, ...seen(await client.get(`/rest/v1/soft/team/${team}/${path}`))]).toEqual([
        path,
        ...NOT_FOUND,
      ]);
    for (const path of ['cups/', 'wins/'])
      expect(seen(await client.post(`/rest/v1/soft/team/${team}/${path}`, { cup }))).toEqual(NOT_FOUND);
    expect(seen(await client.delete(`/rest/v1/soft/team/${team}/wins/${cup}/`))).toEqual(NOT_FOUND);
    expect(seen(await client.delete(`/rest/v1/soft/team/${team}/cups/${entry}/`))).toEqual(NOT_FOUND);
    const missing = { team: noSuchPk(String(team)) };
    expect(seen(await client.post('/rest/v1/soft/player/', { team }))).toEqual([400, missing]);
    expect(seen(await client.patch(`/rest/v1/soft/player/${player}/`, { team }))).toEqual([400, missing]);
    for (const path of [`cup/${cup}/teams/`, `cup/${cup}/winners/`])
      expect(seen(await client.post(`/rest/v1/soft/${path}`, { team }))).toEqual([400, missing]);
    const moved = await client.post(`/rest/v1/soft/team/${other}/wins/`, { cup });
    expect(moved.status).toBe(201);
    expect(seen(await client.patch(`/rest/v1/soft/cup/${cup}/winners/${other}/`, { team }))).toEqual([
      400,
      missing,
    ]);
    expect((await dataSource.getRepository(CupEntry).find({ where: { team } })).map(({ id }) => id)).toEqual([
      entry,
    ]);
  });

  test('S16 is no value of a reverse one-to-one', async () => {
    const { client } = started;
    const team = await created(client, 'soft/team');
    const coach = await created(client, 'soft/coach', { team });
    expect((await client.get(`/rest/v1/soft/team/${team}/`)).json).toMatchObject({ coach });
    await client.delete(`/rest/v1/soft/coach/${coach}/`);
    expect((await client.get(`/rest/v1/soft/team/${team}/`)).json).toMatchObject({ coach: null });
  });

  test('S16 that is a through object is absent from both sides, and its deletion is soft', async () => {
    const { client, dataSource } = started;
    const [team, cup] = [await created(client, 'soft/team'), await created(client, 'soft/cup')];
    const entry = await created(client, `soft/team/${team}/cups`, { cup });
    expect(seen(await client.delete(`/rest/v1/soft/cup/${cup}/teams/${entry}/`))).toEqual(DELETED);
    for (const url of [`team/${team}/cups/`, `cup/${cup}/teams/`]) {
      expect(seen(await client.get(`/rest/v1/soft/${url}`))).toEqual([200, []]);
      for (const method of ['GET', 'PATCH', 'DELETE'])
        expect([url, method, ...seen(await client.send(method, `/rest/v1/soft/${url}${entry}/`))]).toEqual([
          url,
          method,
          ...NOT_FOUND,
        ]);
    }
    const kept = await dataSource
      .getRepository(CupEntry)
      .findOneOrFail({ where: { id: entry }, withDeleted: true });
    expect([kept.team, kept.cup, kept.deleted_at instanceof Date]).toEqual([team, cup, true]);
  });

  test('S16 is in no pair of its other side, and is again when it is restored', async () => {
    const { client, dataSource } = started;
    const [team, cup, other] = [
      await created(client, 'soft/team'),
      await created(client, 'soft/cup'),
      await created(client, 'soft/cup'),
    ];
    for (const each of [cup, other]) await client.post(`/rest/v1/soft/team/${team}/wins/`, { cup: each });
    await client.delete(`/rest/v1/soft/cup/${cup}/`);
    const wins = `/rest/v1/soft/team/${team}/wins/`;
    expect((await client.get(wins)).json).toMatchObject([{ id: other, cup: other }]);
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect([method, ...seen(await client.send(method, `${wins}${cup}/`))]).toEqual([method, ...NOT_FOUND]);
    expect(seen(await client.post(wins, { cup }))).toEqual([400, { cup: noSuchPk(String(cup)) }]);
    await dataSource.getRepository(Cup).restore(cup);
    expect((await client.get(wins)).json).toHaveLength(2);
    expect((await client.delete(`${wins}${cup}/`)).status).toBe(204);
  });

  test('S10 comes back by no body', async () => {
    const { client } = started;
    const team = await client.post('/rest/v1/soft/team/', { deleted_at: '2020-01-01T00:00:00Z' });
    expect([team.status, team.json]).toMatchObject([201, { deleted_at: null }]);
    expect(
      (await client.patch(`/rest/v1/soft/team/${idOf(team)}/`, { deleted_at: '2020-01-01T00:00:00Z' })).json,
    ).toMatchObject({ deleted_at: null });
    expect((await client.get(`/rest/v1/soft/team/${idOf(team)}/`)).status).toBe(200);
  });
});

// A one-to-one whose foreign key is the key.
@Restify('one')
@Entity()
class Account {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToOne(() => AccountProfile, (profile) => profile.account)
  profile: Relation<AccountProfile>;

  @OneToOne(() => Badge, (badge) => badge.account)
  badge: Relation<Badge>;
}

@Restify('one')
@Entity()
class AccountProfile {
  @PrimaryColumn()
  account_id: number;

  @Column({ length: 20, default: '' })
  text: string;

  @OneToOne(() => Account, (account) => account.profile, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'account_id' })
  account: Relation<Account>;
}

@Restify('one')
@Entity()
class Badge {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToOne(() => Account, (account) => account.badge, { nullable: false })
  @JoinColumn()
  account: Relation<Account>;
}

onEachDatabase('a one-to-one', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Account, AccountProfile, Badge], database });
  });
  afterAll(() => started.close());

  test('is read-only on the side without the column, and its second row is an error of the field', async () => {
    const { client } = started;
    const [a1, a2] = [
      await created(client, 'one/account'),
      await created(client, 'one/account', { badge: 999, profile: 5 }),
    ];
    const badge = await created(client, 'one/badge', { account: a1 });
    expect(seen(await client.get(`/rest/v1/one/account/${a1}/`))).toEqual([
      200,
      { id: a1, profile: null, badge },
    ]);
    expect(seen(await client.patch(`/rest/v1/one/account/${a2}/`, { badge }))).toEqual([
      200,
      { id: a2, profile: null, badge: null },
    ]);
    expect(seen(await client.post('/rest/v1/one/badge/', { account: a1 }))).toEqual([
      400,
      { account: ['This field must be unique.'] },
    ]);
    expect(seen(await client.patch(`/rest/v1/one/badge/${badge}/`, { account: null }))).toEqual([
      400,
      { account: NO_NULL },
    ]);
    expect(seen(await client.patch(`/rest/v1/one/badge/${badge}/`, { account: a2 }))).toEqual([
      200,
      { id: badge, account: a2 },
    ]);
    expect(seen(await client.get(`/rest/v1/one/account/${a1}/badge/`))).toEqual(NOT_FOUND);
  });

  test('may have its foreign key as its key', async () => {
    const { client, port } = started;
    const [a1, a2] = [await created(client, 'one/account'), await created(client, 'one/account')];
    const profile = await client.post('/rest/v1/one/accountprofile/', { account: a1, text: 'x' });
    expect([seen(profile), profile.headers.location]).toEqual([
      [201, { account_id: a1, text: 'x', account: a1 }],
      `http://127.0.0.1:${port}/rest/v1/one/accountprofile/${a1}/`,
    ]);
    expect((await client.get(`/rest/v1/one/account/${a1}/`)).json).toMatchObject({ profile: a1 });
    expect((await client.post('/rest/v1/one/accountprofile/', { account: a1 })).status).toBe(400);
    expect(
      seen(
        await client.patch(`/rest/v1/one/accountprofile/${a1}/`, { text: 'y', account: a2, account_id: a2 }),
      ),
    ).toEqual([200, { account_id: a1, text: 'y', account: a1 }]);
    expect(seen(await client.delete(`/rest/v1/one/account/${a1}/`))).toEqual(DELETED);
    expect(seen(await client.get(`/rest/v1/one/accountprofile/${a1}/`))).toEqual(NOT_FOUND);
  });
});
