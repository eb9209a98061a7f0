import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Restify, RestifyModule } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { dataSourceOptions } from './data-source-options.js';

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

@Module({ imports: [TypeOrmModule.forRoot({ ...dataSourceOptions(), entities: [Entry], retryAttempts: 0 }), RestifyModule.forRoot('rest/v1')] })
export class MemoryApp {}
