// The sample application as a process of this Node, in a database in memory: its start, more than 200 requests to its models and
// its end after SIGTERM. Expects `npm run build && npm run build:sample`.
import { fileURLToPath } from 'node:url';
import { CheckedRequests, withProgram } from './checked-requests.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MISSING = '987654321/';

async function readModel(requests, path) {
  const rows = await requests.send('GET', path, { status: 200, expected: (body) => body.length > 0 });
  const one = `${path}${rows[0].id}/`;
  await requests.send('GET', one, { status: 200, expected: (body) => body.id === rows[0].id });
  await requests.send('HEAD', one, { status: 200 });
  await requests.send('OPTIONS', path, { status: 200, expected: (body) => typeof body.name === 'string' });
  await requests.send('GET', path, {
    headers: { accept: 'text/html' },
    status: 200,
    expected: (text) => text.startsWith('<!doctype html>'),
  });
  await requests.send('GET', `${path}${MISSING}`, { status: 404, expected: { detail: 'Not found.' } });
  await requests.send('POST', path, { body: '[1', status: 400, expected: (body) => 'detail' in body });
  await requests.send('POST', path, { body: '<a/>', headers: { 'content-type': 'text/xml' }, status: 415 });
  await requests.send('GET', path, { headers: { accept: 'image/png' }, status: 406 });
  await requests.send('PATCH', path, { status: 405 });
  await requests.send('PATCH', one, { body: {}, status: 200, expected: (body) => body.id === rows[0].id });
  return one;
}

async function sendAll(port) {
  const authorization = `Basic ${Buffer.from('admin:admin').toString('base64')}`;
  const requests = new CheckedRequests(`http://127.0.0.1:${port}`, { authorization });
  const models = Object.values(await requests.send('GET', '/', { status: 200, expected: Object }));
  const member = await created(requests, '/rest/v1/club/member/', { name: 'Ada' });
  await created(requests, '/rest/v1/club/event/', { title: 'Concert' });
  await created(requests, '/rest/v1/club/payment/', { amount: 5, member: member.id });
  const agent = await created(requests, '/rest/v1/desk/agent/', { name: 'Grace' });
  const ticket = await created(requests, '/rest/v1/desk/ticket/', { subject: 'Help' });
  await created(requests, '/rest/v1/desk/comment/', { ticket: ticket.id, text: 'Hello' });
  await created(requests, '/rest/v1/desk/assignment/', { ticket: ticket.id, agent: agent.id });
  const objects = [];
  for (const model of models) objects.push(await readModel(requests, new URL(model).pathname));
  const question = await requests.send('POST', '/rest/v1/polls/question/', {
    body: { question_text: 'Which one?', pub_date: '2026-01-02T03:04:05Z' },
    status: 201,
    expected: (body) => body.pub_date === '2026-01-02T03:04:05.000Z',
  });
  for (let votes = 1; votes <= 10; votes++)
    await requests.send('POST', '/rest/v1/polls/choice/', {
      body: { question: question.id, choice_text: `Ünïcode ${votes}`, votes },
      status: 201,
      expected: (body) => body.votes === votes && body.choice_text === `Ünïcode ${votes}`,
    });
  await requests.send('GET', `/rest/v1/polls/question/${question.id}/choices/`, {
    status: 200,
    expected: (body) => body.length === 10,
  });
  // Before those that they refer to, with which they are deleted.
  const isDependent = (one) => /choice|comment|review|payment|assignment|system/.test(one);
  for (const one of objects.filter(isDependent)) await deleteObject(requests, one);
  for (const one of objects.filter((each) => !isDependent(each))) await deleteObject(requests, one);
  if (requests.count < 200) throw new Error(`Only ${requests.count} requests were sent`);
  return { models: models.length, requests: requests.count };
}

function created(requests, path, body) {
  const holds = (object) => Object.keys(body).every((name) => object[name] === body[name]);
  return requests.send('POST', path, { body, status: 201, expected: holds });
}

async function deleteObject(requests, one) {
  await requests.send('DELETE', one, { status: 204 });
  await requests.send('GET', one, { status: 404 });
}

const begin = performance.now();
let sent;
await withProgram(
  {
    command: process.execPath,
    args: ['--require', './scripts/sqlite-driver.cjs', 'dist/sample-app/main.js'],
    options: {
      cwd: ROOT,
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        DATABASE_URL: 'sqlite::memory:',
        SAMPLE_ROWS: 'yes',
        PORT: '0',
      },
    },
    ready: /Listening on http:\/\/\S+:(\d+)\//,
  },
  async (port) => {
    sent = await sendAll(port);
  },
);
console.log(
  `Node ${process.version}: ${sent.requests} requests to ${sent.models} models in ${Math.round(performance.now() - begin)} ms`,
);
