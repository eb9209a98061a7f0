// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import type { INestApplication, Type } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { PROJECT, readDocument } from '../docs/document.js';
import { Client } from '../support/client.js';
import { FakeS3 } from './fake-s3.js';

/** Where the client of S3 is found, which `npm run worlds` has put there. */
const folder = join(PROJECT, `test/clients/packages/s3-store-${process.pid}`);

/** Writes the files of the page, with its other store in place of the first one. */
function writeExamples(): string {
  mkdirSync(folder);
  for (const part of readDocument('docs/recipes/uploads.md').parts)
    if (part.kind === 'example') writeFileSync(join(folder, part.file), part.source);
  const main = join(folder, 'documents.ts');
  const source = readFileSync(main, 'utf8')
    .replace('private readonly store: DiskStore', "@Inject('store') private readonly store: FileStore")
    .replace('providers: [DiskStore]', "providers: [{ provide: 'store', useFactory: loadStore }]");
  const load = `async function loadStore(): Promise<FileStore> {
  const { S3Store } = await import('./s3-store.js');
  return new S3Store();
}`;
  writeFileSync(main, `import { Inject } from '@nestjs/common';\n${source}\n${load}\n`);
  return main;
}

const settings = {
  S3_ENDPOINT: '',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
};
const before = { ...process.env };

let fake: FakeS3;
let app: INestApplication;
let client: Client;

beforeAll(async () => {
  fake = await FakeS3.start();
  Object.assign(process.env, settings, { S3_ENDPOINT: fake.url });
  const { AppModule } = (await import(writeExamples())) as { readonly AppModule: Type };
  app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  client = new Client(((app.getHttpServer() as Server).address() as AddressInfo).port);
  await client.post('/rest/v1/files/document/', { name: 'Plan' });
});
afterAll(async () => {
  await app.close();
  await fake.close();
  rmSync(folder, { recursive: true, force: true });
  for (const name of Object.keys(settings))
    if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = before[name];
});

describe('the S3 store of docs/recipes/uploads.md', () => {
  const headers = { 'content-type': 'application/octet-stream' };

  test.each([
    { name: 'a small file in one request', size: 10_000, requests: [/^PUT/] },
    {
      name: 'a large file in parts',
      size: 12_000_000,
      requests: [
        /^POST .*\?uploads$/,
        /^PUT .*\?part$/,
        /^PUT .*\?part$/,
        /^PUT .*\?part$/,
        /^POST .*\?part$/,
      ],
    },
  ])('stores and returns $name', async ({ size, requests }) => {
    const raw = randomBytes(size);
    fake.requests.length = 0;
    const stored = await client.send('PUT', '/rest/v1/files/document/1/content/', { raw, headers });
    expect(stored.status).toBe(204);
    expect(fake.requests).toEqual(requests.map((pattern) => expect.stringMatching(pattern)));
    const [key] = [...fake.objects.keys()].slice(-1);
    expect(key).toMatch(/^\/documents\/[0-9a-f-]{36}$/);
    expect(fake.objects.get(key ?? '')?.equals(raw)).toBe(true);
    const {
      status,
      text: sent,
      headers: sentHeaders,
    } = await client.get('/rest/v1/files/document/1/download/');
    expect([status, sentHeaders['content-type']]).toEqual([200, 'application/octet-stream']);
    expect(sent).toBe(raw.toString('utf8'));
  });

  test('leaves neither a file nor parts of one where a client breaks off', async () => {
    const stored = [...fake.objects.keys()];
    const { port } = client;
    const path = '/rest/v1/files/document/1/content/';
    const length = { 'content-length': 12_000_000 };
    const sending = request({
      host: '127.0.0.1',
      port,
      method: 'PUT',
      path,
      headers: { ...headers, ...length },
    });
    sending.on('error', () => undefined);
    fake.requests.length = 0;
    sending.write(randomBytes(6_000_000));
    await until(() => fake.requests.some((each) => each.endsWith('?part')));
    sending.destroy();
    await until(() => fake.openUploads === 0);
    expect([...fake.objects.keys()]).toEqual(stored);
    expect(fake.requests.at(-1)).toMatch(/^DELETE /);
  });
});

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`It has not happened: ${fake.requests.join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
