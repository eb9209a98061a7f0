// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { DELETED, idOf, isRefusedPair, NOT_FOUND, noSuchPk, REQUIRED, seen } from './nested-answers.js';

@Restify('geo')
@Entity()
class Language {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 8, unique: true })
  tag: string;

  /** Its own side by the tag, the other by the key. */
  @ManyToMany(() => Region, (region) => region.languages)
  @JoinTable({ name: 'spoken', joinColumn: { name: 'language_tag', referencedColumnName: 'tag' } })
  regions: Relation<Region[]>;

  /** Both sides by texts. */
  @ManyToMany(() => Alphabet, (alphabet) => alphabet.languages)
  @JoinTable({
    name: 'written',
    joinColumn: { name: 'language_tag', referencedColumnName: 'tag' },
    inverseJoinColumn: { name: 'alphabet_name', referencedColumnName: 'name' },
  })
  alphabets: Relation<Alphabet[]>;

  @ManyToMany(() => Language)
  @JoinTable({
    name: 'derived',
    joinColumn: { name: 'young', referencedColumnName: 'tag' },
    inverseJoinColumn: { name: 'old', referencedColumnName: 'tag' },
  })
  sources: Relation<Language[]>;
}

@Restify('geo')
@Entity()
class Region {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Language, (language) => language.regions)
  languages: Relation<Language[]>;
}

@Restify('geo')
@Entity()
class Alphabet {
  @PrimaryColumn()
  no: number;

  @PrimaryColumn({ length: 8 })
  edition: string;

  @Column({ length: 8, unique: true })
  name: string;

  @DeleteDateColumn({ select: false })
  gone: Date | null;

  @ManyToMany(() => Language, (language) => language.alphabets)
  languages: Relation<Language[]>;
}

