// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { dirname, join } from 'node:path';
import type { SampleProcess } from '../sample-app/sample-process.js';
import { findNginx, launchNginx } from '../support/launch-nginx.cjs';
import { readDocument } from './document.js';
import { ExampleFiles } from './examples.js';
import { runProgram } from './run-program.js';

/** It is missing where scripts/install-programs.mjs could not install it; CI must have it. */
const describeNginx = findNginx() !== undefined || process.env.CI !== undefined ? describe : describe.skip;

const PAGE = readDocument('docs/operate/deployment.md');
const HOST = 'api.example.com';
const PRODUCTS = '/rest/v1/shop/product/';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the client: any address of the loopback. */
  readonly from?: string;
}

const files = new ExampleFiles('docs-deployment');
const agent = new Agent({ keepAlive: true });
let main: string;
let processes: SampleProcess[] = [];
let nginx: Awaited<ReturnType<typeof launchNginx>> | undefined;

/** Writes the application of the page, with what its processes share in a file, and authentication. */
function writeApplication(): string {
  const module = files.write(PAGE).find((path) => path.endsWith('app.module.ts')) ?? '';
  const replaced = [
    ["database: ':memory:'", "database: 'shop.sqlite', enableWAL: true"],
    ['permissions: [AllowAny]', 'permissions: [AllowAny], authentication: [basic(() => null)]'],
    ['AllowAny, Restify,', 'AllowAny, basic, Restify,'],
  ] as const;
  const source = replaced.reduce(
    (text, [from, to]) => {
      expect(text).toContain(from);
      return text.replace(from, to);
    },
    readFileSync(module, 'utf8'),
  );
  writeFileSync(module, source);
  return join(dirname(module), 'main.ts');
}

/** The configuration of the page, with ports that are free and a certificate that exists. */
function configurationFor(listen: string, folder: string): string {
  const [, shown = ''] = /^```nginx\n([^]*?)^```/m.exec(PAGE.text) ?? [];
  const key = join(folder, 'key.pem');
  const certificate = join(folder, 'certificate.pem');
  const subject = ['-subj', `/CN=${HOST}`, '-keyout', key, '-out', certificate];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject], { stdio: 'ignore' });
  // Run by root, nginx runs as a user who may not read what is root's alone.
  chmodSync(key, 0o644);
  const [first, second] = processes;
  const replaced = [
    ['listen 443 ssl', `listen ${listen} ssl`],
    ['127.0.0.1:3000', `127.0.0.1:${first?.port ?? 0}`],
    ['127.0.0.1:3001', `127.0.0.1:${second?.port ?? 0}`],
    [`/etc/ssl/${HOST}.pem`, certificate],
    [`/etc/ssl/${HOST}.key`, key],
  ] as const;
  return replaced.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  }, shown);
}

beforeAll(async () => {
  if (findNginx() === undefined) return;
  main = writeApplication();
  processes = [await runProgram(main), await runProgram(main)];
  nginx = await launchNginx({ http: (listen) => configurationFor(listen, dirname(main)) });
});
afterAll(async () => {
  agent.destroy();
  await nginx?.stop();
  for (const each of processes) await each.kill();
  files.remove();
});

function send({ method = 'GET', path, body, headers = {}, from = '127.0.0.1' }: Call): Promise<Answer> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sending = request({
      agent,
      host: '127.0.0.1',
      port: nginx?.port,
      servername: HOST,
      rejectUnauthorized: false,
      localAddress: from,
      method,
      path,
      headers: { host: HOST, ...type, ...headers },
    });
    sending.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', reject).on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    sending.end(body);
  });
}

function create(name: string): Promise<Answer> {
  return send({ method: 'POST', path: PRODUCTS, body: JSON.stringify({ name }) });
}

describeNginx('the two processes of docs/operate/deployment.md behind its nginx', () => {
  test('answer with links of the public scheme and host', async () => {
    const { status, headers } = await create('Pen');
    expect([status, headers.location]).toEqual([201, `https://${HOST}${PRODUCTS}1/`]);
    const { text } = await send({ path: '/' });
    expect(JSON.parse(text)).toEqual({ 'rest/v1/shop/product': `https://${HOST}${PRODUCTS}` });
  });

  test('are ready', async () => {
    const { status, text } = await send({ path: '/health' });
    expect([status, text]).toEqual([200, '{"status":"ok"}']);
  });

  test('take bodies up to the limit of nginx', async () => {
    const [fits, exceeds] = await Promise.all([create('n'.repeat(90_000)), create('n'.repeat(150_000))]);
    expect([fits.status, fits.text, exceeds.status]).toEqual([
      400,
      '{"name":["Ensure this field has no more than 100 characters."]}',
      413,
    ]);
  });

  test('count wrong passwords by the address of the client, which it cannot choose', async () => {
    const wrong = (from: string, more: Readonly<Record<string, string>> = {}): Promise<Answer> => {
      const authorization = `Basic ${Buffer.from('ada:wrong').toString('base64')}`;
      return send({ path: PRODUCTS, from, headers: { authorization, ...more } });
    };
    const statuses = [];
    // Each process counts for itself: ten times each.
    for (let attempt = 0; attempt < 30; attempt++) statuses.push((await wrong('127.0.0.2')).status);
    expect(statuses.slice(0, 10)).toEqual(Array<number>(10).fill(401));
    expect(statuses.slice(-4)).toEqual([429, 429, 429, 429]);
    expect((await wrong('127.0.0.2', { 'x-forwarded-for': '127.0.0.9' })).status).toBe(429);
    expect([(await wrong('127.0.0.3')).status, (await wrong('127.0.0.3')).status]).toEqual([401, 401]);
  });

  test('restart one after the other without a failed read; a write may meet a connection that closes', async () => {
    const failed: string[] = [];
    const written: number[] = [];
    let running = true;
    let count = 0;
    const use = async (): Promise<void> => {
      while (running) {
        written.push((await create('Pen')).status);
        const { status, text } = await send({ path: `${PRODUCTS}1/` });
        count += 2;
        if (status >= 400) failed.push(`${status} ${text}`);
      }
    };
    const users = [use(), use(), use()];
    for (const [index, each] of processes.entries()) {
      expect(await each.stop('SIGTERM')).toBe(0);
      processes[index] = await runProgram(main, each.port);
    }
    running = false;
    await Promise.all(users);
    expect(failed).toEqual([]);
    // nginx does not repeat a POST.
    const lost = written.filter((status) => status !== 201);
    expect(new Set([502, ...lost])).toEqual(new Set([502]));
    expect(lost.length).toBeLessThan(written.length / 10);
    expect(count).toBeGreaterThan(100);
  });
});
