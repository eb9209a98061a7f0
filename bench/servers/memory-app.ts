import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { allow, CsvRenderer, NdjsonRenderer, Restify, RestifyModule, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { dataSourceOptions } from './data-source-options.js';

/** Grants the rows of some levels: seven of eight rows. */
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

/** The same table, with rows that the caller may not see, and with another order. */
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

/** The same table, in other formats than JSON. */
@Restify({ app: 'log', renderers: [new CsvRenderer(), new NdjsonRenderer()] })
@Entity('entry')
export class RenderedEntry {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  message: string;

  @Column()
  level: number;

  @Column({ precision: 3 })
  written_at: Date;
}

/** The same table, with a type that no database serializes exactly, so that rows are serialized in the process. */
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

/** The same table, with a computed field, for which TypeORM loads an entity per row. */
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
      entities: [Entry, GrantedEntry, RenderedEntry, WrittenEntry, ComputedEntry],
      retryAttempts: 0,
    }),
    RestifyModule.forRoot('rest/v1'),
  ],
})
export class MemoryApp {}
