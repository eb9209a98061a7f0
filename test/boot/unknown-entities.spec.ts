// @tags nest
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { Module } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AllowAny, DeclarationError, restify, RestifyModule } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { declarations, seen } from '../../src/decorators/metadata-storage.js';

// What a process holds is judged here: this file has one of its own.

@Entity('ue_author')
class Author {
  @PrimaryGeneratedColumn() id: number;
}

@Entity('ue_book')
class Book {
  @PrimaryGeneratedColumn() id: number;
}

@Entity('ue_order')
class Order {
  @PrimaryGeneratedColumn() id: number;
}

const OPTIONS = {
  type: 'better-sqlite3',
  database: ':memory:',
  synchronize: true,
  retryAttempts: 0,
} as const;
const warned: string[] = [];
const logger = {
  log: () => undefined,
  warn: (text: string, context?: string) => context === 'Restify' && warned.push(text),
  error: () => undefined,
};
const open: INestApplication[] = [];
afterAll(async () => {
  for (const app of open) await app.close();
});

beforeEach(() => {
  warned.length = 0;
  declarations().clear();
});

/** An application whose data source has these entities: as features collect them where it loads them by itself. */
function applicationOf(
  entities: readonly (new () => object)[],
  restifyOptions: RestifyModuleOptions = {},
  autoLoad = false,
): new () => object {
  @Module({
    imports: [
      TypeOrmModule.forRoot({
        ...OPTIONS,
        ...(autoLoad ? { autoLoadEntities: true } : { entities: [...entities] }),
      }),
      ...(autoLoad ? [TypeOrmModule.forFeature([...entities])] : []),
      RestifyModule.forRoot('rest/v1', { permissions: [AllowAny], ...restifyOptions }),
    ],
  })
  class AppModule {}
  return AppModule;
}

async function started(module: new () => object): Promise<void> {
  const app = await NestFactory.create(module, { logger, abortOnError: false });
  open.push(app);
  await app.init();
}

/** As a process that has just begun. */
function forget(): void {
  for (const each of [Author, Book, Order]) seen().entities.delete(each);
}

test('an entity that is registered with no data source is reported once, with the repair', async () => {
  forget();
  for (const each of [Author, Book, Order]) restify(each, 'ue');
  await started(applicationOf([Author], {}, true));
  expect(warned).toEqual([
    'Book, Order are decorated with @Restify and served nowhere, because no data source knows them. Add them to the entities of the data source, or to TypeOrmModule.forFeature([Book, Order]) with autoLoadEntities.',
  ]);
  await started(applicationOf([Author]));
  expect(warned).toHaveLength(1);
});

test('unknownEntities decides whether it is an error at start, a warning or nothing', async () => {
  forget();
  for (const each of [Author, Book]) restify(each, 'ue');
  const refused = started(applicationOf([Author], { unknownEntities: 'error' }));
  await expect(refused).rejects.toBeInstanceOf(DeclarationError);
  await expect(refused).rejects.toMatchObject({
    problems: [
      {
        where: 'Book',
        what: 'it is decorated with @Restify and served nowhere, because no data source knows it',
        repair:
          'Add Book to the entities of the data source, or to TypeOrmModule.forFeature([Book]) with autoLoadEntities, or take @Restify off.',
      },
    ],
  });
  await started(applicationOf([Author], { unknownEntities: 'ignore' }));
  expect(warned).toEqual([]);
  await started(applicationOf([Author, Book], { unknownEntities: 'error' }));
  await expect(started(applicationOf([Author], { unknownEntities: 'fail' as never }))).rejects.toMatchObject({
    problems: [{ where: "RestifyModule.forRoot('rest/v1').unknownEntities" }],
  });
});

test('several applications in one process do not report the entities of each other', async () => {
  forget();
  for (const each of [Author, Book, Order]) restify(each, 'ue');
  const [first, second] = [applicationOf([Author], { unknownEntities: 'error' }), applicationOf([Book])];
  await started(first);
  expect(warned).toEqual([]);
  await started(second);
  expect(warned).toEqual([expect.stringMatching(/^Order is decorated with @Restify and served nowhere/)]);
});

test('an application that refuses to start ends at once', async () => {
  forget();
  for (const each of [Author, Book]) restify(each, 'ue');
  const [broken, sound] = [applicationOf([Book], { permissions: 'all' as never }), applicationOf([Author])];
  await expect(started(broken)).rejects.toBeInstanceOf(DeclarationError);
  await started(sound);
  expect(warned).toEqual([]);
  restify(Order, 'ue');
  await started(applicationOf([Author]));
  expect(warned).toHaveLength(1);
});