onEachDatabase('a plain junction over columns that are no key', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  let de: number, en: number, sv: number;
  beforeAll(async () => {
    started = await startApp({ entities: [Language, Region, Alphabet], database });
    client = started.client;
    for (let index = 0; index < 3; index++) await client.post('/rest/v1/geo/region/', {});
    // Keys of the two models that are not alike.
    [de, en, sv] = [
      idOf(await client.post('/rest/v1/geo/language/', { tag: 'de' })),
      idOf(await client.post('/rest/v1/geo/language/', { tag: 'en' })),
      idOf(await client.post('/rest/v1/geo/language/', { tag: 'sv' })),
    ];
    await client.post('/rest/v1/geo/alphabet/', { no: 7, edition: 'a', name: 'latin' });
    await client.post('/rest/v1/geo/alphabet/', { no: 8, edition: 'b', name: 'runes' });
  });
  afterAll(() => started.close());

  test('has the related keys for its id and its sides, from both sides', async () => {
    const below = `/rest/v1/geo/language/${en}/regions/`;
    const above = '/rest/v1/geo/region/3/languages/';
    const made = await client.post(below, { region: 3 });
    expect([...seen(made), made.headers.location]).toEqual([
      201,
      { id: 3, language: en, region: 3 },
      `http://127.0.0.1:${started.port}${below}3/`,
    ]);
    const other = await client.post(above, { language: sv });
    expect([...seen(other), other.headers.location]).toEqual([
      201,
      { id: sv, language: sv, region: 3 },
      `http://127.0.0.1:${started.port}${above}${sv}/`,
    ]);
    expect(seen(await client.get(above))).toEqual([
      200,
      [
        { id: en, language: en, region: 3 },
        { id: sv, language: sv, region: 3 },
      ],
    ]);
    expect(seen(await client.get(`${above}?ordering=-id`))).toEqual([
      200,
      [
        { id: sv, language: sv, region: 3 },
        { id: en, language: en, region: 3 },
      ],
    ]);
    for (const query of [`id=${sv}`, `language=${sv}`])
      expect(seen(await client.get(`${above}?${query}`))).toEqual([
        200,
        [{ id: sv, language: sv, region: 3 }],
      ]);
    expect(seen(await client.get(`${above}?language=${de}`))).toEqual([200, []]);
    expect(seen(await client.get(`${above}${en}/`))).toEqual([200, { id: en, language: en, region: 3 }]);
    expect(seen(await client.get(`${above}${de}/`))).toEqual(NOT_FOUND);
    expect(seen(await client.get(`${above}en/`))).toEqual(NOT_FOUND);
    expect(seen(await client.get(`/rest/v1/geo/region/2/languages/${en}/`))).toEqual(NOT_FOUND);
    expect(isRefusedPair(await client.post(above, { language: en }))).toBe(true);
    expect(seen(await client.post(above, { language: 999 }))).toEqual([400, { language: noSuchPk('999') }]);
    expect(seen(await client.post(above, {}))).toEqual([400, { language: REQUIRED }]);
    expect(isRefusedPair(await client.patch(`${above}${en}/`, { language: sv }))).toBe(true);
    expect(seen(await client.patch(`${above}${en}/`, { language: de }))).toEqual([
      200,
      { id: de, language: de, region: 3 },
    ]);
    expect(seen(await client.get(`${above}${en}/`))).toEqual(NOT_FOUND);
    expect(seen(await client.put(`${above}${de}/`, { language: de }))).toEqual([
      200,
      { id: de, language: de, region: 3 },
    ]);
    expect(seen(await client.delete(`/rest/v1/geo/region/2/languages/${de}/`))).toEqual(NOT_FOUND);
    expect(seen(await client.delete(`${above}${de}/`))).toEqual(DELETED);
    expect(seen(await client.get(above))).toEqual([200, [{ id: sv, language: sv, region: 3 }]]);
  });

  test('has a composite related key, where the other side has one', async () => {
    const url = `/rest/v1/geo/language/${de}/alphabets/`;
    expect(seen(await client.post(url, { alphabet: '7,a' }))).toEqual([
      201,
      { id: '7,a', language: de, alphabet: '7,a' },
    ]);
    expect(seen(await client.post(url, { alphabet: '8,b' }))).toEqual([
      201,
      { id: '8,b', language: de, alphabet: '8,b' },
    ]);
    expect(seen(await client.get(`${url}8,b/`))).toEqual([200, { id: '8,b', language: de, alphabet: '8,b' }]);
    expect(seen(await client.get(`${url}?ordering=-alphabet`))).toEqual([
      200,
      [
        { id: '8,b', language: de, alphabet: '8,b' },
        { id: '7,a', language: de, alphabet: '7,a' },
      ],
    ]);
    expect(seen(await client.get('/rest/v1/geo/alphabet/8,b/languages/'))).toEqual([
      200,
      [{ id: de, language: de, alphabet: '8,b' }],
    ]);
    expect(seen(await client.delete(`${url}8,b/`))).toEqual(DELETED);
    expect(seen(await client.get('/rest/v1/geo/alphabet/8,b/languages/'))).toEqual([200, []]);
  });

  test('joins a model with itself', async () => {
    const url = `/rest/v1/geo/language/${en}/sources/`;
    expect(seen(await client.post(url, { to_language: de }))).toEqual([
      201,
      { id: de, from_language: en, to_language: de },
    ]);
    expect(seen(await client.get(`/rest/v1/geo/language/${de}/sources/`))).toEqual([200, []]);
    expect(seen(await client.patch(`${url}${de}/`, { to_language: sv }))).toEqual([
      200,
      { id: sv, from_language: en, to_language: sv },
    ]);
    expect(seen(await client.delete(`${url}${sv}/`))).toEqual(DELETED);
  });

  test('has no pair whose other side is softly deleted', async () => {
    await client.post('/rest/v1/geo/alphabet/', { no: 9, edition: 'c', name: 'futhark' });
    const url = `/rest/v1/geo/language/${sv}/alphabets/`;
    await client.post(url, { alphabet: '9,c' });
    expect(seen(await client.delete('/rest/v1/geo/alphabet/9,c/'))).toEqual(DELETED);
    expect(seen(await client.get(url))).toEqual([200, []]);
    expect(seen(await client.get(`${url}9,c/`))).toEqual(NOT_FOUND);
    expect(seen(await client.get('/rest/v1/geo/alphabet/9,c/languages/'))).toEqual(NOT_FOUND);
    expect(seen(await client.delete(`${url}9,c/`))).toEqual(NOT_FOUND);
  });
});
