import { Restify } from 'nestjs-restify';
import { Column, Entity, OneToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { System } from './system.entity.js';

@Restify({
  app: 'lab',
  description: 'Students, each with one system of the laboratory.',
  label: 'name',
  labels: { one: 'Student', many: 'Students' },
})
@Entity('lab_student')
export class Student {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @Column({ length: 20 })
  discipline: string;

  @Column({ length: 20 })
  program: string;

  @OneToOne(() => System, (system) => system.student)
  system: Relation<System>;
}
