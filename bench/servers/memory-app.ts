import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { allow, Restify, RestifyModule, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { dataSourceOptions } from './data-source-options.js';

/** Grants the rows of a level: seven of eight. */
class SomeLevels implements Permission {
  decide(): Grant {
    return allow({ rows: where('level', 'lt', 7) });
  }
}

/** The table that `bench/memory.ts` fills with a million rows. */
@Restify('log')
@Entity()
export class Entry {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  message: string;

  @Column()
  level: number;

  @Column({ precision: 3 })
  written_at: Date;
}

/** The same table: rows that somebody may not see, and rows in another order. */
@Restify({ app: 'log', permissions: [SomeLevels], orderingFields: ['message', 'level'] })
@Entity('entry')
export class GrantedEntry {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  message: string;

  @Column()
  level: number;

  @Column({ precision: 3 })
  written_at: Date;
}

/** The same table, with a type that no database writes as JSON exactly: the process writes the rows. */
@Restify('log')
@Entity('entry')
export class WrittenEntry {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  message: string;

  @Column('double precision')
  level: number;

  @Column({ precision: 3 })
  written_at: Date;
}

/** The same table, with a value that only an entity gives: TypeORM loads one a row. */
@Restify({
  app: 'log',
  computed: { shout: (entry: object) => (entry as ComputedEntry).message.toUpperCase() },
})
@Entity('entry')
export class ComputedEntry {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  message: string;

  @Column()
  level: number;

  @Column({ precision: 3 })
  written_at: Date;
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      ...dataSourceOptions(),
      entities: [Entry, GrantedEntry, WrittenEntry, ComputedEntry],
      retryAttempts: 0,
    }),
    RestifyModule.forRoot('rest/v1'),
  ],
})
export class MemoryApp {}
