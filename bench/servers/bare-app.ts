import {
  Body,
  Controller,
  Get,
  HttpCode,
  Module,
  NotFoundException,
  Param,
  Patch,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { openBareDatabase } from './bare-database.js';

const database = openBareDatabase();

/** The response on Express, or the reply on Fastify. */
type Reply =
  | ServerResponse
  | { readonly raw: ServerResponse; header(name: string, value: string): { send(text: string): unknown } };

function send(reply: Reply, text: string | undefined): void {
  if (text === undefined) throw new NotFoundException();
  if ('raw' in reply) {
    reply.header('content-type', 'application/json').send(text);
    return;
  }
  reply.setHeader('Content-Type', 'application/json');
  reply.setHeader('Content-Length', Buffer.byteLength(text));
  reply.end(text);
}

/**
 * The upper limit: a Nest handler without checks that sends the text which one prepared statement returns. It is not a
 * realistic application, but no application on Nest can be faster.
 */
@Controller()
class BareController {
  @Get('questions/:id')
  async question(@Param('id') id: string, @Res() reply: Reply): Promise<void> {
    send(reply, await database.question(Number(id)));
  }

  @Patch('questions/:id')
  async updateQuestion(
    @Param('id') id: string,
    @Body() { question_text }: { question_text?: string },
    @Res() reply: Reply,
  ): Promise<void> {
    send(reply, await database.updateQuestion(Number(id), question_text));
  }

  @Get('questions/:id/choices')
  async choicesOf(@Param('id') id: string, @Res() reply: Reply): Promise<void> {
    send(reply, await database.choicesOf(Number(id)));
  }

  @Get('choices')
  async choices(@Query() { votes }: { votes?: string }, @Res() reply: Reply): Promise<void> {
    send(reply, await (votes === undefined ? database.choices() : database.choicesWithVotes(Number(votes))));
  }

  @Post('choices')
  @HttpCode(201)
  async createChoice(
    @Body() { choice_text, votes, note, question_id }: Readonly<Record<string, unknown>>,
    @Res() reply: Reply,
  ): Promise<void> {
    send(reply, await database.createChoice(choice_text, votes, note ?? null, question_id));
  }

  @Get('students')
  async students(@Res() reply: Reply): Promise<void> {
    send(reply, await database.students());
  }

  @Get('students/:id/enrolments')
  async enrolmentsOf(@Param('id') id: string, @Res() reply: Reply): Promise<void> {
    send(reply, await database.enrolmentsOf(Number(id)));
  }
}

@Module({ controllers: [BareController] })
export class BareApp {}
