import {
  BadRequestException,
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
import { Readable } from 'node:stream';
import { openContractDatabase } from './contract-database.js';

const database = openContractDatabase();

/** The response on Express, or the reply on Fastify. */
type Reply =
  | ServerResponse
  | {
      readonly raw: ServerResponse;
      header(name: string, value: string): unknown;
      send(answer: string | Readable): unknown;
    };

/** The headers of contract 7. */
const HEADERS = Object.entries({
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  Vary: 'Accept, Cookie',
  'Content-Type': 'application/json',
});

const LIST = 'GET, POST, HEAD, OPTIONS';
const OBJECT = 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS';

function setHeader(reply: Reply, name: string, value: string): void {
  if ('raw' in reply) reply.header(name, value);
  else reply.setHeader(name, value);
}

function setHeaders(reply: Reply, allow: string): void {
  for (const [name, value] of HEADERS) setHeader(reply, name, value);
  setHeader(reply, 'Allow', allow);
}

function send(reply: Reply, text: string | undefined, allow: string): void {
  if (text === undefined) throw new NotFoundException();
  setHeaders(reply, allow);
  if ('raw' in reply) {
    reply.send(text);
    return;
  }
  reply.setHeader('Content-Length', Buffer.byteLength(text));
  reply.end(text);
}

function jsonArray(rows: string | undefined): string | undefined {
  return rows === undefined ? undefined : `[${rows}]`;
}

/** Streams a long list by pages, at the speed of the client. */
async function* allChoices(): AsyncGenerator<string> {
  let glue = '[';
  for (let after: unknown = -1; after !== undefined;) {
    const { text, last } = await database.choices(after);
    if (text !== '') yield glue + text;
    if (text !== '') glue = ',';
    after = last;
  }
  yield glue === '[' ? '[]' : ']';
}

function instant(value: unknown): string {
  return value instanceof Date
    ? value.toISOString()
    : `${String(value).replace(' ', 'T')}${String(value).length === 23 ? '' : '.000'}Z`;
}

function refuse(field: string): never {
  throw new BadRequestException({ [field]: ['This value is not valid.'] });
}

/**
 * The same responses, hand-written for these four tables: with the headers of contract 7.1, links, checks of SQLite's JSON,
 * pages of long lists and Location; without permissions, other queries and other models.
 */
@Controller('rest/v1')
class ContractController {
  @Get('polls/question/:id/')
  async question(@Param('id') id: string, @Res() reply: Reply): Promise<void> {
    send(reply, await database.question(Number(id)), OBJECT);
  }

  @Patch('polls/question/:id/')
  async updateQuestion(
    @Param('id') id: string,
    @Body() { question_text }: { question_text?: unknown },
    @Res() reply: Reply,
  ): Promise<void> {
    if (typeof question_text !== 'string' || question_text.length > 200) refuse('question_text');
    const row = await database.updateQuestion(Number(id), question_text);
    send(
      reply,
      row &&
        JSON.stringify({
          id: row[0],
          question_text: row[1],
          pub_date: instant(row[2]),
          choices: `/rest/v1/polls/question/${String(row[0])}/choices/`,
        }),
      OBJECT,
    );
  }

  @Get('polls/question/:id/choices/')
  async choicesOf(@Param('id') id: string, @Res() reply: Reply): Promise<void> {
    send(reply, jsonArray(await database.choicesOf(Number(id))), LIST);
  }

  @Get('polls/choice/')
  async choices(@Query() { votes }: { votes?: string }, @Res() reply: Reply): Promise<void> {
    if (votes !== undefined) {
      send(reply, jsonArray(await database.choicesWithVotes(Number(votes))), LIST);
      return;
    }
    setHeaders(reply, LIST);
    const pieces = Readable.from(allChoices(), { highWaterMark: 0 });
    if ('raw' in reply) reply.send(pieces);
    else pieces.pipe(reply);
  }

  @Post('polls/choice/')
  @HttpCode(201)
  async createChoice(
    @Body() { choice_text, votes, note = null, question }: Readonly<Record<string, unknown>>,
    @Res() reply: Reply,
  ): Promise<void> {
    if (typeof choice_text !== 'string' || choice_text.length > 200) refuse('choice_text');
    if (!Number.isSafeInteger(votes)) refuse('votes');
    if (note !== null && typeof note !== 'string') refuse('note');
    if (!Number.isSafeInteger(question)) refuse('question');
    const row = await database.createChoice([choice_text, votes, note, question]);
    if (!row) refuse('question');
    setHeader(reply, 'Location', `/rest/v1/polls/choice/${String(row[0])}/`);
    send(
      reply,
      JSON.stringify({ id: row[0], choice_text: row[1], votes: row[2], note: row[3], question: row[4] }),
      LIST,
    );
  }

  @Get('edu/student/')
  async students(@Res() reply: Reply): Promise<void> {
    send(reply, jsonArray(await database.students()), LIST);
  }

  @Get('edu/student/:id/course_set/')
  async enrolmentsOf(@Param('id') id: string, @Res() reply: Reply): Promise<void> {
    send(reply, jsonArray(await database.enrolmentsOf(Number(id))), LIST);
  }
}

@Module({ controllers: [ContractController] })
export class ContractApp {}
