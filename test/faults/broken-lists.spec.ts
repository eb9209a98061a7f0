// @tags nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { StreamableFile } from '@nestjs/common';
import {
  Action,
  CsvRenderer,
  NdjsonRenderer,
  PageNumberPagination,
  Restify,
  RestifyController,
} from 'nestjs-restify';
import type { RenderedRows, Renderer } from 'nestjs-restify';
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Http2ExpressAdapter } from '../support/http2-express.js';
import { findNginx, launchNginx } from '../support/launch-nginx.cjs';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

/** More than one page of a long list; the second one fails. */
const ROWS = 2600;
const FAILING = 2500;

let isFailing = false;
/** What the application has logged as errors. */
const logged: string[] = [];
const logger = {
  log: () => undefined,
  warn: () => undefined,
  error: (error: unknown, text: unknown) => logged.push(`${String(text)}: ${String(error)}`),
};

function fail({ id }: { readonly id?: unknown }): void {
  if (isFailing && id === FAILING) throw new Error('This row cannot be read');
}

/** Like CSV and NDJSON, lines: a part of them looks complete. */
class LineRenderer implements Renderer {
  readonly format = 'lines';
  readonly mediaType = 'text/x-lines';

  async *render({ pages }: RenderedRows): AsyncGenerator<string> {
    for await (const rows of pages)
      for (const row of rows) {
        fail(row);
        yield `${String(row.id)}\n`;
      }
  }
}

const RENDERERS = [new CsvRenderer(), new NdjsonRenderer(), new LineRenderer()];

function loud(row: object): string {
  fail(row);
  return 'loud';
}

@Restify({ app: 'broken', renderers: RENDERERS, computed: { loud } })
@Entity('broken_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Owner, (owner) => owner.notes)
  owner: Relation<Owner>;
}

@Restify({
  app: 'broken',
  renderers: RENDERERS,
  pagination: new PageNumberPagination({ pageSize: ROWS, maxPageSize: ROWS }),
})
@Entity('broken_page')
class Page {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify('broken')
@Entity('broken_tag')
class Tag {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'broken', through: { tags: { renderers: RENDERERS } } })
@Entity('broken_owner')
class Owner {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToMany(() => Note, (note) => note.owner)
  notes: Relation<Note[]>;

  @ManyToMany(() => Tag)
  @JoinTable({ name: 'broken_owner_tag' })
  tags: Relation<Tag[]>;
}

@RestifyController(Owner)
class OwnerController {
  @Action({ detail: false })
  export(): StreamableFile {
    async function* lines(): AsyncGenerator<string> {
      for (let id = 1; id <= ROWS; id += 1) {
        await Promise.resolve();
        fail({ id });
        yield `${id}\n`;
      }
    }
    return new StreamableFile(Readable.from(lines()), { type: 'text/x-lines' });
  }
}

const OWNER = '/rest/v1/broken/owner/1/';
const LISTS = [
  ['a list in JSON', '/rest/v1/broken/note/'],
  ['a list in CSV', '/rest/v1/broken/note/?format=csv'],
  ['a list in NDJSON', '/rest/v1/broken/note/?format=ndjson'],
  ['a list in a format of the application', '/rest/v1/broken/note/?format=lines'],
  ['a page in a format of the application', '/rest/v1/broken/page/?format=lines'],
  ['a nested list in CSV', `${OWNER}notes/?format=csv`],
  ['a list of through objects', `${OWNER}tags/?format=lines`],
  ['the file of an action', '/rest/v1/broken/owner/export/'],
] as const;
type List = (typeof LISTS)[number];

/** TLS without a certificate. */
const PSK = {
  ciphers: 'PSK',
  maxVersion: 'TLSv1.2',
  pskCallback: () => Buffer.alloc(32, 7),
} as const;
const CLIENT_PSK = {
  ...PSK,
  pskCallback: () => ({ psk: Buffer.alloc(32, 7), identity: 'test' }),
  checkServerIdentity: () => undefined,
} as const;

interface Received {
  readonly status: number;
  readonly text: string;
  /** Whether a client takes it for the whole: by the protocol, nothing is missing. */
  readonly whole: boolean;
}

interface Call {
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  readonly headers?: readonly string[];
}

type Receive = (call: Call) => Promise<Received>;

/** What a connection gets until it is closed. */
function readAll(socket: Socket, sent: string): Promise<{ readonly text: string; readonly ended: boolean }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let ended = false;
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => (ended = true));
    socket.on('error', () => (ended = false));
    socket.on('close', () => {
      resolve({ text: Buffer.concat(chunks).toString(), ended });
    });
    socket.write(sent);
  });
}

function toText({ path, method = 'GET', headers = [] }: Call, version: string): string {
  return [`${method} ${path} HTTP/${version}`, 'Host: h', ...headers, '', ''].join('\r\n');
}

