// 150 requests to the application of app.mjs, with the responses that docs/contract.md describes.
import { CheckedRequests } from './checked-requests.mjs';

const AUTHORS = '/rest/v1/library/author/';
const BOOKS = '/rest/v1/library/book/';
const ROUNDS = 10;

/** The 15 requests of a round, in a database with the rows of the rounds before: none. */
async function sendRound(requests, round) {
  const name = `Ünïcode ${round}`;
  const author = await requests.send('POST', AUTHORS, {
    body: { name },
    status: 201,
    expected: (body) => body.name === name && Number.isInteger(body.id),
  });
  await requests.send('POST', AUTHORS, {
    body: { name },
    status: 400,
    expected: (body) => Array.isArray(body.name),
  });
  const sent = { title: "It's \\ 'one'", pages: 7, due: '2026-01-02T03:04:05.678Z', author: author.id };
  const book = await requests.send('POST', BOOKS, {
    body: sent,
    status: 201,
    expected: (body) => Object.keys(sent).every((field) => body[field] === sent[field]),
  });
  const one = `${BOOKS}${book.id}/`;
  await requests.send('GET', one, { status: 200, expected: book });
  await requests.send('GET', `${BOOKS}?title__icontains=IT'S&pages__gte=7&ordering=-pages`, {
    status: 200,
    expected: [book],
  });
  await requests.send('GET', `${BOOKS}?author__name=${encodeURIComponent(name)}&pages__in=7,8`, {
    status: 200,
    expected: [book],
  });
  await requests.send('GET', `${BOOKS}?pages__gte=many`, {
    status: 400,
    expected: (body) => Array.isArray(body.pages__gte),
  });
  await requests.send('GET', `${AUTHORS}${author.id}/books/`, {
    status: 200,
    expected: (body) => body.length === 1 && body[0].id === book.id,
  });
  await requests.send('PATCH', one, { body: { pages: 8 }, status: 200, expected: { ...book, pages: 8 } });
  await requests.send('PUT', one, {
    body: { title: 'Two', author: author.id },
    status: 200,
    expected: (body) => body.title === 'Two',
  });
  await requests.send('PATCH', one, {
    body: { pages: 'x' },
    status: 400,
    expected: (body) => Array.isArray(body.pages),
  });
  await requests.send('POST', BOOKS, {
    body: '{',
    status: 400,
    expected: (body) => typeof body.detail === 'string',
  });
  await requests.send('POST', BOOKS, {
    body: { title: 'Lost', author: 987654 },
    status: 400,
    expected: (body) => Array.isArray(body.author),
  });
  await requests.send('DELETE', `${AUTHORS}${author.id}/`, { status: 204 });
  await requests.send('GET', one, { status: 404, expected: { detail: 'Not found.' } });
}

/** Resolves to their number. */
export async function sendRequests(port) {
  const requests = new CheckedRequests(`http://127.0.0.1:${port}`);
  for (let round = 1; round <= ROUNDS; round++) await sendRound(requests, round);
  return requests.count;
}
