// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { restify, RestifyModule, RestifyResources } from 'nestjs-restify';
import { EntitySchema } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { problemsOf } from '../boot/refused-start.js';
import { DELETED, isRefusedPair, NOT_FOUND, REQUIRED, seen } from './nested-answers.js';

const ID = { type: Number, primary: true, generated: true } as const;

class EsPerson {
  id: number;
  name: string;
  address: { street: string; zip: string | null };
  pets: EsAnimal[];
  skills: object[];
}

/** Single-table inheritance: classes without decorators, each mapped by a schema under another name. */
class EsAnimal {
  id: number;
  type: string;
  name: string;
  owner: EsPerson | null;
}

class EsDog extends EsAnimal {
  /** Of both children. */
  size: number;
  trick: string;
  tag: { text: string; note: string | null };
  friend: EsDog | null;
}

class EsCat extends EsAnimal {
  size: number;
  lives: number | null;
}

const Address = new EntitySchema<EsPerson['address']>({
  name: 'EsAddress',
  columns: { street: { type: String, length: 20 }, zip: { type: String, length: 10, nullable: true } },
});

const Tag = new EntitySchema<EsDog['tag']>({
  name: 'EsTag',
  columns: { text: { type: String, length: 10 }, note: { type: String, length: 10, nullable: true } },
});

const Person = new EntitySchema<EsPerson>({
  name: 'people',
  target: EsPerson,
  tableName: 'es_person',
  columns: { id: ID, name: { type: String, length: 20, unique: true } },
  embeddeds: { address: { schema: Address } },
  relations: {
    pets: { type: 'one-to-many', target: () => EsAnimal, inverseSide: 'owner' },
    skills: {
      type: 'many-to-many',
      target: 'EsSkill',
      joinTable: {
        name: 'es_knows',
        joinColumn: { name: 'who' },
        inverseJoinColumn: { name: 'what' },
      },
    },
  },
});

const Skill = new EntitySchema<{ code: string }>({
  name: 'EsSkill',
  tableName: 'es_skill',
  columns: { code: { type: String, length: 10, primary: true } },
});

/** On the join table, with a column of its own. */
const Knows = new EntitySchema<{ person: number; skill: string; level: number }>({
  name: 'EsKnows',
  tableName: 'es_knows',
  columns: {
    person: { name: 'who', type: Number, primary: true },
    skill: { name: 'what', type: String, length: 10, primary: true },
    level: { type: Number, default: 1 },
  },
});

const Animal = new EntitySchema<EsAnimal>({
  name: 'animals',
  target: EsAnimal,
  tableName: 'es_animal',
  inheritance: { pattern: 'STI', column: { name: 'type', type: String, length: 20 } },
  columns: { id: ID, type: { type: String, length: 20 }, name: { type: String, length: 20 } },
  relations: {
    owner: { type: 'many-to-one', target: () => EsPerson, inverseSide: 'pets', nullable: true },
  },
});

const Dog = new EntitySchema<EsDog>({
  name: 'dogs',
  target: EsDog,
  type: 'entity-child',
  discriminatorValue: 'custom-a',
  columns: {
    id: ID,
    type: { type: String, length: 20 },
    name: { type: String, length: 20 },
    size: { type: Number },
    trick: { type: String, length: 20 },
  },
  embeddeds: { tag: { schema: Tag } },
  relations: { friend: { type: 'many-to-one', target: () => EsDog, nullable: true } },
});

const Cat = new EntitySchema<EsCat>({
  name: 'cats',
  target: EsCat,
  type: 'entity-child',
  discriminatorValue: 'custom-b',
  columns: {
    id: ID,
    type: { type: String, length: 20 },
    name: { type: String, length: 20 },
    size: { type: Number },
    lives: { type: Number, nullable: true },
  },
});

const Named = new EntitySchema<{ id: number; name: string }>({
  name: 'EsNamed',
  tableName: 'es_named',
  type: 'view',
  expression: (dataSource) =>
    dataSource.createQueryBuilder().select('p.id', 'id').addSelect('p.name', 'name').from('es_person', 'p'),
  columns: { id: { type: Number, primary: true }, name: { type: String, length: 20 } },
});

restify(Person, 'es');
restify(Skill, { app: 'es', filterFields: ['code'] });
restify(Animal);
restify(EsDog, { app: 'es', filterFields: ['trick', 'size', 'owner'] });
restify(EsCat, 'es');
restify(Named, 'es');

