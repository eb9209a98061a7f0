import { Restify } from 'nestjs-restify';
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { Agent } from './agent.entity.js';
import { Comment } from './comment.entity.js';
import { Organisation } from './organisation.entity.js';
import { DESK } from './users.js';

export const TICKET_STATES = ['open', 'waiting', 'solved'] as const;

/** Deleted tickets are kept in a trash, agents are read and written as keys, and comments in the body of their ticket. `ticket.controller.ts` sends mails. */
@Restify({
  ...DESK,
  description: 'Requests for help.',
  label: 'subject',
  labels: { one: 'Ticket', many: 'Tickets' },
  conditional: true,
  trash: true,
  counts: ['comments'],
  relatedKeys: ['agents'],
  nested: ['comments'],
  aggregate: { group: ['status', 'organisation', 'created_at'] },
  filterFields: {
    id: ['exact', 'in'],
    subject: ['exact', 'icontains'],
    status: ['exact', 'ne', 'in'],
    created_at: ['gte', 'lt'],
    organisation: ['exact', 'isnull'],
    agents: ['exact'],
  },
  searchFields: ['subject', 'body'],
})
@Entity('desk_ticket')
export class Ticket {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 200 })
  subject: string;

  @Column({ type: 'text', default: '' })
  body: string;

  @Column({ type: 'simple-enum', enum: TICKET_STATES, default: 'open' })
  status: (typeof TICKET_STATES)[number];

  @CreateDateColumn({ precision: 6 })
  created_at: Date;

  @DeleteDateColumn({ precision: 6 })
  deleted_at: Date | null;

  @ManyToOne(() => Organisation, (organisation) => organisation.tickets, { onDelete: 'SET NULL' })
  organisation: Relation<Organisation> | null;

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
