import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Agent } from './agent.entity.js';
import { Comment } from './comment.entity.js';
import { DESK } from './users.js';

@Restify({ ...DESK, description: 'Requests for help.', label: 'subject', conditional: true })
@Entity('desk_ticket')
export class Ticket {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 200 })
  subject: string;

  @Column({ type: 'text', default: '' })
  body: string;

  @OneToMany(() => Comment, (comment) => comment.ticket)
  comments: Relation<Comment[]>;

  @ManyToMany(() => Agent, (agent) => agent.tickets)
  @JoinTable({
    name: 'desk_assignment',
    joinColumn: { name: 'ticket_id' },
    inverseJoinColumn: { name: 'agent_id' },
    synchronize: false,
  })
  agents: Relation<Agent[]>;
}
