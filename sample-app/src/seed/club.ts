import type { EntityManager } from 'typeorm';
import { Event } from '../club/event.entity.js';
import { Member } from '../club/member.entity.js';
import { Payment } from '../club/payment.entity.js';

const EVENTS = ['Spring regatta', 'Summer party', 'General meeting', 'Winter swim'];
const MEMBERS = ['Ines', 'Jonas', 'Kofi', 'Lena', 'Mateo', 'Noor', 'Olga', 'Priya', 'Quentin', 'Rosa'];
const FEES = [120, 120, 60, 35];

export async function seedClub(manager: EntityManager): Promise<void> {
  const events = await manager.save(
    Event,
    EVENTS.map((title) => ({ title })),
  );
  const members = await manager.save(
    Member,
    MEMBERS.map((name, index) => ({ name, events: events.filter((_, event) => (index + event) % 3 === 0) })),
  );
  const payments = members.flatMap((member, index) =>
    FEES.slice(0, 1 + (index % FEES.length)).map((amount) => ({ amount, member })),
  );
  await manager.save(Payment, payments);
}
