import { Injectable, Logger } from '@nestjs/common';

/** Stands for a service that sends mails: it logs them. */
@Injectable()
export class Mailer {
  private readonly logger = new Logger('Mailer');

  send(to: string, text: string): void {
    this.logger.log(`To ${to}: ${text}`);
  }
}
