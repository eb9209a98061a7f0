// @tags nest
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WORLD } from '../support/world.js';
import { FRESH, writeFiles } from './fresh-application.js';
import { packPackage } from './pack-package.js';
import { environmentOutside, expectToServe } from './serve.js';

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
      env: { ...environmentOutside(), NODE_OPTIONS: application.nodeOptions },
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
