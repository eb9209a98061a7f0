import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connectRaw, openRawDatabase } from './raw-database.js';
import type { RawDatabase } from './raw-database.js';
import { readPage } from './raw-pages.js';
import { openRawWrites } from './raw-writes.js';
import type { RawWrite } from './raw-writes.js';
import { serve } from './serve.js';

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

const ID = /^\/(questions|students)\/(\d+)(?:\/(\w+))?$/;
const NOT_FOUND: Answer = { status: 404 };

/** Without a framework: as little code as possible between the socket and the driver. */
async function answer(
  request: IncomingMessage,
  database: RawDatabase,
  writeOther: RawWrite,
): Promise<Answer> {
  const { method = '', url = '' } = request;
  if (method === 'GET') return handleGet(request, database);
  const body = parseJsonObject(await textOf(request));
  if (body === undefined) return { status: 400 };
  if (method === 'POST' && url === '/choices') return create(body, database);
  const [, , id] = ID.exec(url) ?? [];
  if (method !== 'PATCH' || id === undefined)
    return answerWritten(request, await writeOther(method, url, body));
  if (typeof body.question_text !== 'string' || body.question_text.length > 200) return { status: 400 };
  return one(await database.updateQuestion([body.question_text, Number(id)]));
}

function answerWritten({ method, url }: IncomingMessage, body: object | undefined): Answer {
  if (body === undefined) return { status: 400 };
  return { status: method === 'PATCH' || url === '/wares/upsert' ? 200 : 201, body };
}

async function handleGet(request: IncomingMessage, database: RawDatabase): Promise<Answer> {
  const { url = '' } = request;
  const [, collection, id, nested] = ID.exec(url) ?? [];
  if (id !== undefined && nested === undefined) return one(await database.question([Number(id)]));
  if (id !== undefined) {
    const [exists, rows] =
      collection === 'questions'
        ? [database.question, database.choicesOf]
        : [database.student, database.enrolmentsOf];
    const body = await rows([Number(id)]);
    return body.length === 0 && (await exists([Number(id)])).length === 0 ? NOT_FOUND : { status: 200, body };
  }
  if (url === '/constant') return { status: 200, body: { id: 1, question_text: 'constant' } };
  if (url === '/students') return { status: 200, body: await database.students([]) };
  if (url === '/choices') return { status: 200, body: await database.choices([]) };
  const [, votes] = /^\/choices\?votes=(\d+)&ordering=-choice_text$/.exec(url) ?? [];
  if (votes !== undefined) return { status: 200, body: await database.choicesWithVotes([Number(votes)]) };
  const body = await readPage(request, database);
  return body ? { status: 200, body } : NOT_FOUND;
}

async function create(
  { choice_text, votes, note = null, question_id }: Readonly<Record<string, unknown>>,
  database: RawDatabase,
): Promise<Answer> {
  const valid =
    typeof choice_text === 'string' &&
    choice_text.length <= 200 &&
    Number.isInteger(votes) &&
    Number.isInteger(question_id) &&
    (note === null || typeof note === 'string');
  if (!valid) return { status: 400 };
  try {
    return { status: 201, body: (await database.createChoice([choice_text, votes, note, question_id]))[0] };
  } catch (error) {
    if (error instanceof Error && /foreign key/i.test(error.message)) return { status: 400 };
    throw error;
  }
}

function one(rows: readonly unknown[]): Answer {
  return rows.length === 0 ? NOT_FOUND : { status: 200, body: rows[0] };
}

function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

function textOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      resolve(text);
    });
    request.on('error', reject);
  });
}

function send(response: ServerResponse, { status, body }: Answer): void {
  const text = body === undefined ? '' : JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

await serve(() => {
  const open = connectRaw();
  const database = openRawDatabase(open);
  const writeOther = openRawWrites(open);
  const server = createServer((request, response) => {
    answer(request, database, writeOther).then(
      (given) => {
        send(response, given);
      },
      () => {
        send(response, { status: 500 });
      },
    );
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({ server });
    });
  });
});
