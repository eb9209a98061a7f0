import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Member } from './member.entity.js';

@Restify({
  app: 'club',
  description: 'Meetings of the club.',
  label: 'title',
  labels: { one: 'Event', many: 'Events' },
  counts: ['members'],
})
@Entity('club_event')
export class Event {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  title: string;

  @ManyToMany(() => Member, (member) => member.events)
  members: Relation<Member[]>;
}
