import { Restify } from 'nestjs-restify';
import { Column, Entity, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Choice } from './choice.entity.js';

@Restify({
  app: 'polls',
  description: 'Questions that visitors vote on.',
  label: 'question_text',
  labels: { one: 'Question', many: 'Questions' },
  counts: ['choices'],
})
@Entity('polls_question')
export class Question {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 200 })
  question_text: string;

  @Column({ precision: 6, default: () => 'CURRENT_TIMESTAMP' })
  pub_date: Date;

  @OneToMany(() => Choice, (choice) => choice.question)
  choices: Relation<Choice[]>;
}
