// @tags db nest
import { expect, test } from '@jest/globals';
import {
  Action,
  allow,
  anyOf,
  deny,
  IsAdmin,
  IsAuthenticated,
  ModelPermissions,
  not,
  restify,
  RestifyController,
} from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
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

class ByMethod implements Permission {
  decide({ method }: AccessContext): Grant | Denial {
    return method === 'GET' ? allow() : deny();
  }
}

class OwnRights extends ModelPermissions {}

class Deciding implements Permission {
  readonly decidesOnDeleted = true;

  decide({ operation }: AccessContext): Grant | Denial {
    return operation === undefined ? allow() : deny();
  }
}

test('a permission class that may decide by the method alone prevents the start, and one that declares that it does not starts', async () => {
  const permissions = [IsAuthenticated, anyOf(IsAdmin, not(ByMethod)), OwnRights, Deciding];
  declareUnchecked(Binned, { app: 'boot', trash: true, exclude: ['deleted'], permissions });
  const message = (name: string): string =>
    `Binned.trash: the permission class ${name} does not say that it decides on deleted objects: whoever may GET, PATCH and DELETE would list, restore and purge them. Take account of "operation" in its decide(), and declare readonly decidesOnDeleted = true in the class.`;
  expect(await problemsOf({ entities: [Binned] })).toEqual([message('ByMethod'), message('OwnRights')]);
  declareUnchecked(Binned, { app: 'boot', trash: true, exclude: ['deleted'], permissions: [Deciding] });
  await (await startApp({ entities: [Binned] })).close();
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

@Entity('boot_kept')
@Index(['title', 'shelf'], { unique: true })
@Index('boot_kept_partial', ['title'], { unique: true, where: '"gone" IS NULL' })
@Index(['title', 'gone'], { unique: true })
class Kept {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 9 }) title: string;
  @Column({ length: 9 }) shelf: string;
  @Column({ length: 9, unique: true }) code: string;
  @OneToOne(() => Binned, { nullable: true }) @JoinColumn() bin: Relation<Binned> | null;
  @DeleteDateColumn() gone: Date | null;
}

onEachDatabase('unique indexes of a model with a trash that are not partial', (database) => {
  const warningsOf = async (options: object): Promise<readonly string[]> => {
    const warnings: string[] = [];
    const logger = {
      log: () => undefined,
      warn: (text: string) => warnings.push(text),
      error: () => undefined,
    };
    declareUnchecked(Kept, { app: 'boot', ...options });
    declareUnchecked(Binned, { app: 'boot' });
    const started = await startApp({ entities: [Kept, Binned], database, nest: { logger } });
    const { indices, uniques } = started.dataSource.getMetadata(Kept);
    names.clear();
    for (const { name, columns } of [...indices, ...uniques])
      names.set(columns.map(({ propertyName }) => propertyName).join(), name);
    await started.close();
    return warnings.filter((text) => text.startsWith('Kept:'));
  };
  const names = new Map<string, string>();

  test('are named in a warning, with the migration', async () => {
    const warnings = await warningsOf({ trash: true });
    if (names.size === 0 || database.name === 'mariadb') {
      expect(warnings).toEqual([]);
      return;
    }
    const [index, code, bin] = ['title,shelf', 'code', 'bin'].map((columns) => names.get(columns) ?? '');
    const constraint = (name: string, property: string, column: string, relation = ''): string =>
      `Kept: the unique constraint "${name}" on ${property} also keeps the values of deleted rows, which no new object may have. Declare ${relation}@Index('${name}_kept', ['${property}'], { unique: true, where: '"gone" IS NULL' }) in its place, with the migration: ${database.name === 'postgres' ? `ALTER TABLE "boot_kept" DROP CONSTRAINT "${name}";` : '(the table built anew without the constraint, as migration:generate writes it)'} CREATE UNIQUE INDEX "${name}_kept" ON "boot_kept" ("${column}") WHERE "gone" IS NULL;`;
    const inSchema = warnings.map((text) => text.replaceAll(/"\w+"\."boot_kept"/g, '"boot_kept"'));
    expect([...inSchema].sort()).toEqual(
      [
        constraint(code ?? '', 'code', 'code'),
        constraint(bin ?? '', 'bin', 'binId', '@ManyToOne and '),
        `Kept: the unique index "${index}" on title, shelf also keeps the values of deleted rows, which no new object may have. Declare @Index('${index}', ['title', 'shelf'], { unique: true, where: '"gone" IS NULL' }) in its place, with the migration: DROP INDEX "${index}"; CREATE UNIQUE INDEX "${index}" ON "boot_kept" ("title", "shelf") WHERE "gone" IS NULL;`,
      ].sort(),
    );
  });

  test('are none without a trash', async () => {
    expect(await warningsOf({})).toEqual([]);
  });
});
