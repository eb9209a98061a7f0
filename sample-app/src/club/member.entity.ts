import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Event } from './event.entity.js';
import { Payment } from './payment.entity.js';

@Restify({
  app: 'club',
  description: 'Members, with their payments and events.',
  label: 'name',
  labels: { one: 'Member', many: 'Members' },
  counts: ['payments', 'events'],
})
@Entity('club_member')
export class Member {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @ManyToMany(() => Event, (event) => event.members)
  @JoinTable({ name: 'club_member_events' })
  events: Relation<Event[]>;

  @OneToMany(() => Payment, (payment) => payment.member)
  payments: Relation<Payment[]>;
}
