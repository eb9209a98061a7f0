// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import type { INestApplication } from '@nestjs/common';
import type { AddressInfo, Server } from 'node:net';
import { DataSource } from 'typeorm';
import { AppModule } from '../../sample-app/src/app.module.js';
import { seed } from '../../sample-app/src/seed.js';
import { Client } from '../support/client.js';
import { readDocument } from './document.js';
import type { Example, Part, ShownCall } from './document.js';
import { ExampleFiles, expectShownAnswers, startExample } from './examples.js';

const TOUR = readDocument('docs/reference/tour.md');
const README = readDocument('README.md');
const tourCalls = TOUR.parts.filter((part): part is ShownCall => part.kind === 'call');

/** Each `AppModule` of the README with the calls that are shown below it. */
function applicationsOf(
  parts: readonly Part[],
): readonly { readonly example: Example; readonly calls: readonly ShownCall[] }[] {
  const found: { example: Example; calls: ShownCall[] }[] = [];
  for (const part of parts) {
    if (part.kind === 'example' && part.source.includes('class AppModule'))
      found.push({ example: part, calls: [] });
    if (part.kind !== 'call') continue;
    const last = found.at(-1);
    if (!last) throw new Error(`README.md:${part.line} shows an answer of no application`);
    last.calls.push(part);
  }
  return found;
}

test('README.md names the two commands of a fresh clone', () => {
  expect(README.text).toMatch(/^npm ci && npm start$/m);
  expect(README.text).toMatch(/^npm ci && npm test$/m);
});

describe('the answers of the sample application that docs/reference/tour.md shows', () => {
  let app: INestApplication;
  let client: Client;
  const before = process.env.DATABASE_URL;
  beforeAll(async () => {
    process.env.DATABASE_URL = 'sqlite::memory:';
    app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
    await seed(app.get(DataSource));
    await app.listen(0, '127.0.0.1');
    client = new Client(((app.getHttpServer() as Server).address() as AddressInfo).port);
  });
  afterAll(async () => {
    if (before === undefined) delete process.env.DATABASE_URL;
    else process.env.DATABASE_URL = before;
    await app.close();
  });

  test('are what comes back, one after the other', async () => {
    expect(tourCalls.length).toBeGreaterThan(12);
    await expectShownAnswers(tourCalls, client, TOUR);
  });

  test('name every way of use: each method, a nested list, a through object, and errors', () => {
    const commands = tourCalls.map(({ command }) => command).join('\n');
    for (const word of [
      '-d ',
      '-X PATCH',
      '-X DELETE',
      '-X OPTIONS',
      '/choices/',
      '/course_set/',
      'search=',
      'ordering=',
    ])
      expect(commands).toContain(word);
    const answers = tourCalls.map(({ shown }) => shown).join('\n');
    for (const status of ['201', '400', '404', '405', '204'])
      expect(answers).toMatch(new RegExp(`^(HTTP/1.1 )?${status}\\b`, 'm'));
  });
});

describe('the applications that README.md shows', () => {
  const files = new ExampleFiles('readme-examples');
  const applications = applicationsOf(README.parts);
  beforeAll(() => {
    files.write(README);
  });
  afterAll(() => {
    files.remove();
  });

  test('are the one of the introduction and the one that is added to an application', () => {
    expect(applications.map(({ example }) => example.file)).toEqual(['notes.ts', 'app.module.ts']);
  });

  test.each(applications)('$example.file starts and answers what is shown', async ({ example, calls }) => {
    expect(calls.length).toBeGreaterThan(0);
    const running = await startExample(files.pathOf(README, example));
    if (!running) throw new Error(`README.md:${example.line} is no application`);
    try {
      await expectShownAnswers(calls, running.client, README);
    } finally {
      await running.close();
    }
  });
});
