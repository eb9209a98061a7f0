import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Student } from './student.entity.js';

@Restify({
  app: 'edu',
  description: 'Courses with their students.',
  label: 'name',
  labels: { one: 'Course', many: 'Courses' },
  counts: ['student'],
})
@Entity('edu_course')
export class Course {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @ManyToMany(() => Student, (student) => student.course_set)
  student: Relation<Student[]>;
}
