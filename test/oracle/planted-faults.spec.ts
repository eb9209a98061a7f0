// @tags core
import { expect, test } from '@jest/globals';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Subject } from './oracle.js';
import { runTrial } from './run-trial.js';
import { startSubject } from './start-subject.js';

/** A response that a fault may change. */
interface Passing {
  readonly method: string;
  readonly path: string;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

type Fault = (answer: Passing) => void;

const QUESTION = /^\/rest\/v1\/polls\/question\/\d+\/$/;

function changed(answer: Passing, change: (body: Record<string, unknown>) => void): void {
  const body = JSON.parse(answer.text) as Record<string, unknown>;
  change(body);
  answer.text = JSON.stringify(body);
}

function isRead({ method, path, status }: Passing): boolean {
  return method === 'GET' && status === 200 && QUESTION.test(path);
}

const DELETED = new Set<string>();

/** Responses of a faulty application, and the rule that the oracle must report. */
const FAULTS: readonly (readonly [name: string, fault: Fault, rule: RegExp])[] = [
  [
    'a status that is not described',
    (answer) => {
      if (answer.method === 'POST' && answer.status === 201) answer.status = 202;
    },
    /does not know the status 202/,
  ],
  [
    'an error of the server',
    (answer) => {
      if (isRead(answer)) answer.status = 500;
    },
    /answers 500/,
  ],
  [
    'a missing header',
    (answer) => {
      if (answer.status === 200) delete answer.headers['x-frame-options'];
    },
    /the header x-frame-options is wrong/,
  ],
  [
    'another Allow',
    (answer) => {
      if (isRead(answer)) answer.headers.allow = 'GET, HEAD, OPTIONS';
    },
    /the header allow is wrong/,
  ],
  [
    'a header that is not described',
    (answer) => {
      if (isRead(answer)) answer.headers['x-powered-by'] = 'it';
    },
    /x-powered-by is not described/,
  ],
  [
    'no challenge',
    (answer) => {
      if (answer.status === 401) delete answer.headers['www-authenticate'];
    },
    /WWW-Authenticate is missing/,
  ],
  [
    'a field that is not described',
    (answer) => {
      if (isRead(answer))
        changed(answer, (body) => {
          body.internal = 1;
        });
    },
    /body of 200 is not as described/,
  ],
  [
    'null where there is none',
    (answer) => {
      if (isRead(answer))
        changed(answer, (body) => {
          body.question_text = null;
        });
    },
    /body of 200 is not as described/,
  ],
  [
    'another media type',
    (answer) => {
      if (isRead(answer)) answer.headers['content-type'] = 'application/json; charset=utf-8';
    },
    /media type is not described/,
  ],
  [
    'another object',
    (answer) => {
      if (isRead(answer))
        changed(answer, (body) => {
          body.question_text = 'other';
        });
    },
    /retrieves another object than was written/,
  ],
  [
    'a value that was not sent',
    (answer) => {
      if (answer.method === 'PATCH' && answer.status === 200 && QUESTION.test(answer.path))
        changed(answer, (body) => {
          body.question_text = 'other';
        });
    },
    /shows another value than was sent/,
  ],
  [
    'a body that fits and is refused',
    (answer) => {
      if (answer.method === 'POST' && answer.status === 201 && answer.path === '/rest/v1/polls/question/')
        Object.assign(answer, { status: 400, text: '{"question_text":["No."]}' });
    },
    /refuses what fits with 400/,
  ],
  [
    'a body that does not fit and is taken',
    (answer) => {
      if (answer.method === 'POST' && answer.status === 400)
        Object.assign(answer, {
          status: 201,
          text: '{"id":1,"question_text":"a","pub_date":"2022-10-02T09:23:28.297Z","choices":"/"}',
        });
    },
    /takes a body that does not fit/,
  ],
  [
    'an object that was deleted',
    (answer) => {
      if (answer.method === 'DELETE' && answer.status === 204) DELETED.add(answer.path);
      if (answer.method === 'GET' && answer.status === 404 && DELETED.has(answer.path))
        Object.assign(answer, { status: 200, text: '{}' });
    },
    /shows what was deleted/,
  ],
  [
    'an object that is lost',
    (answer) => {
      if (isRead(answer)) Object.assign(answer, { status: 404, text: '{"detail":"Not found."}' });
    },
    /refuses what fits with 404/,
  ],
];

/** The application behind a proxy that changes its responses. */
async function withFault(fault: Fault): Promise<Subject> {
  const subject = await startSubject({ model: 'sample', database: 'sqlite', platform: 'express' });
  const proxy = createServer((incoming, outgoing) => {
    pass(incoming, outgoing, { port: subject.port, fault });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { paths } = subject.document as { readonly paths: Readonly<Record<string, object>> };
  const few = Object.entries(paths).filter(([path]) => /^\/rest\/v1\/(polls|desk\/agent)/.test(path));
  return {
    ...subject,
    document: { ...subject.document, paths: Object.fromEntries(few) },
    port: (proxy.address() as AddressInfo).port,
    close: async () => {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
      await subject.close();
    },
  };
}

function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { port, fault }: { readonly port: number; readonly fault: Fault },
): void {
  const { method = 'GET', url = '/', headers } = incoming;
  const forwarded = request(
    { host: '127.0.0.1', port, method, path: url, headers: { ...headers, connection: 'close' } },
    (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const { 'content-length': _, connection: __, ...kept } = answer.headers;
        const [path = ''] = url.split('?');
        const passing: Passing = {
          method,
          path,
          status: answer.statusCode ?? 0,
          headers: kept,
          text: Buffer.concat(chunks).toString(),
        };
        fault(passing);
        const sent = Object.entries(passing.headers).filter(
          (header): header is [string, string | string[]] => header[1] !== undefined,
        );
        outgoing.writeHead(passing.status, Object.fromEntries(sent)).end(passing.text);
      });
    },
  );
  incoming.pipe(forwarded);
}

async function findingsOf(fault: Fault): Promise<readonly string[]> {
  const { findings } = await runTrial({
    seed: 3,
    requests: 450,
    shrink: false,
    start: () => withFault(fault),
  });
  return findings.map(({ signature }) => signature);
}

test('nothing is reported without a fault', async () => {
  expect(await findingsOf(() => undefined)).toEqual([]);
});

test.each(FAULTS)('%s is reported', async (_, fault, rule) => {
  const findings = await findingsOf(fault);
  expect(findings.filter((each) => rule.test(each))).not.toEqual([]);
});

test('a problem is reported with the fewest requests that reproduce it', async () => {
  const [, fault] = FAULTS.find(([name]) => name === 'null where there is none') ?? [];
  const { findings } = await runTrial({
    seed: 3,
    requests: 300,
    most: 1,
    start: () => withFault(fault ?? (() => undefined)),
  });
  expect(findings[0]?.sequence).toHaveLength(2);
  expect(findings[0]?.sequence.join('\n')).toMatch(
    /-X POST .*\/polls\/question\/[^]*curl -i '\$URL\/rest\/v1\/polls\/question\/1/,
  );
});
