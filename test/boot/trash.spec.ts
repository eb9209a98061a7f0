// @tags nest
import { expect, test } from '@jest/globals';
import { Action, restify, RestifyController } from 'nestjs-restify';
import { Column, DeleteDateColumn, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { declareUnchecked, entityOf, problemsOf } from './refused-start.js';

@Entity('boot_binned')
class Binned {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 9 }) deleted: string;
  @DeleteDateColumn() gone: Date | null;
}

test('a trash without a date of deletion refuses to start', async () => {
  const Kept = entityOf('Kept');
  restify(Kept, { app: 'boot', trash: true });
  expect(await problemsOf({ entities: [Kept] })).toEqual([
    'Kept.trash: Kept has no @DeleteDateColumn, so that DELETE leaves nothing to restore. Add one, such as @DeleteDateColumn() deletedAt: Date | null.',
  ]);
});

@Entity('boot_taken')
class Taken {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Taken, (taken) => taken.purge) above: Relation<Taken>;
  @OneToMany(() => Taken, (taken) => taken.above) purge: Relation<Taken[]>;
  @DeleteDateColumn() deletedAt: Date | null;
}

@RestifyController(Taken)
class TakenController {
  @Action({ detail: true, methods: ['POST'] })
  restore(): string {
    return 'of the application';
  }
}

test('a relation or an action at the URL of an operation refuses to start', async () => {
  restify(Taken, { app: 'boot', trash: true });
  expect(await problemsOf({ entities: [Taken], controllers: [TakenController] })).toEqual([
    'TakenController.restore: its URL is that of the operation "restore" on deleted objects of Taken. Give it another name, or leave \'restore\' out of the operations.',
    'Taken.purge: its URL is that of the operation "purge" on deleted objects of Taken. Give it another name, or leave \'purge\' out of the operations.',
  ]);
});

test.each([
  [
    'a field of the name of the parameter',
    { trash: true },
    [
      `Binned.trash: "deleted" is the query parameter that shows deleted objects, and a field of Binned. Give the parameter another name: parameters: { deleted: '…' }.`,
    ],
  ],
  [
    'a new name that a field has',
    { trash: true, parameters: { deleted: 'gone' } },
    ['Binned.parameters.deleted: "gone" is a filter of the model. Give the parameter another name.'],
  ],
  [
    'a custom filter of that name',
    {
      trash: true,
      exclude: ['deleted'],
      filters: { deleted: { type: 'text', reads: ['id'], rows: () => undefined } },
    },
    [
      `Binned.trash: "deleted" is the query parameter that shows deleted objects, and another parameter of Binned. Give the parameter another name: parameters: { deleted: '…' }.`,
    ],
  ],
  [
    'no operation on deleted objects',
    { trash: true, exclude: ['deleted'], operations: ['list'] },
    [
      "Binned.trash: the operations of the model leave out all operations on deleted objects. Add 'listDeleted', 'restore', 'purge' to its operations, or leave trash out.",
    ],
  ],
  [
    'such an operation without a trash',
    { operations: ['list', 'listDeleted'] },
    [
      'Binned.operations: operations on deleted objects are those of a model with a trash. Add trash: true, or leave them out.',
    ],
  ],
])('%s refuses to start', async (_, options, problems) => {
  declareUnchecked(Binned, { app: 'boot', ...options });
  expect(await problemsOf({ entities: [Binned] })).toEqual(problems);
});
