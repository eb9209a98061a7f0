import { Module } from '@nestjs/common';
import { Mailer } from './mailer.service.js';
import { TicketController } from './ticket.controller.js';

@Module({ controllers: [TicketController], providers: [Mailer] })
export class DeskModule {}
