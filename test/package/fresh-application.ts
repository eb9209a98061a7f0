import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '../support/world.js';

/** What an author installs and writes to begin an application, as the command line of that version of Nest lays it out. */
export interface FreshApplication {
  /** Installed as they are written, beside the tarball. */
  readonly packages: readonly string[];
  /** The lower ends of the peer ranges, or the first versions above them that npm can install: some packages of NestJS 12.0.0 want 11. */
  readonly oldest: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** Arguments of `tsc`, one compilation each: the last one makes what is run. */
  readonly compilations: readonly (readonly string[])[];
  /** With which Node runs Jest. */
  readonly nodeOptions: string;
  /** Loads the other build than the application does, and prints `function function`. */
  readonly otherFormat: { readonly file: string; readonly source: string };
}

/** sql.js compiles nothing. */
const COMMON = ['sql.js@1', 'reflect-metadata@0.2', 'rxjs@7', '@types/node@20', 'jest@30', 'ts-jest@29'];
const NAMES = ['common', 'core', 'platform-express', 'testing', 'typeorm'].map((name) => `@nestjs/${name}`);
const PRINT = 'console.log(typeof RestifyModule.forRoot, typeof Restify);';

const MODULE = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { basic, IsAuthenticated, Restify, RestifyModule } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Restify({ app: 'blog', filterFields: ['title'] })
@Entity()
export class Post {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 50 }) title: string;
}

@Restify({
  app: 'blog',
  authentication: [basic((name, password) => (name === password ? { name } : null))],
  permissions: [IsAuthenticated],
})
@Entity()
export class Draft {
  @PrimaryGeneratedColumn() id: number;
}

@Module({
  imports: [TypeOrmModule.forRoot({ type: 'sqljs', entities: [Post, Draft], synchronize: true }), RestifyModule.forRoot('rest/v1')],
})
export class AppModule {}
`;

const MAIN = `
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function main() {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  console.log('PORT ' + app.getHttpServer().address().port);
}
void main();
`;

const SPEC = `
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { isRestException, InvalidInput } from 'nestjs-restify';
import { DataSource } from 'typeorm';
import { AppModule, Post } from './app.module.js';

let app: INestApplication;
let url: string;

beforeAll(async () => {
  app = (await Test.createTestingModule({ imports: [AppModule] }).compile()).createNestApplication();
  await app.listen(0, '127.0.0.1');
  url = (await app.getUrl()) + '/rest/v1/blog/post/';
});
afterAll(() => app.close());

test('serves the entity', async () => {
  await app.get(DataSource).getRepository(Post).save({ title: 'Hello' });
  const answer = await fetch(url + '?title=Hello');
  expect([answer.status, await answer.json()]).toEqual([200, [{ id: 1, title: 'Hello' }]]);
  const refused = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  expect([refused.status, await refused.json()]).toEqual([400, { title: ['This field is required.'] }]);
});

test('authenticates by HTTP Basic without Passport', async () => {
  const statusFor = async (credentials: string): Promise<number> => {
    const headers = { authorization: 'Basic ' + Buffer.from(credentials).toString('base64') };
    return (await fetch(url.replace('/post/', '/draft/'), { headers })).status;
  };
  expect([await statusFor('ada:ada'), await statusFor('ada:eve')]).toEqual([200, 401]);
});

test('knows the errors of the package', () => {
  expect(isRestException(InvalidInput.of('title', 'no'))).toBe(true);
});
`;

const SOURCES = { 'app.module.ts': MODULE, 'main.ts': MAIN, 'app.spec.ts': SPEC };

export const FRESH: Readonly<Record<World['name'], FreshApplication>> = {
  'nest-12': {
    packages: [...NAMES.map((name) => `${name}@12`), 'typeorm@1', 'typescript@~6.0.3', ...COMMON],
    oldest: [...NAMES.map((name) => `${name}@12.0.1`), 'typeorm@1.0.0'],
    files: {
      'package.json': JSON.stringify({ name: 'fresh', private: true, type: 'module' }),
      'tsconfig.json': tsconfig({ module: 'nodenext' }),
      'jest.config.js': `export default { preset: 'ts-jest/presets/default-esm', testRegex: '\\\\.spec\\\\.ts$', moduleNameMapper: { '^(\\\\.{1,2}/.*)\\\\.js$': '$1' } };\n`,
      ...SOURCES,
    },
    compilations: [[]],
    nodeOptions: '--experimental-vm-modules --no-warnings',
    otherFormat: {
      file: 'other.cjs',
      source: `const { Restify, RestifyModule } = require('nestjs-restify'); ${PRINT}`,
    },
  },
  'nest-11': {
    packages: [...NAMES.map((name) => `${name}@11`), 'typeorm@0.3', 'typescript@5', ...COMMON],
    oldest: [...NAMES.map((name) => `${name}@11.0.0`), 'typeorm@0.3.20'],
    files: {
      'package.json': JSON.stringify({ name: 'fresh', private: true }),
      'tsconfig.json': tsconfig({ module: 'commonjs', esModuleInterop: true }),
      'jest.config.js': `module.exports = { preset: 'ts-jest', testRegex: '\\\\.spec\\\\.ts$', moduleNameMapper: { '^(\\\\.{1,2}/.*)\\\\.js$': '$1' } };\n`,
      ...SOURCES,
    },
    // Applications of NestJS 11 have either: one finds the types by `types`, the other by `exports`.
    compilations: [['--module', 'nodenext', '--moduleResolution', 'nodenext', '--noEmit'], []],
    nodeOptions: '',
    otherFormat: {
      file: 'other.mjs',
      source: `import { Restify, RestifyModule } from 'nestjs-restify'; ${PRINT}`,
    },
  },
};

export async function writeFiles(directory: string, { files }: FreshApplication): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
}

function tsconfig(format: object): string {
  return JSON.stringify({
    compilerOptions: {
      target: 'es2022',
      ...format,
      strict: true,
      strictPropertyInitialization: false,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      useDefineForClassFields: false,
      isolatedModules: true,
      types: ['node'],
      skipLibCheck: true,
    },
    files: ['main.ts', 'app.spec.ts'],
  });
}
