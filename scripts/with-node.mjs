// Runs a command on another Node, in a copy of this checkout: node scripts/with-node.mjs <20|22|24|26> <command> [arguments].
// Node comes from the npm package of its platform, the copy has packages of its own, and both are kept for the next run in
// `$XDG_CACHE_HOME/nestjs-restify` (`~/.cache/nestjs-restify`): Node by its major version, the copy by the path of the
// checkout as well. Its packages are installed again where the lock file or the version of Node has changed. The other folders
// with packages (`npm run worlds`) are in the copy, too. With `--here` before the version, the command runs in this checkout with its packages.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'nestjs-restify');

/** Runs a program, with its output on the standard error output. Ends this process with its exit code if it fails. */
function run(command, args, options) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 2, 2], ...options });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** The environment in which `node` is that version, and native modules are compiled with its headers. */
function environmentOf(major) {
  const folder = join(CACHE, `node-${major}`);
  // The package `node` installs that of the platform by a script, which npm does not always run.
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const installed = join(folder, 'node_modules', name);
  if (!existsSync(join(installed, 'bin'))) {
    mkdirSync(folder, { recursive: true });
    run('npm', ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', folder, `${name}@${major}`]);
  }
  return {
    ...process.env,
    PATH: [join(installed, 'bin'), process.env.PATH].join(delimiter),
    npm_config_nodedir: installed,
  };
}

/** Copies what git has or would add, and removes what an earlier copy had and this one does not. Keeps `node_modules` and `dist`. */
function copyCheckout(folder) {
  const list = execFileSync('git', ['ls-files', '-z', '-c', '-o', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const files = new Set(list.split('\0').filter((path) => path !== '' && existsSync(join(ROOT, path))));
  const record = join(folder, '.copied.json');
  const earlier = existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : [];
  for (const path of earlier) if (!files.has(path)) rmSync(join(folder, path), { force: true });
  for (const path of files) if (isNewer(path, folder)) copyFile(path, folder);
  writeFileSync(record, JSON.stringify([...files]));
}

function isNewer(path, folder) {
  const copy = statSync(join(folder, path), { throwIfNoEntry: false });
  const { mtimeMs, size } = statSync(join(ROOT, path));
  return copy === undefined || copy.mtimeMs !== mtimeMs || copy.size !== size;
}

function copyFile(path, folder) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  cpSync(join(ROOT, path), join(folder, path), { preserveTimestamps: true });
}

/**
 * Installs what the lock file names, where that or Node has changed. Without install scripts on Node 22 and newer: packages bring
 * binaries for them, except better-sqlite3 12, which they do not load (scripts/sqlite-driver.cjs).
 */
function installPackages(folder, { major, env }) {
  const node = execFileSync('node', ['--version'], { env, encoding: 'utf8' });
  const wanted = createHash('sha256')
    .update(node)
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  const installed = join(folder, 'node_modules/.installed-lock');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return;
  const scripts = Number(major) >= 22 ? ['--ignore-scripts'] : [];
  run('npm', ['ci', '--no-audit', '--no-fund', ...scripts], { cwd: folder, env });
  writeFileSync(installed, wanted);
}

/** The folder of a copy of the checkout with its packages, for that version of Node. */
function prepareCopy(major, env) {
  const id = createHash('sha256').update(ROOT).digest('hex').slice(0, 12);
  const folder = join(CACHE, `checkout-${major}-${id}`);
  mkdirSync(folder, { recursive: true });
  copyCheckout(folder);
  installPackages(folder, { major, env });
  return folder;
}

const given = process.argv.slice(2);
const isHere = given[0] === '--here';
const [major, command, ...args] = isHere ? given.slice(1) : given;
if (!/^\d+$/.test(major ?? '') || command === undefined)
  throw new Error('with-node.mjs takes a major version of Node, and a command');
const env = environmentOf(major);
const child = spawn(command, args, { cwd: isHere ? ROOT : prepareCopy(major, env), env, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  throw error;
});
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