/** By HTTP/1.0 a body without a length ends with its connection. */
function http10(open: (port: number) => Socket, ...headers: readonly string[]): Receive {
  return async (call) => {
    const { text, ended } = await readAll(open(call.port), toText({ ...call, headers }, '1.0'));
    return { status: Number(text.slice(9, 12)), text, whole: ended && text.includes('\r\n\r\n') };
  };
}

/** By HTTP/1.1 the last chunk says that nothing is missing. */
function http11(open: (port: number) => Socket): Receive {
  return async (call) => {
    const { text } = await readAll(
      open(call.port),
      toText({ ...call, headers: ['Connection: close'] }, '1.1'),
    );
    return {
      status: Number(text.slice(9, 12)),
      text,
      whole: text.endsWith(call.method === 'HEAD' ? '\r\n\r\n' : '\r\n0\r\n\r\n'),
    };
  };
}

function http2(scheme: 'http' | 'https'): Receive {
  return async ({ port, path, method = 'GET' }) => {
    const session = connectHttp2(`${scheme}://127.0.0.1:${port}`, scheme === 'https' ? CLIENT_PSK : {});
    const received = await readStream(session, { ':path': path, ':method': method });
    session.destroy();
    return received;
  };
}

function readStream(session: ClientHttp2Session, headers: OutgoingHttpHeaders): Promise<Received> {
  return new Promise((resolve, reject) => {
    session.once('error', reject);
    const stream = session.request(headers);
    let status = 0;
    let text = '';
    stream.on('response', (received) => (status = Number(received[':status'])));
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    stream.on('error', () => undefined);
    stream.on('close', () => {
      session.off('error', reject);
      resolve({ status, text, whole: stream.rstCode === 0 });
    });
  });
}

const plain = (port: number): Socket => connect(port, '127.0.0.1');
const encrypted = (port: number): Socket => connectTls({ ...CLIENT_PSK, port, host: '127.0.0.1' });

const HTTP_1 = [
  ['HTTP/1.1', http11(plain)],
  ['HTTP/1.0', http10(plain)],
  ['HTTP/1.0 with keep-alive', http10(plain, 'Connection: keep-alive')],
] as const;
const HTTPS_1 = [
  ['HTTP/1.1 over TLS', http11(encrypted)],
  ['HTTP/1.0 over TLS', http10(encrypted)],
] as const;

interface Server {
  readonly name: string;
  readonly settings: Partial<AppSettings>;
  readonly protocols: readonly (readonly [name: string, receive: Receive])[];
}

const SERVERS: readonly Server[] = [
  { name: 'Express', settings: {}, protocols: HTTP_1 },
  { name: 'Express with TLS', settings: { nest: { httpsOptions: PSK } }, protocols: HTTPS_1 },
  {
    name: 'Express with HTTP/2',
    settings: { adapter: () => new Http2ExpressAdapter() },
    protocols: [['HTTP/2 without TLS', http2('http')]],
  },
  { name: 'Fastify', settings: { fastify: {} }, protocols: HTTP_1 },
  { name: 'Fastify with TLS', settings: { fastify: { https: PSK } }, protocols: HTTPS_1 },
  {
    name: 'Fastify with HTTP/2',
    settings: { fastify: { http2: true } },
    protocols: [['HTTP/2 without TLS', http2('http')]],
  },
  {
    name: 'Fastify with HTTP/2 and TLS',
    settings: { fastify: { http2: true, https: { ...PSK, allowHTTP1: true } } },
    protocols: [['HTTP/2', http2('https')], ...HTTPS_1],
  },
];

const LIBRARIES: readonly (readonly [name: string, settings: Partial<AppSettings>])[] = [
  ['Express', {}],
  ['Fastify', { fastify: {} }],
];

/** The last of them is nginx' default. */
const PROXIES = [
  {
    name: 'HTTP/1.1 and kept connections',
    upstream: 'keepalive 4;',
    location: 'proxy_http_version 1.1; proxy_set_header Connection "";',
  },
  { name: 'HTTP/1.0 without buffers', upstream: '', location: 'proxy_buffering off;' },
  { name: 'HTTP/1.0', upstream: '', location: '' },
] as const;

async function start(settings: Partial<AppSettings>): Promise<StartedApp> {
  const started = await startApp({
    compare: false,
    undescribed: 'all',
    entities: [Note, Page, Tag, Owner],
    controllers: [OwnerController],
    ...settings,
    nest: { ...settings.nest, logger },
  });
  const { dataSource } = started;
  await dataSource.getRepository(Owner).insert({ id: 1 });
  const rows = `WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ${ROWS})`;
  await dataSource.query(`${rows} INSERT INTO broken_note (id, ownerId) SELECT id, 1 FROM n`);
  await dataSource.query(`${rows} INSERT INTO broken_page (id) SELECT id FROM n`);
  await dataSource.query(`${rows} INSERT INTO broken_tag (id) SELECT id FROM n`);
  await dataSource.query(
    `${rows} INSERT INTO broken_owner_tag (brokenOwnerId, brokenTagId) SELECT 1, id FROM n`,
  );
  return started;
}

