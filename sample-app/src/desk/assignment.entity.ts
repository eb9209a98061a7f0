import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { Relation } from 'typeorm';
import { Agent } from './agent.entity.js';
import { Ticket } from './ticket.entity.js';
import { DESK } from './users.js';

/** The through object of `ticket.agents` and `agent.tickets`. It is registered, and its permissions apply to both nested URLs. */
@Restify({
  ...DESK,
  description: 'Who works on which ticket.',
  label: 'role',
  labels: { one: 'Assignment', many: 'Assignments' },
})
@Entity('desk_assignment')
@Unique('desk_assignment_pair', ['ticket', 'agent'])
export class Assignment {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Ticket, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'ticket_id' })
  ticket: Relation<Ticket>;

  @ManyToOne(() => Agent, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'agent_id' })
  agent: Relation<Agent>;

  @Column({ length: 20, default: 'helper' })
  role: string;
}
