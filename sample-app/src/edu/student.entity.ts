import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Course } from './course.entity.js';

/**
 * Both junction tables are mapped by an entity (enrollment.entity.ts, friendship.entity.ts), so that each pair has its own
 * key. `synchronize: false` leaves the schema of the table to that entity.
 */
@Restify({
  app: 'edu',
  description: 'Students with their courses and friends.',
  label: 'name',
  labels: { one: 'Student', many: 'Students' },
  counts: ['course_set', 'friends'],
})
@Entity('edu_student')
export class Student {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @ManyToMany(() => Course, (course) => course.student)
  @JoinTable({
    name: 'edu_enrollment',
    joinColumn: { name: 'student_id' },
    inverseJoinColumn: { name: 'course_id' },
    synchronize: false,
  })
  course_set: Relation<Course[]>;

  @ManyToMany(() => Student)
  @JoinTable({
    name: 'edu_friendship',
    joinColumn: { name: 'from_student_id' },
    inverseJoinColumn: { name: 'to_student_id' },
    synchronize: false,
  })
  friends: Relation<Student[]>;
}
