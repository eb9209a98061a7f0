// @tags nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AddressInfo, Server } from 'node:net';
import { AppModule } from '../../sample-app/src/app.module.js';
import { Client } from '../support/client.js';

let app: INestApplication;
let client: Client;
const before = process.env.DATABASE_URL;
beforeAll(async () => {
  process.env.DATABASE_URL = 'sqlite::memory:';
  app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  client = new Client(((app.getHttpServer() as Server).address() as AddressInfo).port);
});
afterAll(async () => {
  if (before === undefined) delete process.env.DATABASE_URL;
  else process.env.DATABASE_URL = before;
  await app.close();
});

interface Lookup {
  readonly name: string;
  readonly lookup: string;
  readonly type: string;
  readonly choices?: readonly { readonly value: string }[];
}

const DESCRIPTION = 'application/vnd.restify.description+json';
const authorization = `Basic ${Buffer.from('admin:admin').toString('base64')}`;

function fittingValue({ lookup, type, choices: [choice] = [] }: Lookup): string {
  if (lookup === 'isnull') return 'true';
  if (choice !== undefined) return choice.value;
  return type === 'datetime' ? '2022-10-02T09:23:28Z' : '1';
}

/** A parameter that is ignored answers 200 too: values of another type are refused only where it is read. */
test('each lookup that the sample application offers is served', async () => {
  const statusOf = async (path: string, name: string, value: string): Promise<number> =>
    (await client.get(`${path}?${name}=${encodeURIComponent(value)}`, { headers: { authorization } })).status;
  const { json: index } = await client.get('/', { headers: { authorization } });
  const found: unknown[] = [];
  const expected: unknown[] = [];
  for (const { pathname } of Object.values(index as Record<string, string>).map((url) => new URL(url))) {
    const { json } = await client.send('OPTIONS', pathname, {
      headers: { authorization, accept: DESCRIPTION },
    });
    for (const each of (json as { readonly filters: readonly Lookup[] }).filters) {
      const { name, type } = each;
      found.push([pathname, name, await statusOf(pathname, name, fittingValue(each))]);
      expected.push([pathname, name, 200]);
      if (type === 'string') continue;
      found.push([pathname, name, await statusOf(pathname, name, 'no value')]);
      expected.push([pathname, name, 400]);
    }
  }
  expect(found).toEqual(expected);
  expect(found.length).toBeGreaterThan(60);
});
