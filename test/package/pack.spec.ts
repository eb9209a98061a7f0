import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '../support/client.js';

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
  const [entry] = (Array.isArray(packed) ? packed : Object.values(packed as object)) as readonly { filename: string; files: readonly PackedFile[] }[];
  if (!entry) throw new Error('npm packed nothing');
  tarball = join(folder, entry.filename);
  files = entry.files.map(({ path }) => path);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('the tarball holds the two builds, their types, and what a reader needs, and nothing else', () => {
  const others = files.filter((path) => !/^dist\/(esm|cjs)\/.*(\.js|\.d\.ts|package\.json)$/.test(path));
  expect(others.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']);
  expect(files).toEqual(expect.arrayContaining(['dist/esm/index.js', 'dist/esm/index.d.ts', 'dist/cjs/index.js', 'dist/cjs/index.d.ts', 'dist/cjs/package.json']));
  expect(files.filter((path) => path.includes('.spec.'))).toEqual([]);
});

test('the package has no runtime dependency of its own', async () => {
  const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { dependencies?: object };
  expect(manifest.dependencies ?? {}).toEqual({});
});

test('boots and serves, with types, in a fresh NestJS 12 ESM application, and loads as CommonJS', async () => {
  const app = join(folder, 'app');
  await mkdir(app);
  await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'fresh', private: true, type: 'module' }));
  // sql.js compiles nothing.
  await run('npm', ['install', '--no-audit', '--no-fund', tarball, '@nestjs/common@12', '@nestjs/core@12', '@nestjs/platform-express@12', '@nestjs/typeorm@12', 'typeorm@1', 'sql.js', 'reflect-metadata', 'rxjs', 'typescript@~6.0.3', '@types/node@20'], { cwd: app });
  await writeFile(join(app, 'main.ts'), MAIN);
  await writeFile(join(app, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await run('npx', ['tsc', '-p', '.'], { cwd: app });

  const server = spawn(process.execPath, ['main.js'], { cwd: app, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const client = new Client(await portOf(server));
    expect((await client.get('/')).json).toEqual({ 'rest/v1/blog/post': `http://127.0.0.1:${client.port}/rest/v1/blog/post/` });
    const created = await client.post('/rest/v1/blog/post/', { title: 'Hello' });
    expect([created.status, created.json]).toEqual([201, { id: 1, title: 'Hello' }]);
    expect((await client.get('/rest/v1/blog/post/?title=Hello')).json).toEqual([{ id: 1, title: 'Hello' }]);
    expect((await client.get('/rest/v1/blog/post/2/')).status).toBe(404);
  } finally {
    server.kill('SIGTERM');
  }

  await writeFile(join(app, 'require.cjs'), "const { RestifyModule, Restify } = require('nestjs-restify'); console.log(typeof RestifyModule.forRoot, typeof Restify);");
  const { stdout } = await run(process.execPath, ['--no-warnings', 'require.cjs'], { cwd: app });
  expect(stdout.trim()).toBe('function function');
});

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

const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    strictPropertyInitialization: false,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    useDefineForClassFields: false,
    types: ['node'],
    skipLibCheck: true,
  },
  files: ['main.ts'],
};

const MAIN = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Restify, RestifyModule } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Restify({ app: 'blog', filterFields: ['title'] })
@Entity()
class Post {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 50 }) title: string;
}

@Module({
  imports: [TypeOrmModule.forRoot({ type: 'sqljs', entities: [Post], synchronize: true }), RestifyModule.forRoot('rest/v1')],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
await app.listen(0, '127.0.0.1');
console.log('PORT ' + app.getHttpServer().address().port);
`;