function testLists(receive: Receive, portOf: () => number, lists: readonly List[] = LISTS): void {
  test.each(lists)('%s', async (_name, path) => {
    logged.length = 0;
    const whole = await receive({ port: portOf(), path });
    expect([whole.status, whole.whole]).toEqual([200, true]);
    expect(whole.text).toContain(String(ROWS));
    isFailing = true;
    const broken = await receive({ port: portOf(), path });
    expect([broken.status, broken.whole, broken.text.includes(String(FAILING))]).toEqual([200, false, false]);
    expect(logged).toEqual([
      expect.stringMatching(/^GET \S+ failed \(broken\.\w+, \w+\): Error: This row cannot be read$/),
    ]);
    // The rest of a list is not read for HEAD.
    const head = await receive({ port: portOf(), path, method: 'HEAD' });
    expect([head.status, head.whole]).toEqual([200, true]);
  });
}

let started: StartedApp;
beforeEach(() => {
  isFailing = false;
});

describe.each(SERVERS)('$name', ({ settings, protocols }) => {
  beforeAll(async () => {
    started = await start(settings);
  });
  afterAll(() => started.close());

  describe.each(protocols)('by %s does not let a client take a part for the whole of', (_name, receive) => {
    testLists(receive, () => started.port);
  });
});

const [[, JSON_LIST]] = LISTS;

describe.each(LIBRARIES)('pipelined requests on %s', (_name, settings) => {
  beforeAll(async () => {
    started = await start(settings);
  });
  afterAll(() => started.close());

  test('have their responses up to a list that breaks off, and none after it', async () => {
    isFailing = true;
    const requests = [OWNER, JSON_LIST, OWNER].map((path) => toText({ port: 0, path }, '1.1'));
    const { text, ended } = await readAll(connect(started.port, '127.0.0.1'), requests.join(''));
    const [, first = '', second = '', ...others] = text.split('HTTP/1.1 200 OK');
    expect(first.slice(first.indexOf('{'))).toBe(`{"id":1,"notes":"${OWNER}notes/","tags":"${OWNER}tags/"}`);
    expect([second.includes('"id":1,'), second.endsWith('\r\n0\r\n\r\n'), others, ended]).toEqual([
      true,
      false,
      [],
      false,
    ]);
  });

  test('on a kept connection, a list that breaks off is not taken for a whole one behind one that was whole', async () => {
    const socket = connect(started.port, '127.0.0.1');
    const received = readAll(socket, toText({ port: 0, path: JSON_LIST }, '1.1'));
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        if (chunk.toString().endsWith('\r\n0\r\n\r\n')) resolve();
      });
    });
    isFailing = true;
    socket.write(toText({ port: 0, path: JSON_LIST }, '1.1'));
    const { text, ended } = await received;
    expect([text.split('HTTP/1.1 200 OK').length, text.split('\r\n0\r\n').length, ended]).toEqual([
      3,
      2,
      false,
    ]);
  });
});

test('other streams of a connection of HTTP/2 go on', async () => {
  started = await start({ fastify: { http2: true } });
  isFailing = true;
  const session = connectHttp2(`http://127.0.0.1:${started.port}`);
  const [list, object] = await Promise.all([
    readStream(session, { ':path': JSON_LIST }),
    readStream(session, { ':path': OWNER }),
  ]);
  const later = await readStream(session, { ':path': OWNER });
  expect([list, object, later].map(({ status, whole }) => [status, whole])).toEqual([
    [200, false],
    [200, true],
    [200, true],
  ]);
  session.destroy();
  await started.close();
});

/** One of each format; a proxy does not see what is in it. */
const PROXIED = LISTS.filter(([name]) => /JSON|CSV|action/.test(name));

/** Without nginx the tests are skipped, and fail in CI: `scripts/install-programs.mjs` installs it. */
const describeWithNginx =
  findNginx() !== undefined || process.env.CI !== undefined ? describe : describe.skip;

describeWithNginx.each(LIBRARIES)('%s behind nginx', (_name, settings) => {
  beforeAll(async () => {
    started = await start(settings);
  });
  afterAll(() => started.close());

  describe.each(PROXIES)('over $name', ({ upstream, location }) => {
    let [secure, proxy]: Partial<Awaited<ReturnType<typeof launchNginx>>>[] = [];
    beforeAll(async () => {
      const given = { upstream: `server 127.0.0.1:${started.port}; ${upstream}`, location };
      [proxy, secure] = await Promise.all([launchNginx(given), launchNginx({ ...given, listen: 'http2' })]);
    });
    afterAll(() => Promise.all([proxy?.stop?.(), secure?.stop?.()]));

    describe('and HTTP/1.1 to the client', () => {
      testLists(http11(plain), () => proxy?.port ?? 0, PROXIED);
    });
    describe('and HTTP/2 to the client', () => {
      testLists(http2('http'), () => secure?.port ?? 0, PROXIED);
    });
  });
});
