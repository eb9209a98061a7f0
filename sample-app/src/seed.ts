import type { DataSource } from 'typeorm';
import { Author } from './library/author.entity.js';
import { Book } from './library/book.entity.js';
import { Choice } from './polls/choice.entity.js';
import { Course } from './edu/course.entity.js';
import { Enrollment } from './edu/enrollment.entity.js';
import { Review } from './library/review.entity.js';
import { Question } from './polls/question.entity.js';
import { Student as EduStudent } from './edu/student.entity.js';
import { Student as LabStudent } from './lab/student.entity.js';
import { System } from './lab/system.entity.js';

/** Inserts a few sample rows into an empty database. Returns whether it has inserted any. */
export async function seed(dataSource: DataSource): Promise<boolean> {
  return dataSource.transaction(async (manager) => {
    // Inside the transaction, because a replica may lag behind.
    if ((await manager.count(Question)) > 0) return false;
    const question = await manager.save(Question, {
      question_text: "What's new?",
      pub_date: new Date('2022-10-02T09:23:28.297Z'),
    });
    await manager.save(Choice, [
      { choice_text: 'Not much', votes: 3, question },
      { choice_text: 'The sky', votes: 7, question },
    ]);
    const student = await manager.save(LabStudent, {
      name: 'Ada',
      discipline: 'Mathematics',
      program: 'PhD',
    });
    await manager.save(System, { name: 'Analytical Engine', location: 'London', student });
    const [alan] = await manager.save(EduStudent, [{ name: 'Alan' }, { name: 'Grace' }]);
    const [logic] = await manager.save(Course, [{ name: 'Logic' }, { name: 'Compilers' }]);
    await manager.save(Enrollment, { student: alan, course: logic });
    const authors = await manager.save(Author, [{ name: 'Kernighan' }, { name: 'Ritchie' }]);
    const book = await manager.save(Book, { title: 'The C Programming Language', authors });
    await manager.save(Review, [
      { text: 'Short and clear', stars: 4, book },
      { text: 'A classic', stars: 5, book },
    ]);
    return true;
  });
}

/** Whether to insert sample rows: in the default SQLite file, and if `SAMPLE_ROWS=yes`. */
export function isSeeded({
  DATABASE_URL: url = '',
  SAMPLE_ROWS: rows = '',
}: {
  readonly DATABASE_URL?: string | undefined;
  readonly SAMPLE_ROWS?: string | undefined;
}): boolean {
  return url === '' || rows === 'yes';
}
