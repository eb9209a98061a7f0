import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Ticket } from './ticket.entity.js';
import { DESK } from './users.js';

@Restify({
  ...DESK,
  description: 'What was written to a ticket.',
  label: 'text',
  labels: { one: 'Comment', many: 'Comments' },
})
@Entity('desk_comment')
export class Comment {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Ticket, (ticket) => ticket.comments, { nullable: false, onDelete: 'CASCADE' })
  ticket: Relation<Ticket>;

  @Column({ length: 500 })
  text: string;
}
