import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Ticket } from './ticket.entity.js';
import { DESK } from './users.js';

@Restify({
  ...DESK,
  description: 'People who work on tickets.',
  label: 'name',
  labels: { one: 'Agent', many: 'Agents' },
  counts: ['tickets'],
})
@Entity('desk_agent')
export class Agent {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @ManyToMany(() => Ticket, (ticket) => ticket.agents)
  tickets: Relation<Ticket[]>;
}
