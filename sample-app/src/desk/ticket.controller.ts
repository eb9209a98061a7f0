import { ResourceController, RestifyController } from 'nestjs-restify';
import type { CommittedWrite } from 'nestjs-restify';
import { Mailer } from './mailer.service.js';
import { Ticket } from './ticket.entity.js';

/** Sends mails about tickets, for writes of all URLs. Everything else is generated. */
@RestifyController(Ticket)
export class TicketController extends ResourceController<Ticket> {
  constructor(private readonly mailer: Mailer) {
    super();
  }

  /** After the COMMIT: a write that is rolled back sends no mail. */
  override afterCommit(writes: readonly CommittedWrite[]): void {
    for (const { stored, values } of writes) {
      if (values === undefined) continue;
      const subject = String(values.subject);
      if (stored === undefined) this.mailer.send('the help desk', `New ticket "${subject}".`);
      else if (values.status === 'solved' && stored.status !== 'solved')
        this.mailer.send('the customer', `Your ticket "${subject}" is solved.`);
    }
  }
}
