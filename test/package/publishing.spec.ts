// @tags core
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { packPackage } from './pack-package.js';
import type { PackedPackage } from './pack-package.js';

const run = promisify(execFile);

jest.setTimeout(180_000);

let folder: string;
let packed: PackedPackage;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'restify-publish-'));
  packed = await packPackage(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('the tarball has one bundle, an entry and its types for each format, the browsable page, and nothing else', () => {
  expect([...packed.files].sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist/index.cjs',
    'dist/index.d.cts',
    'dist/index.d.ts',
    'dist/index.js',
    'dist/load-package.cjs',
    'dist/package.cjs',
    'dist/page-assets.cjs',
    'package.json',
  ]);
});

test('the tarball has at most 520 kB', async () => {
  expect((await stat(packed.tarball)).size).toBeLessThanOrEqual(520_000);
});

test('the package has no runtime dependency of its own', async () => {
  const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { dependencies?: object };
  expect(manifest.dependencies ?? {}).toEqual({});
});

test('publint finds nothing', async () => {
  expect((await publint({ pkgDir: '.', strict: true, pack: false })).messages).toEqual([]);
});

test('the types fit the format in which each resolution loads the package', async () => {
  const { stdout } = await run(process.execPath, [
    'node_modules/@arethetypeswrong/cli/dist/index.js',
    packed.tarball,
    '--no-emoji',
  ]);
  expect(stdout).toContain('No problems found');
});

test.each(['index.js', 'index.cjs'])('classes and functions have their names in %s', async (file) => {
  const exported = (await import(join(process.cwd(), 'dist', file))) as Readonly<Record<string, unknown>>;
  // Nest's parameter decorators have none, in the source neither.
  const named = Object.entries(exported).filter(
    ([, value]) => typeof value === 'function' && value.name !== '',
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter(([name, value]) => (value as () => void).name !== name)).toEqual([]);
});
