// @tags nest
import { afterAll, describe, expect, test } from '@jest/globals';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Restify, RestifyModule } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { memory, MEMORY, startModules } from '../boot/start-modules.js';

@Restify('stock')
@Entity()
class Crate {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  content: string;
}

/** No entity of any data source here. */
@Entity()
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify('old')
@Entity()
class Archived {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Shelf)
  shelf: Relation<Shelf>;
}

/** TypeORM's own error comes after these. */
const RETRIES = { retryAttempts: 2, retryDelay: 400 };
afterAll(() => new Promise((resolve) => setTimeout(resolve, 3 * RETRIES.retryDelay)));

const archived = { ...MEMORY, ...RETRIES, entities: [Archived] };
const prefixes = [RestifyModule.forRoot('live'), RestifyModule.forRoot('archive', { dataSource: 'archive' })];

describe('entities that keep a named data source from connecting', () => {
  test.each([
    ['forRoot', () => TypeOrmModule.forRoot({ ...archived, name: 'archive' })],
    ['forRootAsync', () => TypeOrmModule.forRootAsync({ name: 'archive', useFactory: () => archived })],
  ])('are refused early, whether %s names it', async (_, archive) => {
    await expect(startModules({ imports: [memory([Crate]), archive(), ...prefixes] })).rejects.toMatchObject({
      problems: [{ where: 'Archived.shelf', what: 'it leads to Shelf, which the data source does not know' }],
    });
  });
});
