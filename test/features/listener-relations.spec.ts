// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AllowAny, Restify } from 'nestjs-restify';
import {
  AfterInsert,
  AfterRemove,
  AfterUpdate,
  BeforeInsert,
  BeforeRemove,
  Column,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { problemsOf, declareUnchecked } from '../boot/refused-start.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const told: string[] = [];

@Entity('lr_owner')
class LrOwner {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Restify({ app: 'lr', permissions: [AllowAny] })
@Entity('lr_media')
class LrMedia {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @ManyToOne(() => LrOwner, { cascade: ['insert'] }) owner: Relation<LrOwner>;
  @OneToMany(() => LrNote, (note) => note.media) notes: Relation<LrNote[]>;
}

@Restify({ app: 'lr', permissions: [AllowAny], bulk: true, listenerRelations: ['media.owner', 'cover'] })
@Entity('lr_note')
class LrNote {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: '' }) text: string;
  @ManyToOne(() => LrMedia, (media) => media.notes) media: Relation<LrMedia> | null;
  @ManyToOne(() => LrMedia, { cascade: true }) cover: Relation<LrMedia> | null;

  private tell(what: string): void {
    const { media, cover } = this;
    told.push(
      `${what} ${media?.name ?? 'nothing'} of ${media?.owner.name ?? 'nobody'}, ${cover?.name ?? 'no cover'}`,
    );
  }

  @BeforeInsert() beforeInsert(): void {
    this.tell('before insert');
  }
  @AfterInsert() afterInsert(): void {
    this.tell('insert');
  }
  @AfterUpdate() afterUpdate(): void {
    this.tell('update');
  }
  @BeforeRemove() beforeRemove(): void {
    this.tell('before remove');
  }
  @AfterRemove() afterRemove(): void {
    this.tell('remove');
  }
}

/** Without the option. */
@Restify({ app: 'lr', permissions: [AllowAny] })
@Entity('lr_bare')
class LrBare {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: '' }) text: string;
  @ManyToOne(() => LrMedia) media: Relation<LrMedia> | null;

  @AfterInsert() inserted(): void {
    told.push(JSON.stringify(this.media));
  }
  @AfterUpdate() updated(): void {
    told.push(JSON.stringify(this.media));
  }
  @BeforeRemove() removed(): void {
    told.push(JSON.stringify(this.media));
  }
}

onEachDatabase('what listeners read of relations', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [LrOwner, LrMedia, LrNote, LrBare], database });
    const media = started.dataSource.getRepository(LrMedia);
    for (const name of ['ada', 'eve']) await media.save({ name: `${name}.jpg`, owner: { name } });
  });
  afterAll(() => started.close());

  const NOTES = '/rest/v1/lr/lrnote/';
  async function toldOf(write: () => Promise<{ readonly status: number }>): Promise<readonly unknown[]> {
    told.length = 0;
    const { status } = await write();
    return [status, ...told];
  }

  test('is loaded before a row is made, changed and removed, and nothing of it is written or removed', async () => {
    const { client } = started;
    const ada = 'ada.jpg of ada';
    const eve = 'eve.jpg of eve';
    expect(await toldOf(() => client.post(NOTES, { media: 1, cover: 2 }))).toEqual([
      201,
      `before insert ${ada}, eve.jpg`,
      `insert ${ada}, eve.jpg`,
    ]);
    expect(await toldOf(() => client.patch(`${NOTES}1/`, { text: 'x' }))).toEqual([
      200,
      `update ${ada}, eve.jpg`,
    ]);
    expect(await toldOf(() => client.patch(`${NOTES}1/`, { media: 2 }))).toEqual([
      200,
      `update ${eve}, eve.jpg`,
    ]);
    expect((await client.get(`${NOTES}1/`)).json).toEqual({ id: 1, text: 'x', media: 2, cover: 2 });
    expect(await toldOf(() => client.post(NOTES, {}))).toEqual([
      201,
      'before insert nothing of nobody, no cover',
      'insert nothing of nobody, no cover',
    ]);
    expect(await toldOf(() => client.post(NOTES, [{ media: 1 }, { media: 2 }]))).toEqual([
      201,
      ...[ada, eve].flatMap((each) => [`before insert ${each}, no cover`, `insert ${each}, no cover`]),
    ]);
    expect(await toldOf(() => client.delete(`${NOTES}1/`))).toEqual([
      204,
      `before remove ${eve}, eve.jpg`,
      `remove ${eve}, eve.jpg`,
    ]);
    const media = await started.dataSource
      .getRepository(LrMedia)
      .find({ relations: { owner: true }, order: { id: 1 } });
    expect(media.map(({ id, name, owner }) => [id, name, owner.name])).toEqual([
      [1, 'ada.jpg', 'ada'],
      [2, 'eve.jpg', 'eve'],
    ]);
  });

  test('without the option is the key', async () => {
    const { client } = started;
    expect(await toldOf(() => client.post('/rest/v1/lr/lrbare/', { media: 1 }))).toEqual([201, '{"id":1}']);
    expect(await toldOf(() => client.patch('/rest/v1/lr/lrbare/1/', { text: 'x' }))).toEqual([
      200,
      '{"id":1}',
    ]);
    expect(await toldOf(() => client.delete('/rest/v1/lr/lrbare/1/'))).toEqual([204, '{"id":1}']);
  });
});

test('listenerRelations that are no relations refuse to start', async () => {
  @Entity('lr_wrong')
  class LrWrong {
    @PrimaryGeneratedColumn() id: number;
    @ManyToOne(() => LrMedia) media: Relation<LrMedia>;
  }
  @Entity('lr_many')
  class LrMany {
    @PrimaryGeneratedColumn() id: number;
    @OneToMany(() => LrPart, (part) => part.whole) parts: Relation<LrPart[]>;
  }
  @Entity('lr_part')
  class LrPart {
    @PrimaryGeneratedColumn() id: number;
    @ManyToOne(() => LrMany, (many) => many.parts) whole: Relation<LrMany>;
  }
  declareUnchecked(LrWrong, {
    app: 'lr',
    listenerRelations: ['medai', 'media.owners', 'id', 'media.notes.media'],
  });
  declareUnchecked(LrMany, { app: 'lr', listenerRelations: ['parts'] });
  const entities = [LrOwner, LrMedia, LrNote, LrWrong, LrMany, LrPart];
  expect(await problemsOf({ entities })).toEqual([
    'LrWrong.listenerRelations[0]: "medai" is not a relation of LrWrong. Did you mean "media"?',
    'LrWrong.listenerRelations[1]: "owners" is not a relation of LrMedia. Did you mean "owner"?',
    'LrWrong.listenerRelations[2]: "id" is not a relation of LrWrong. Known here: "media".',
    'LrMany.listenerRelations[0]: "parts" has no foreign key in LrMany. Name a relation with the foreign key, and with a dot what lies behind it.',
  ]);
});
