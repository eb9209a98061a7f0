// @tags nest
import { expect, test } from '@jest/globals';
import { ChildPk, NestedAction, ONE_TO_MANY_LIST_ACTION, ParentPk, Pk, Action } from 'nestjs-restify';
import { Restify, ResourceController, RestifyController } from 'nestjs-restify';
import { Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { problemsOf } from './refused-start.js';

@Restify('keyed')
@Entity('keyed_room')
class Room {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToMany(() => Chair, (chair) => chair.room)
  chairs: Relation<Chair[]>;
}

@Restify('keyed')
@Entity('keyed_chair')
class Chair {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Room, (room) => room.chairs)
  room: Relation<Room>;
}

@RestifyController(Room)
class RoomController extends ResourceController<Room> {
  @Action({ detail: false })
  collection(@Pk() pk: unknown, @ParentPk() parentPk: unknown): unknown[] {
    return [pk, parentPk];
  }

  @Action({ detail: true })
  detail(@ChildPk() childPk: unknown, @Pk() pk: unknown): unknown[] {
    return [childPk, pk];
  }

  @NestedAction(ONE_TO_MANY_LIST_ACTION, 'chairs')
  nested(@Pk() pk: unknown, @ParentPk() parentPk: unknown): unknown[] {
    return [pk, parentPk];
  }

  override list(@ParentPk() parentPk: unknown, @Pk() pk: unknown): Promise<unknown> {
    return Promise.resolve([parentPk, pk]);
  }

  override retrieve(@Pk() pk: unknown): Promise<unknown> {
    return Promise.resolve(pk);
  }
}

test('key parameters whose URL has no such key are errors at start', async () => {
  const absent = (method: string, decorator: string, of: string, repair: string): string =>
    `RoomController.${method}: ${decorator} has no value: the URL of ${of}. ${repair}`;
  const action = 'the action has no such key';
  const collection = 'Remove the parameter, or write @Action({ detail: true }) for a URL below an object.';
  const problems = await problemsOf({ entities: [Room, Chair], controllers: [RoomController] });
  expect([...problems].sort()).toEqual(
    [
      absent('collection', '@Pk()', action, collection),
      absent('collection', '@ParentPk()', action, collection),
      absent('detail', '@ChildPk()', action, 'Use @Pk().'),
      absent('nested', '@Pk()', action, 'Use @ParentPk(), and @ChildPk() where it replaces one object.'),
      absent(
        'list',
        '@Pk()',
        'a list has no key of an object',
        'Remove the parameter. @ParentPk() has the key of the parent at nested URLs.',
      ),
    ].sort(),
  );
});
