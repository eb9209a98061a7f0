import type { DeepPartial, EntityManager } from 'typeorm';
import { Agent } from '../desk/agent.entity.js';
import { Assignment } from '../desk/assignment.entity.js';
import { Comment } from '../desk/comment.entity.js';
import { Organisation } from '../desk/organisation.entity.js';
import { Ticket, TICKET_STATES } from '../desk/ticket.entity.js';

const ORGANISATIONS = [
  'Harbour Logistics',
  'Meadow School',
  'Northern Clinic',
  'Orchard Foods',
  'City Library',
];
const AGENTS = ['Ann', 'Bob', 'Chiara', 'Deniz', 'Emeka', 'Freya'];

/** Subjects of tickets, each with what was written to it. */
const TOPICS: readonly (readonly [subject: string, body: string, comments: readonly string[]])[] = [
  [
    'Printer is offline',
    'The printer on the second floor does not answer.',
    ['Is it switched on?', 'It is now.'],
  ],
  [
    'Cannot log in',
    'My password is refused since this morning.',
    ['I have sent you a link to set a new one.'],
  ],
  ['Invoice has the wrong address', 'Please send it again to our new office.', []],
  [
    'Export is slow',
    'The monthly export takes more than ten minutes.',
    ['How many rows?', 'About two million.', 'We are looking into it.'],
  ],
  ['Add a user', 'A new colleague starts on Monday.', ['Which rights does she need?']],
  [
    'Laptop does not charge',
    'The lamp stays dark with each cable.',
    ['Bring it to the desk, please.', 'The battery is replaced.'],
  ],
  ['Report shows no data', 'The dashboard has been empty since the update.', ['Which browser do you use?']],
  ['Mail is delayed', 'Mails arrive two hours late.', ['The queue was full. It is empty again.']],
  ['Phone line is noisy', 'One can hardly understand callers.', []],
  ['Need a larger mailbox', 'Mine is full each Friday.', ['You have 10 GB now.']],
  [
    'Two-factor code is rejected',
    'The clock of my phone is right.',
    ['Please scan the code again.', 'That helped, thanks!'],
  ],
  [
    'Question about our subscription',
    'Until when can we change the number of seats?',
    ['Until the end of the quarter.'],
  ],
];

/** The first moment of a ticket; one more every nine hours. */
const BEGIN = Date.parse('2026-06-01T07:15:00.000Z');
const NINE_HOURS = 9 * 3_600_000;
const TICKETS = 72;

export async function seedDesk(manager: EntityManager): Promise<void> {
  const organisations = await manager.save(
    Organisation,
    ORGANISATIONS.map((name) => ({ name })),
  );
  const agents = await manager.save(
    Agent,
    AGENTS.map((name) => ({ name })),
  );
  const numbers = [...Array(TICKETS).keys()];
  const tickets = await manager.save(
    Ticket,
    numbers.map((number) => ticketOf(number, organisations[(number * 7) % 6] ?? null)),
  );
  const comments = tickets.flatMap((ticket, number) =>
    topicOf(number)[2].map((text): DeepPartial<Comment> => ({ ticket, text })),
  );
  await manager.save(Comment, comments);
  const assignments = tickets.flatMap((ticket, number) =>
    agents
      .filter((_, index) => index === number % 7 || (number % 4 === 0 && index === (number + 2) % 6))
      .map((agent, index): DeepPartial<Assignment> => ({
        ticket,
        agent,
        role: index === 0 ? 'lead' : 'helper',
      })),
  );
  await manager.save(Assignment, assignments);
}

/** Older tickets are solved, some of the newer ones wait, every twelfth is deleted. */
function ticketOf(number: number, organisation: Organisation | null): DeepPartial<Ticket> {
  const [subject, body] = topicOf(number);
  const created_at = new Date(BEGIN + number * NINE_HOURS);
  const status = number < 50 && number % 5 !== 0 ? 'solved' : TICKET_STATES[number % 3 === 0 ? 1 : 0];
  const deleted_at = number % 12 === 11 ? new Date(created_at.getTime() + NINE_HOURS) : null;
  return { subject, body, status, created_at, deleted_at, organisation };
}

function topicOf(number: number): (typeof TOPICS)[number] {
  return TOPICS[(number * 5) % TOPICS.length] as (typeof TOPICS)[number];
}
