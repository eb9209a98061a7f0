import type { DataSource } from 'typeorm';
import { Author } from '../../sample-app/src/library/author.entity.js';
import { Book } from '../../sample-app/src/library/book.entity.js';
import { Choice } from '../../sample-app/src/polls/choice.entity.js';
import { Course } from '../../sample-app/src/edu/course.entity.js';
import { Enrollment } from '../../sample-app/src/edu/enrollment.entity.js';
import { Review } from '../../sample-app/src/library/review.entity.js';
import { Question } from '../../sample-app/src/polls/question.entity.js';
import { Student as EduStudent } from '../../sample-app/src/edu/student.entity.js';
import { Student as LabStudent } from '../../sample-app/src/lab/student.entity.js';
import { System } from '../../sample-app/src/lab/system.entity.js';

/** A few rows in place of those of the sample application, for tests that count them. */
export async function seedFewRows(dataSource: DataSource): Promise<void> {
  await dataSource.transaction(async (manager) => {
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
  });
}
