import type { DataSourceOptions } from 'typeorm';
import { Agent } from './desk/agent.entity.js';
import { Assignment } from './desk/assignment.entity.js';
import { Comment } from './desk/comment.entity.js';
import { Ticket } from './desk/ticket.entity.js';
import { Author } from './library/author.entity.js';
import { Book } from './library/book.entity.js';
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

export const ENTITIES = [Question, Choice, LabStudent, System, EduStudent, Course, Enrollment, Friendship, Book, Author, Ticket, Comment, Agent, Assignment, Member, Event, Payment];

/**
 * Where the data is, by `DATABASE_URL`:
 *
 * | URL | database |
 * |---|---|
 * | none | the file `sample-app.sqlite` in the working directory |
 * | `sqlite::memory:` | a fresh empty SQLite database, gone with the process |
 * | `sqlite:<path>` | that SQLite file |
 * | `postgres://…` | PostgreSQL |
 * | `mariadb://…`, `mysql://…` | MariaDB, MySQL |
 */
export function dataSourceOptions(url: string | undefined): DataSourceOptions {
  const common = { entities: ENTITIES, migrations: [CreateSchema1760000000000], migrationsRun: true };
  if (url === undefined || url === '') return { ...common, type: 'better-sqlite3', database: 'sample-app.sqlite' };
  const [scheme = ''] = url.split(':');
  switch (scheme) {
    case 'sqlite':
      return { ...common, type: 'better-sqlite3', database: url.slice('sqlite:'.length).replace(/^\/\//, '') };
    case 'postgres':
    case 'postgresql':
      return { ...common, type: 'postgres', url };
    case 'mariadb':
    case 'mysql':
      return { ...common, type: scheme, url, charset: 'utf8mb4', timezone: 'Z' };
    default:
      throw new Error(`DATABASE_URL begins with "${scheme}:", which this application does not know. Use sqlite:, postgres:, mariadb: or mysql:.`);
  }
}
