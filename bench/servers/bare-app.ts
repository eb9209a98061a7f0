import { Body, Controller, Get, HttpCode, Module, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { openBareDatabase } from './bare-database.js';
import { sendJson } from './bare-reply.js';
import type { Reply } from './bare-reply.js';

const database = openBareDatabase();

/**
 * The upper limit: a Nest handler without checks that sends the text which one prepared statement returns. It is not a
 * realistic application, but no application on Nest can be faster.
 */
@Controller()
class BareController {
  @Get('questions/:id')
  async question(@Param('id') id: string, @Res() reply: Reply): Promise<void> {
    sendJson(reply, await database.question(Number(id)));
  }

  @Patch('questions/:id')
  async updateQuestion(
    @Param('id') id: string,
    @Body() { question_text }: { question_text?: string },
    @Res() reply: Reply,
  ): Promise<void> {
    sendJson(reply, await database.updateQuestion(Number(id), question_text));
  }

  @Get('questions/:id/choices')
  async choicesOf(@Param('id') id: string, @Res() reply: Reply): Promise<void> {
    sendJson(reply, await database.choicesOf(Number(id)));
  }

  @Get('choices')
  async choices(@Query() { votes }: { votes?: string }, @Res() reply: Reply): Promise<void> {
    sendJson(
      reply,
      await (votes === undefined ? database.choices() : database.choicesWithVotes(Number(votes))),
    );
  }

  @Post('choices')
  @HttpCode(201)
  async createChoice(
    @Body() { choice_text, votes, note, question_id }: Readonly<Record<string, unknown>>,
    @Res() reply: Reply,
  ): Promise<void> {
    sendJson(reply, await database.createChoice(choice_text, votes, note ?? null, question_id));
  }

  @Get('students')
  async students(@Res() reply: Reply): Promise<void> {
    sendJson(reply, await database.students());
  }

  @Get('students/:id/enrolments')
  async enrolmentsOf(@Param('id') id: string, @Res() reply: Reply): Promise<void> {
    sendJson(reply, await database.enrolmentsOf(Number(id)));
  }
}

@Module({ controllers: [BareController] })
export class BareApp {}
