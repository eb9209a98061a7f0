import { Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { Relation } from 'typeorm';
import { Course } from './course.entity.js';
import { Student } from './student.entity.js';

/** The through object of `student.course_set` and `course.student`. Not registered: it is served below its parents only. */
@Entity('edu_enrollment')
@Unique('edu_enrollment_pair', ['course', 'student'])
export class Enrollment {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Course, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'course_id' })
  course: Relation<Course>;

  @ManyToOne(() => Student, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'student_id' })
  student: Relation<Student>;
}
