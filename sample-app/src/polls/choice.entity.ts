import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Question } from './question.entity.js';

@Restify({
  app: 'polls',
  filterFields: { id: ['exact'], choice_text: ['icontains'], votes: ['exact', 'ne', 'gte', 'lte'], question: ['exact'] },
  searchFields: ['choice_text'],
  ordering: ['-votes'],
})
@Entity('polls_choice')
export class Choice {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 200 })
  choice_text: string;

  @Column({ default: 0 })
  votes: number;

  @ManyToOne(() => Question, (question) => question.choices, { nullable: false, onDelete: 'CASCADE' })
  question: Relation<Question>;
}
