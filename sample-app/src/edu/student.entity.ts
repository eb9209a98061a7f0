import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Course } from './course.entity.js';

/**
 * Both junctions have an entity on their table (enrollment.entity.ts, friendship.entity.ts), so that a pair has a key
 * of its own. The join table leaves the table to that entity: `synchronize: false`.
 */
@Restify('edu')
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
