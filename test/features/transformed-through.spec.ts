// @tags nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { Json } from 'nestjs-restify';
import { ArrayMinSize } from 'class-validator';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const WORDS = {
  to: (words?: string[]): string | undefined => words?.join('|'),
  from: (text: string): string[] => text.split('|'),
};

@Restify('tt')
@Entity('tt_song')
class Song {
  @PrimaryGeneratedColumn()
  id: number;

  @ArrayMinSize(2)
  @Column('text', { transformer: WORDS })
  words: string[];

  @Column('text', { default: 'made', transformer: WORDS })
  marks: string[];

  @ManyToMany(() => Singer)
  @JoinTable({
    name: 'tt_part',
    joinColumn: { name: 'songId' },
    inverseJoinColumn: { name: 'singerId' },
    synchronize: false,
  })
  singers: Relation<Singer[]>;
}

@Restify('tt')
@Entity('tt_singer')
class Singer {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'tt', type: { lines: 'string[]' }, filterFields: { lines: ['exact'] } })
@Entity('tt_part')
class Part {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Song, { nullable: false })
  song: Relation<Song>;

  @ManyToOne(() => Singer, { nullable: false })
  singer: Relation<Singer>;

  @Column('text', { transformer: WORDS })
  lines: string[];
}

@RestifyController(Song)
class SongController extends ResourceController<Song> {
  override valuesOnCreate(): Readonly<Record<string, Json>> {
    return { marks: ['by', 'code'] };
  }
}

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({ entities: [Song, Singer, Part], controllers: [SongController] });
});
afterAll(() => started.close());

test('validators and values of hooks are of the outward kind', async () => {
  const { client, dataSource } = started;
  const few = await client.post('/rest/v1/tt/song/', { words: ['one'] });
  expect([few.status, Object.keys(few.json as object)]).toEqual([400, ['words']]);
  const made = await client.post('/rest/v1/tt/song/', { words: ['one', 'two'] });
  expect([made.status, made.json]).toMatchObject([201, { words: ['one', 'two'], marks: ['by', 'code'] }]);
  expect(await dataSource.query('SELECT words, marks FROM tt_song')).toEqual([
    { words: 'one|two', marks: 'by|code' },
  ]);
});

test('through objects have them', async () => {
  const { client } = started;
  const song = (await client.post('/rest/v1/tt/song/', { words: ['a', 'b'] })).json as { id: number };
  const singer = (await client.post('/rest/v1/tt/singer/', {})).json as { id: number };
  const url = `/rest/v1/tt/song/${song.id}/singers/`;
  const made = await client.post(url, { singer: singer.id, lines: ['x', 'y'] });
  expect([made.status, made.json]).toMatchObject([201, { singer: singer.id, lines: ['x', 'y'] }]);
  const { id } = made.json as { id: number };
  expect((await client.get(`${url}?lines=%5B%22x%22,%22y%22%5D`)).json).toEqual([made.json]);
  const changed = await client.patch(`${url}${id}/`, { lines: ['z'] });
  expect([changed.status, changed.json]).toMatchObject([200, { lines: ['z'] }]);
  expect((await client.post(url, { singer: singer.id, lines: 'x' })).status).toBe(400);
  expect((await client.get(`/rest/v1/tt/part/${id}/`)).json).toMatchObject({ song: song.id, lines: ['z'] });
});
