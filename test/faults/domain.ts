import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';

export const JOBS = '/rest/v1/works/job/';
export const PARTS = '/rest/v1/works/part/';

@Restify('works')
@Entity('works_job')
export class Job {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 40, unique: true })
  code: string;

  @Column({ default: 0 })
  votes: number;

  @OneToMany(() => Part, (part) => part.job, { cascade: true })
  parts: Relation<Part[]>;

  @ManyToMany(() => Tag)
  @JoinTable({ name: 'works_job_tags' })
  tags: Relation<Tag[]>;
}

@Restify('works')
@Entity('works_tag')
export class Tag {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify('works')
@Entity('works_part')
export class Part {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 40 })
  name: string;

  @ManyToOne(() => Job, (job) => job.parts, { nullable: false, onDelete: 'CASCADE' })
  job: Relation<Job>;
}

export const ENTITIES = [Job, Part, Tag];

/** The answer of contract 21.1 where the database is away, which says nothing of the database. */
export const AWAY = { detail: 'The service is temporarily unavailable. Try again later.' };
