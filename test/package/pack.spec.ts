// @tags nest
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '../support/client.js';
import { WORLD } from '../support/world.js';
import { FRESH, writeFiles } from './fresh-application.js';
import { packPackage } from './pack-package.js';

const run = promisify(execFile);

/** npm packs, installs from the registry, and a process boots: a minute on a slow line. */
jest.setTimeout(300_000);

let folder: string;
let tarball: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'restify-pack-'));
  ({ tarball } = await packPackage(folder));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe(`a fresh application of ${WORLD.name}, as ${WORLD.format}`, () => {
  const application = FRESH[WORLD.name];
  let app: string;
  beforeAll(async () => {
    app = join(folder, 'app');
    await writeFiles(app, application);
    await run('npm', ['install', '--no-audit', '--no-fund', tarball, ...application.packages], { cwd: app });
  });

  test('compiles against its types, boots and serves', async () => {
    for (const more of application.compilations) await run('npx', ['tsc', '-p', '.', ...more], { cwd: app });
    await expectToServe(app);
  });

  test('passes its own tests in Jest', async () => {
    const { stderr } = await run('npx', ['jest', '--ci'], {
      cwd: app,
      env: { ...outside(), NODE_OPTIONS: application.nodeOptions },
    });
    expect(stderr).toMatch(/^Tests: +3 passed, 3 total$/m);
  });

  test('can load the other build as well', async () => {
    await writeFile(join(app, application.otherFormat.file), application.otherFormat.source);
    const { stdout } = await run(process.execPath, ['--no-warnings', application.otherFormat.file], {
      cwd: app,
    });
    expect(stdout.trim()).toBe('function function');
  });

  test('boots and serves at the lower ends of the peer ranges', async () => {
    await run('npm', ['install', '--no-audit', '--no-fund', ...application.oldest], { cwd: app });
    await run('npx', ['tsc', '-p', '.'], { cwd: app });
    await expectToServe(app);
  });
});

/** Of the environment in which Jest runs these tests, what an application on its own has. */
function outside(): NodeJS.ProcessEnv {
  const { JEST_WORKER_ID: _, NODE_ENV: __, NODE_OPTIONS: ___, ...environment } = process.env;
  return environment;
}

async function expectToServe(app: string): Promise<void> {
  const server = spawn(process.execPath, ['main.js'], {
    cwd: app,
    env: outside(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const client = new Client(await portOf(server));
    expect((await client.get('/')).json).toEqual({
      'rest/v1/blog/draft': `http://127.0.0.1:${client.port}/rest/v1/blog/draft/`,
      'rest/v1/blog/post': `http://127.0.0.1:${client.port}/rest/v1/blog/post/`,
    });
    const created = await client.post('/rest/v1/blog/post/', { title: 'Hello' });
    expect([created.status, created.json]).toEqual([201, { id: 1, title: 'Hello' }]);
    expect((await client.get('/rest/v1/blog/post/?title=Hello')).json).toEqual([{ id: 1, title: 'Hello' }]);
    expect((await client.get('/rest/v1/blog/post/2/')).status).toBe(404);
  } finally {
    server.kill('SIGTERM');
  }
}

function portOf(server: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    server.stdout?.on('data', (chunk: Buffer) => {
      const port = /^PORT (\d+)$/m.exec(chunk.toString())?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    server.on('exit', (code) => {
      reject(new Error(`The application ended with ${code}`));
    });
  });
}
