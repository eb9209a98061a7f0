// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { apiDocument } from '../../sample-app/src/api-document.js';
import { AppModule } from '../../sample-app/src/app.module.js';

const run = promisify(execFile);

/** Three processes one after the other, and the second checks types. */

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
/** Below the project, so that the client's packages are found. */
const FOLDER = join(PROJECT, 'dist', `typed-client-${process.pid}`);

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2023', 'DOM'],
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    types: ['node'],
    rootDir: '.',
    outDir: 'built',
  },
  files: ['typed-client.ts'],
};

let app: INestApplication;
let url: string;
const before = process.env.DATABASE_URL;

beforeAll(async () => {
  process.env.DATABASE_URL = 'sqlite::memory:';
  app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  url = `http://127.0.0.1:${((app.getHttpServer() as Server).address() as AddressInfo).port}`;
  mkdirSync(FOLDER, { recursive: true });
});

afterAll(async () => {
  if (before === undefined) delete process.env.DATABASE_URL;
  else process.env.DATABASE_URL = before;
  rmSync(FOLDER, { recursive: true, force: true });
  await app.close();
});

/** Of this project, whatever the shell has. */
async function node(script: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(PROJECT, script), ...args], {
    cwd: FOLDER,
    env: { ...process.env, NODE_OPTIONS: '' },
  }).catch((error: unknown) => {
    throw new Error(
      `${script} fails:\n${(error as { stdout?: string }).stdout ?? ''}${(error as { stderr?: string }).stderr ?? ''}`,
    );
  });
  return stdout;
}

test('a client with the types that openapi-typescript makes of the document compiles, and runs against the sample application', async () => {
  writeFileSync(join(FOLDER, 'openapi.json'), JSON.stringify(apiDocument(app)));
  copyFileSync(join(PROJECT, 'test/fixtures/typed-client.ts'), join(FOLDER, 'typed-client.ts'));
  writeFileSync(join(FOLDER, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  writeFileSync(join(FOLDER, 'package.json'), JSON.stringify({ type: 'module' }));
  await node('node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'schema.d.ts');
  await node('node_modules/typescript/bin/tsc', '-p', '.');
  const answers = JSON.parse(
    await node(join('dist', `typed-client-${process.pid}`, 'built/typed-client.js'), url),
  ) as unknown;
  expect(answers).toEqual({
    question: {
      id: 'pk',
      question_text: 'Typed?',
      pub_date: '2022-10-02T09:23:28.297Z',
      choices: '/rest/v1/polls/question/pk/choices/',
    },
    ordered: ['No', 'Yes'],
    nested: 2,
    changed: 'Typed!',
    refused: { question_text: ['This field may not be blank.'] },
    taken: true,
    left: 204,
    anonymous: { detail: 'Authentication credentials were not provided.' },
    known: [],
    gone: 204,
    unknown: { detail: 'Not found.' },
  });
});
