import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinColumn, OneToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Student } from './student.entity.js';

@Restify({
  app: 'lab',
  description: 'Machines of the laboratory.',
  label: 'name',
  labels: { one: 'System', many: 'Systems' },
})
@Entity('lab_system')
export class System {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @Column({ length: 20 })
  location: string;

  @OneToOne(() => Student, (student) => student.system, { nullable: true, onDelete: 'CASCADE' })
  @JoinColumn()
  student: Relation<Student> | null;
}
