'use strict';
const { execFileSync, spawn } = require('node:child_process');
const { chownSync, existsSync, mkdtempSync, rmSync, statfsSync } = require('node:fs');
const { createServer } = require('node:net');
const { tmpdir } = require('node:os');
const { delimiter, join } = require('node:path');

const KEEPER = join(__dirname, 'keep-server.cjs');
const TIMEOUT = 60_000;
const MEMORY = '/dev/shm';
/** What must be free there: a server takes about 60 MB, and the tests' databases come on top. */
const ROOM = 2 * 1024 ** 3;

exports.LOOPBACK = '127.0.0.1';

/**
 * Starts a server of the tests' own in a new folder, in memory where there is room, which is removed when it stops. It stops with this
 * process at the latest: `keep-server.cjs` sees to it.
 *
 * `plan` gets the folder and a free port of the loopback, and gives the program that fills the folder, the server
 * (`{ program, args }` each), the pattern of what it writes when it takes connections (`ready`), and the signal that ends
 * it. Run by root, both run as the first of `users` that there is.
 *
 * @returns {Promise<{ port: number, stop: () => Promise<void> }>}
 */
exports.startServer = async function startServer({ name, users, plan }) {
  const folder = mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), `restify-${name}-`));
  try {
    const owner = ownerOf(folder, users);
    const port = await freePort();
    const keeper = spawn(
      process.execPath,
      [KEEPER, JSON.stringify({ folder, owner, ...plan(folder, port) })],
      {
        // In a session of its own: Ctrl-C is for the tests, and it ends the server when they have ended.
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
        env: { ...process.env, NODE_OPTIONS: '' },
      },
    );
    await ready(keeper, name);
    return { port, stop: () => stop(keeper) };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
};

function hasRoom(folder) {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM;
  } catch {
    return false;
  }
}

/** The folders in which programs are looked for, `PATH` first. */
exports.pathFolders = function pathFolders() {
  return (process.env.PATH ?? '').split(delimiter).filter(Boolean);
};

/** The first of the programs that is in one of the folders. */
exports.findProgram = function findProgram(names, folders) {
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
};

/** Database servers refuse to run as root: there the folder is given to one of `users`. */
function ownerOf(folder, users) {
  if (process.getuid?.() !== 0) return {};
  for (const user of users) {
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
  throw new Error(`The server does not run as root, and there is no user of ${users.join(', ')}`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, exports.LOOPBACK, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Rejects with the output of the server if it exits before it is ready. */
function ready(keeper, name) {
  return new Promise((resolve, reject) => {
    let reason = '';
    const fail = (text) => {
      clearTimeout(timer);
      reject(new Error(text));
    };
    const timer = setTimeout(() => {
      keeper.stdin.end();
      fail(`${name} did not start within ${TIMEOUT / 1000} s: ${reason}`);
    }, TIMEOUT);
    keeper.once('error', (error) => fail(error.message));
    keeper.once('close', () => fail(reason));
    const collect = (chunk) => (reason += chunk);
    keeper.stderr.on('data', collect);
    keeper.stdout.once('data', () => {
      clearTimeout(timer);
      keeper.removeAllListeners('close');
      keeper.stdout.destroy();
      // Reports the output of a server that exits before it is stopped.
      keeper.stderr.off('data', collect).on('data', (chunk) => process.stderr.write(chunk));
      // A server that is never stopped must not keep the test process alive.
      for (const handle of [keeper, keeper.stdin, keeper.stderr]) handle.unref();
      resolve();
    });
  });
}

function stop(keeper) {
  if (keeper.exitCode !== null || keeper.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    keeper.ref();
    keeper.once('exit', () => resolve());
    keeper.stdin.end();
  });
}
