import { Restify } from 'nestjs-restify';
import { Column, Entity, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Ticket } from './ticket.entity.js';
import { DESK } from './users.js';

@Restify({
  ...DESK,
  description: 'Customers of the help desk.',
  label: 'name',
  labels: { one: 'Organisation', many: 'Organisations' },
  counts: ['tickets'],
})
@Entity('desk_organisation')
export class Organisation {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @OneToMany(() => Ticket, (ticket) => ticket.organisation)
  tickets: Relation<Ticket[]>;
}
