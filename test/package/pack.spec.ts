// @tags nest
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '../support/client.js';
import { WORLD } from '../support/world.js';
import { FRESH, writeFiles } from './fresh-application.js';

const run = promisify(execFile);

/** npm packs, installs from the registry, and a process boots: a minute on a slow line. */
jest.setTimeout(300_000);

interface PackedFile {
  readonly path: string;
}

let folder: string;
let tarball: string;
let files: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'restify-pack-'));
  // `--ignore-scripts`: `npm test` has built already, and a second build would pull `dist` away from other tests.
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]);
  const packed = JSON.parse(stdout) as unknown;
  const [entry] = (Array.isArray(packed) ? packed : Object.values(packed as object)) as readonly {
    filename: string;
    files: readonly PackedFile[];
  }[];
  if (!entry) throw new Error('npm packed nothing');
  tarball = join(folder, entry.filename);
  files = entry.files.map(({ path }) => path);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('the tarball holds the two builds, their types, and what a reader needs, and nothing else', () => {
  const others = files.filter((path) => !/^dist\/(esm|cjs)\/.*(\.js|\.d\.ts|package\.json)$/.test(path));
  expect(others.sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist/ui/assets.cjs',
    'package.json',
  ]);
  expect(files).toEqual(
    expect.arrayContaining([
      'dist/esm/index.js',
      'dist/esm/index.d.ts',
      'dist/cjs/index.js',
      'dist/cjs/index.d.ts',
      'dist/cjs/package.json',
    ]),
  );
  expect(files.filter((path) => path.includes('.spec.'))).toEqual([]);
});

test('the package has no runtime dependency of its own', async () => {
  const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { dependencies?: object };
  expect(manifest.dependencies ?? {}).toEqual({});
});

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
