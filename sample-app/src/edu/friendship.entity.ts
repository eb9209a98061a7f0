import { Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { Relation } from 'typeorm';
import { Student } from './student.entity.js';

/** The through object of `student.friends`: friendships have a direction. */
@Entity('edu_friendship')
@Unique('edu_friendship_pair', ['from_student', 'to_student'])
export class Friendship {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Student, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'from_student_id' })
  from_student: Relation<Student>;

  @ManyToOne(() => Student, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'to_student_id' })
  to_student: Relation<Student>;
}
