import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JsonApiModule } from 'json-api-nestjs';
import type { AddressInfo, Server } from 'node:net';
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { DataSourceOptions, Relation } from 'typeorm';

@Entity()
export class Question {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', length: 200 })
  question_text!: string;

  @Column()
  pub_date!: Date;

  @OneToMany(() => Choice, (choice) => choice.question)
  choices!: Relation<Choice[]>;
}

@Entity()
export class Choice {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', length: 200 })
  choice_text!: string;

  @Column({ type: 'integer' })
  votes!: number;

  @Column({ type: 'varchar', length: 100, nullable: true })
  note!: string | null;

  @Column({ type: 'integer' })
  question_id!: number;

  @ManyToOne(() => Question, (question) => question.choices, { nullable: false })
  @JoinColumn({ name: 'question_id' })
  question!: Relation<Question>;
}

@Entity()
export class Student {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', length: 100 })
  name!: string;

  @Column({ type: 'varchar', length: 100 })
  email!: string;

  @Column({ type: 'integer' })
  credits!: number;

  @Column()
  enrolled_at!: Date;
}

@Entity()
export class Enrolment {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', length: 1 })
  grade!: string;

  @Column({ type: 'integer' })
  student_id!: number;

  @Column({ type: 'integer' })
  course_id!: number;
}

const ENTITIES = [Question, Choice, Student, Enrolment];

/** As for the other contestants; this folder has packages of its own, and shares no code. */
function dataSourceOptions(): DataSourceOptions {
  const { BENCH_DATABASE, BENCH_SQLITE_FILE = '', BENCH_POSTGRES_URL = '', BENCH_POSTGRES_SCHEMA = '' } = process.env;
  if (BENCH_DATABASE !== 'sqlite') return { type: 'postgres', url: BENCH_POSTGRES_URL, poolSize: 10, installExtensions: false, extra: { options: `-c search_path=${BENCH_POSTGRES_SCHEMA} -c synchronous_commit=off` } };
  const prepareDatabase = (database: { pragma(text: string): unknown }): void => {
    for (const pragma of ['synchronous = NORMAL', 'foreign_keys = ON', 'busy_timeout = 5000']) database.pragma(pragma);
  };
  return { type: 'better-sqlite3', database: BENCH_SQLITE_FILE, prepareDatabase };
}

@Module({
  imports: [TypeOrmModule.forRoot({ ...dataSourceOptions(), entities: ENTITIES, retryAttempts: 0 }), JsonApiModule.forRoot({ entities: ENTITIES as never, options: { requiredSelectField: false } })],
})
class JsonApiApp {}

async function main(): Promise<void> {
  process.on('disconnect', () => process.exit(0));
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ kind: 'usage', cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss() });
  });
  const app = await NestFactory.create(JsonApiApp, { logger: false, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  process.send?.({ kind: 'listening', port: ((app.getHttpServer() as Server).address() as AddressInfo).port });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
