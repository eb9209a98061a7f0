'use strict';
const { randomBytes } = require('node:crypto');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { findProgram, LOOPBACK, pathFolders, startServer } = require('./start-server.cjs');

/** Where distributions put `mariadbd`, which is often not in the `PATH` of a user. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/bin', '/usr/local/bin', '/usr/libexec'];

/** Of the files that are made at first, and for each start afterwards. Nothing is kept, so nothing is made durable. */
const STORAGE = [
  '--no-defaults',
  '--skip-log-bin',
  '--debug-no-sync',
  '--innodb-flush-log-at-trx-commit=0',
  '--loose-innodb-flush-method=nosync',
  '--skip-innodb-doublewrite',
  '--innodb-log-file-size=32M',
  '--innodb-data-file-path=ibdata1:4M:autoextend',
  '--innodb-buffer-pool-size=128M',
];

/** Versions differ in their defaults of these; the session variables are those of every server. */
const SETTINGS = [
  `--bind-address=${LOOPBACK}`,
  '--skip-name-resolve',
  '--performance-schema=off',
  '--max-connections=200',
  '--character-set-server=utf8mb4',
  '--collation-server=utf8mb4_general_ci',
  // Else that of the process: tests run in other zones too.
  '--default-time-zone=+00:00',
];

/**
 * A MariaDB server of its own without durability, on a free port of the loopback, from binaries that are installed: of
 * `PATH` or of the folders of distributions. Undefined where there are no binaries.
 *
 * @returns {Promise<{ url: string, stop: () => Promise<void> } | undefined>}
 */
exports.launchMariadb = async function launchMariadb() {
  const folders = [...pathFolders(), ...FOLDERS];
  const installer = findProgram(['mariadb-install-db'], folders);
  const program = findProgram(['mariadbd', 'mysqld'], folders);
  if (!installer || !program) return undefined;
  const password = randomBytes(12).toString('hex');
  const { port, stop } = await startServer({
    name: 'mariadb',
    users: ['mysql', 'nobody'],
    plan: (folder, free) => {
      const [data, users] = [join(folder, 'data'), join(folder, 'users.sql')];
      // One statement a line. The folder is its owner's alone.
      writeFileSync(
        users,
        `CREATE USER root@'${LOOPBACK}' IDENTIFIED BY '${password}';\n` +
          `GRANT ALL ON *.* TO root@'${LOOPBACK}' WITH GRANT OPTION;\n` +
          'CREATE DATABASE test;\n',
      );
      const own = [`--port=${free}`, `--socket=${folder}/socket`, `--pid-file=${folder}/pid`];
      return {
        fill: {
          program: installer,
          args: [...STORAGE, `--datadir=${data}`, '--skip-test-db', '--skip-name-resolve'],
        },
        server: {
          program,
          args: [
            ...STORAGE,
            `--datadir=${data}`,
            `--tmpdir=${folder}`,
            `--init-file=${users}`,
            ...own,
            ...SETTINGS,
          ],
        },
        ready: 'ready for connections',
        // There is nothing that a shutdown would have to keep.
        signal: 'SIGKILL',
      };
    },
  });
  return { url: `mariadb://root:${password}@${LOOPBACK}:${port}/test`, stop };
};
