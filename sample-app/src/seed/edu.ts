import type { EntityManager } from 'typeorm';
import { Course } from '../edu/course.entity.js';
import { Enrollment } from '../edu/enrollment.entity.js';
import { Friendship } from '../edu/friendship.entity.js';
import { Student } from '../edu/student.entity.js';

const STUDENTS = [
  'Alan',
  'Grace',
  'Edsger',
  'Barbara',
  'Donald',
  'Frances',
  'Niklaus',
  'Radia',
  'Leslie',
  'Shafi',
];
const COURSES = ['Logic', 'Compilers', 'Distributed systems', 'Algorithms', 'Cryptography'];

export async function seedSchool(manager: EntityManager): Promise<void> {
  const students = await manager.save(
    Student,
    STUDENTS.map((name) => ({ name })),
  );
  const courses = await manager.save(
    Course,
    COURSES.map((name) => ({ name })),
  );
  const [alan] = students;
  const [logic] = courses;
  await manager.save(Enrollment, { student: alan, course: logic });
  // From the third student on, two courses each; the first two are for you to enroll.
  const enrollments = students
    .slice(2)
    .flatMap((student, index) =>
      [index, index + 2].map((number) => ({ student, course: courses[number % courses.length] })),
    );
  await manager.save(Enrollment, enrollments);
  const friendships = students.slice(2, -1).map((from_student, index) => ({
    from_student,
    to_student: students[index + 3],
  }));
  await manager.save(Friendship, friendships);
}
