import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Question } from './question.entity.js';

@Restify({
  app: 'polls',
  description: 'Answers to questions, with their votes.',
  label: 'choice_text',
  labels: { one: 'Choice', many: 'Choices' },
  filterFields: {
    id: ['exact'],
    choice_text: ['exact', 'icontains'],
    votes: ['exact', 'gt', 'gte', 'lt', 'lte'],
    question: ['exact'],
  },
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
