// @tags core
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FRESH, writeFiles } from './fresh-application.js';
import { packPackage } from './pack-package.js';
import { environmentOutside, expectToServe } from './serve.js';

/** Several installations from the registry. */
jest.setTimeout(600_000);

const APPLICATION = FRESH['nest-12'];
const TOOLS = [
  '@nestjs/cli@12',
  '@nestjs/schematics@12',
  '@swc/cli@0.8',
  '@swc/core@1',
  'vitest@4',
  'unplugin-swc@1',
];
const BUNDLER = ['webpack@5', 'webpack-cli@6', 'ts-loader@9'];

const SWC = {
  sourceMaps: false,
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
  module: { type: 'es6' },
};

/** As Nest's own configuration, it keeps the names of classes, from which those of URLs are made. Other packages are not bundled. */
const WEBPACK = `
export default {
  mode: 'none', target: 'node', entry: './main.ts', output: { filename: 'bundle.cjs' },
  externals: [({ request }, done) => (/^(\\.|\\/|nestjs-restify)/.test(request) ? done() : done(null, 'commonjs ' + request))],
  resolve: { extensions: ['.ts', '.js'], extensionAlias: { '.js': ['.ts', '.js'] } },
  module: { rules: [{ test: /\\.ts$/, use: { loader: 'ts-loader', options: { transpileOnly: true } } }] },
};
`;

const VITEST = `
import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';
export default defineConfig({ plugins: [swc.vite({ module: { type: 'es6' } })], test: { include: ['*.vitest.ts'] } });
`;

let folder: string;
let app: string;
let tarball: string;

async function run(program: string, args: readonly string[], cwd = app): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [...args], { cwd, env: environmentOutside() });
  return stdout;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'restify-tools-'));
  ({ tarball } = await packPackage(folder));
  app = join(folder, 'app');
  await writeFiles(app, APPLICATION);
  const spec = (APPLICATION.files['app.spec.ts'] ?? '').replace("'@jest/globals'", "'vitest'");
  await writeFile(join(app, 'app.vitest.ts'), spec);
  await writeFile(join(app, 'vitest.config.mjs'), VITEST);
  await writeFile(join(app, 'webpack.config.mjs'), WEBPACK);
  await writeFile(join(app, '.swcrc'), JSON.stringify(SWC));
  await writeFile(join(app, 'nest-cli.json'), JSON.stringify({ sourceRoot: '.' }));
  await run('npm', [
    'install',
    '--no-audit',
    '--no-fund',
    tarball,
    ...APPLICATION.packages,
    ...TOOLS,
    ...BUNDLER,
  ]);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('nest build compiles an application', async () => {
  await run('npx', ['nest', 'build']);
  await expectToServe(app);
});

test('swc compiles an application', async () => {
  await run('npx', ['swc', 'main.ts', 'app.module.ts', '-d', 'swc', '--strip-leading-paths']);
  await expectToServe(app, [process.execPath, 'swc/main.js']);
});

test('webpack bundles the package with an application', async () => {
  await run('npx', ['webpack']);
  await expectToServe(app, [process.execPath, 'dist/bundle.cjs']);
});

test('an application passes its own tests in Vitest', async () => {
  expect(await run('npx', ['vitest', 'run'])).toMatch(/Tests .*3 passed/);
});

test('pnpm installs the package', async () => {
  const place = await copyCompiled('pnpm');
  await run('npx', ['--yes', 'pnpm@10', 'install', '--config.strict-peer-dependencies=true'], place);
  await expectToServe(place);
});

test("Yarn installs the package with Plug'n'Play", async () => {
  const place = await copyCompiled('yarn');
  const yarn = ['--yes', '--package=@yarnpkg/cli-dist@4', 'yarn'];
  await writeFile(join(place, 'yarn.lock'), '');
  await writeFile(
    join(place, '.yarnrc.yml'),
    'nodeLinker: pnp\nenableTelemetry: false\nenableScripts: false\n',
  );
  await run('npx', [...yarn, 'install', '--no-immutable'], place);
  await expectToServe(place, ['npx', ...yarn, 'node', 'main.js']);
});

/** The application that `nest build` has compiled, with what it needs at run time alone. */
async function copyCompiled(name: string): Promise<string> {
  const place = join(folder, name);
  await mkdir(place);
  for (const file of ['main.js', 'app.module.js']) await cp(join(app, file), join(place, file));
  const versions = [...APPLICATION.packages, 'nestjs-restify@file:' + tarball]
    .filter((each) => !/^(@types|jest|ts-jest|typescript|@nestjs\/testing)/.test(each))
    .map((each) => /^(.+?)@((?:file:)?[^@]+|file:.*)$/.exec(each) ?? []);
  const dependencies = Object.fromEntries(versions.map(([, name = '', range]) => [name, range]));
  const manifest = { name: 'fresh', private: true, type: 'module', dependencies };
  await writeFile(join(place, 'package.json'), JSON.stringify(manifest));
  return place;
}