onEachDatabase('entities of an EntitySchema', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({
      entities: [Person, Skill, Knows, Animal, Dog, Cat, Named],
      database,
      imports: [RestifyModule.forFeature('es', [EsAnimal])],
    });
    client = started.client;
  });
  afterAll(() => started.close());

  test('are named after their classes, declared by schema or by class', async () => {
    expect(Object.keys((await client.get('/')).json as object).sort()).toEqual([
      'rest/v1/es/esanimal',
      'rest/v1/es/escat',
      'rest/v1/es/esdog',
      'rest/v1/es/esnamed',
      'rest/v1/es/esperson',
      'rest/v1/es/esskill',
    ]);
  });

  test('are found by schema and by class', () => {
    const resources = started.app.get(RestifyResources);
    expect(resources.of(Person).resource).toBe(resources.of(EsPerson).resource);
    expect(resources.of(Dog).resource).toBe(resources.of(EsDog).resource);
  });

  test('have embedded objects, relations, views and a through model', async () => {
    const url = '/rest/v1/es/esperson/';
    expect(seen(await client.post(url, { address: {} }))).toEqual([
      400,
      { name: REQUIRED, address: { street: REQUIRED } },
    ]);
    const ada = {
      id: 1,
      name: 'Ada',
      address: { street: 'High', zip: null },
      pets: '/rest/v1/es/esperson/1/pets/',
      skills: '/rest/v1/es/esperson/1/skills/',
    };
    expect(seen(await client.post(url, { name: 'Ada', address: { street: 'High' } }))).toEqual([201, ada]);
    expect(seen(await client.get('/rest/v1/es/esnamed/1/'))).toEqual([200, { id: 1, name: 'Ada' }]);
    expect((await client.post('/rest/v1/es/esnamed/', {})).status).toBe(405);
    await client.post('/rest/v1/es/esskill/', { code: 'sql' });
    const skills = `${url}1/skills/`;
    expect(seen(await client.post(skills, { skill: 'sql', level: 3 }))).toEqual([
      201,
      { id: 'sql', person: 1, skill: 'sql', level: 3 },
    ]);
    expect(isRefusedPair(await client.post(skills, { skill: 'sql' }))).toBe(true);
    expect(seen(await client.patch(`${skills}sql/`, { level: 4 }))).toEqual([
      200,
      { id: 'sql', person: 1, skill: 'sql', level: 4 },
    ]);
    expect(seen(await client.delete(`${skills}sql/`))).toEqual(DELETED);
  });

  test('share a table by single-table inheritance, each with its own fields', async () => {
    const dogs = '/rest/v1/es/esdog/';
    const owner = { name: 'Bob', address: { street: 'Low' } };
    const { id: bob } = (await client.post('/rest/v1/es/esperson/', owner)).json as EsPerson;
    expect(seen(await client.post(dogs, { tag: {} }))).toEqual([
      400,
      { name: REQUIRED, size: REQUIRED, trick: REQUIRED, tag: { text: REQUIRED } },
    ]);
    const made = await client.post(dogs, {
      name: 'Rex',
      size: 3,
      trick: 'roll',
      owner: bob,
      tag: { text: 'R' },
    });
    const rex = made.json as EsDog;
    expect(seen(made)).toEqual([
      201,
      {
        id: rex.id,
        type: 'custom-a',
        name: 'Rex',
        size: 3,
        trick: 'roll',
        tag: { text: 'R', note: null },
        owner: bob,
        friend: null,
      },
    ]);
    const cat = await client.post('/rest/v1/es/escat/', { name: 'Tom', size: 1 });
    const { id: tom } = cat.json as EsCat;
    expect(seen(cat)).toEqual([
      201,
      { id: tom, type: 'custom-b', name: 'Tom', size: 1, lives: null, owner: null },
    ]);
    expect(seen(await client.get(`${dogs}${tom}/`))).toEqual(NOT_FOUND);
    expect(seen(await client.get(`${dogs}?trick=roll&owner=${bob}`))).toEqual([200, [rex]]);
    expect(seen(await client.patch(`${dogs}${rex.id}/`, { size: 4, friend: rex.id }))).toEqual([
      200,
      { ...rex, size: 4, friend: rex.id },
    ]);
    const animals = (await client.get('/rest/v1/es/esanimal/')).json;
    expect(animals).toEqual([
      { id: rex.id, type: 'custom-a', name: 'Rex', owner: bob },
      { id: tom, type: 'custom-b', name: 'Tom', owner: null },
    ]);
    expect(seen(await client.get(`/rest/v1/es/esperson/${bob}/pets/`))).toEqual([
      200,
      [{ id: rex.id, type: 'custom-a', name: 'Rex', owner: bob }],
    ]);
    expect((await client.patch(`/rest/v1/es/esanimal/${rex.id}/`, { name: 'Max' })).status).toBe(200);
    expect(((await client.get(`${dogs}${rex.id}/`)).json as EsDog).size).toBe(4);
    expect(seen(await client.delete(`/rest/v1/es/escat/${tom}/`))).toEqual(DELETED);
  });
});

test('errors of an EntitySchema name its class', async () => {
  class EsLost {
    id: number;
  }
  const Lost = new EntitySchema<EsLost>({ name: 'lost', target: EsLost, columns: { id: ID } });
  restify(Lost, { app: 'es', exclude: ['nothing' as 'id'] });
  expect(await problemsOf({ entities: [Lost] })).toEqual([
    'EsLost.exclude[0]: "nothing" is not a field of EsLost. Known here: "id".',
  ]);
});
