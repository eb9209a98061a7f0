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
import type { Example, ShownCall } from './document.js';
import { ExampleFiles, expectShownAnswers, startExample } from './examples.js';

const README = readDocument('README.md');
const firstExample = README.parts.findIndex((part) => part.kind === 'example');
const sampleCalls = README.parts
  .slice(0, firstExample)
  .filter((part): part is ShownCall => part.kind === 'call');
const ownCalls = README.parts.slice(firstExample).filter((part): part is ShownCall => part.kind === 'call');
const examples = README.parts.filter((part): part is Example => part.kind === 'example');

describe('the answers of the sample application that README.md shows', () => {
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
    expect(sampleCalls.length).toBeGreaterThan(12);
    await expectShownAnswers(sampleCalls, client, README);
  });

  test('name every way of use: each method, a nested list, a through object, and errors', () => {
    const commands = sampleCalls.map(({ command }) => command).join('\n');
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
    const answers = sampleCalls.map(({ shown }) => shown).join('\n');
    for (const status of ['201', '400', '404', '405', '204'])
      expect(answers).toMatch(new RegExp(`^(HTTP/1.1 )?${status}\\b`, 'm'));
  });
});

describe("the application of one's own that README.md shows", () => {
  const files = new ExampleFiles('readme-examples');
  beforeAll(() => {
    files.write(README);
  });
  afterAll(() => {
    files.remove();
  });

  test('starts and answers what is shown', async () => {
    const module = examples.find(({ file }) => file.endsWith('app.module.ts'));
    if (!module) throw new Error('README.md shows no app.module.ts');
    const running = await startExample(files.pathOf(README, module));
    try {
      expect(ownCalls.length).toBeGreaterThan(0);
      if (running) await expectShownAnswers(ownCalls, running.client, README);
    } finally {
      await running?.close();
    }
  });
});
