import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Member } from './member.entity.js';

@Restify({
  app: 'club',
  description: 'What members have paid.',
  label: 'amount',
  labels: { one: 'Payment', many: 'Payments' },
})
@Entity('club_payment')
export class Payment {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  amount: number;

  @ManyToOne(() => Member, (member) => member.payments, { nullable: false, onDelete: 'CASCADE' })
  member: Relation<Member>;
}
