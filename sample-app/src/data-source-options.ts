import type { DataSourceOptions } from 'typeorm';
import { Agent } from './desk/agent.entity.js';
import { Assignment } from './desk/assignment.entity.js';
import { Comment } from './desk/comment.entity.js';
import { Organisation } from './desk/organisation.entity.js';
import { Ticket } from './desk/ticket.entity.js';
import { Author } from './library/author.entity.js';
import { Book } from './library/book.entity.js';
import { Review } from './library/review.entity.js';
import { Event } from './club/event.entity.js';
import { Member } from './club/member.entity.js';
import { Payment } from './club/payment.entity.js';
import { Choice } from './polls/choice.entity.js';
import { Course } from './edu/course.entity.js';
import { Enrollment } from './edu/enrollment.entity.js';
import { Friendship } from './edu/friendship.entity.js';
import { Question } from './polls/question.entity.js';
import { Student as EduStudent } from './edu/student.entity.js';
import { Student as LabStudent } from './lab/student.entity.js';
import { System } from './lab/system.entity.js';
import { CreateSchema1760000000000 } from './migrations/1760000000000-create-schema.js';
import { AddReviews1760000000001 } from './migrations/1760000000001-add-reviews.js';
import { ExtendDesk1760000000002 } from './migrations/1760000000002-extend-desk.js';
import { wholeNumber } from './whole-number.js';

export const ENTITIES = [
  Question,
  Choice,
  LabStudent,
  System,
  EduStudent,
  Course,
  Enrollment,
  Friendship,
  Book,
  Author,
  Review,
  Organisation,
  Ticket,
  Comment,
  Agent,
  Assignment,
  Member,
  Event,
  Payment,
];

/** The environment variables that configure the database. */
export interface DatabaseEnvironment {
  readonly DATABASE_URL?: string | undefined;
  /** The URL of a read replica of the same kind. */
  readonly REPLICA_URL?: string | undefined;
  /** The pool size of this process for each server; the default of the drivers is 10. */
  readonly POOL_SIZE?: string | undefined;
}

/**
 * The options of the data source, by `DATABASE_URL`:
 *
 * | URL | database |
 * |---|---|
 * | none | the file `sample-app.sqlite` in the working directory |
 * | `sqlite::memory:` | an empty SQLite database in memory |
 * | `sqlite:<path>` | that SQLite file |
 * | `postgres://…` | PostgreSQL |
 * | `mariadb://…`, `mysql://…` | MariaDB, MySQL |
 *
 * With a `REPLICA_URL`, reads use that server, and writes with their own reads use `DATABASE_URL`.
 */
export function dataSourceOptions(environment: DatabaseEnvironment): DataSourceOptions {
  const common = {
    entities: ENTITIES,
    migrations: [CreateSchema1760000000000, AddReviews1760000000001, ExtendDesk1760000000002],
    migrationsRun: true,
  };
  const { DATABASE_URL: url = '', REPLICA_URL: replica = '' } = environment;
  if (isSqlite(url)) {
    if (replica !== '')
      throw new Error(
        'REPLICA_URL names a replica, and SQLite has none. Let DATABASE_URL name a server (postgres:, mariadb:, mysql:), or leave REPLICA_URL out.',
      );
    return {
      ...common,
      type: 'better-sqlite3',
      database: url === '' ? 'sample-app.sqlite' : url.slice('sqlite:'.length).replace(/^\/\//, ''),
    };
  }
  const poolSize = poolSizeOf(environment);
  const type = serverType(url, 'DATABASE_URL');
  if (replica !== '' && serverType(replica, 'REPLICA_URL') !== type)
    throw new Error(
      `REPLICA_URL begins with "${schemeOf(replica)}:", and DATABASE_URL with "${schemeOf(url)}:". A replica is a copy of the same kind of server.`,
    );
  if (type === 'postgres')
    return {
      ...common,
      ...poolSize,
      type,
      ...(replica === '' ? { url } : { replication: { master: { url }, slaves: [{ url: replica }] } }),
    };
  // Without `restoreNodeTimeout`, a server that was unavailable once would never be used again.
  return {
    ...common,
    ...poolSize,
    type,
    charset: 'utf8mb4',
    timezone: 'Z',
    ...(replica === ''
      ? { url }
      : { replication: { master: { url }, slaves: [{ url: replica }], restoreNodeTimeout: 1000 } }),
  };
}

/** Whether the database is embedded in the process (SQLite). */
export function isSqlite(url: string | undefined): boolean {
  return url === undefined || url === '' || schemeOf(url) === 'sqlite';
}

function serverType(url: string, variable: string): 'postgres' | 'mariadb' | 'mysql' {
  const scheme = schemeOf(url);
  switch (scheme) {
    case 'postgres':
    case 'postgresql':
      return 'postgres';
    case 'mariadb':
    case 'mysql':
      return scheme;
    default:
      throw new Error(
        `${variable} begins with "${scheme}:", which this application does not know. Use ${variable === 'DATABASE_URL' ? 'sqlite:, ' : ''}postgres:, mariadb: or mysql:.`,
      );
  }
}

function schemeOf(url: string): string {
  return url.split(':')[0] ?? '';
}

function poolSizeOf({ POOL_SIZE: text = '' }: DatabaseEnvironment): { readonly poolSize?: number } {
  return text === '' ? {} : { poolSize: wholeNumber('POOL_SIZE', text) };
}
