// Installs the programs that tests start and npm does not have, if they are missing: Chromium and nginx, with apt-get where
// that is possible. Otherwise says what to do; their tests are then skipped, and fail in CI.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const PROGRAMS = [
  {
    name: 'Chromium',
    purpose: 'the tests of the browsable page',
    debian: 'chromium',
    paths: [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
    otherwise: ' Or set CHROMIUM to its path.',
  },
  {
    name: 'nginx',
    purpose: 'the tests behind a reverse proxy',
    debian: 'nginx',
    paths: ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx', '/usr/local/bin/nginx'],
    otherwise: '',
  },
];

function run(command, args) {
  // No package is to ask anything.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], env }).status === 0;
}

const missing = PROGRAMS.filter(({ paths }) => !paths.some((path) => path !== undefined && existsSync(path)));
for (const { name, purpose } of missing) console.log(`Installing ${name} for ${purpose}`);
const canInstall =
  missing.length > 0 &&
  process.getuid?.() === 0 &&
  existsSync('/usr/bin/apt-get') &&
  run('apt-get', ['update', '-q']);
for (const { name, debian, otherwise } of missing)
  if (!canInstall || !run('apt-get', ['install', '-y', '-q', '--no-install-recommends', debian]))
    console.warn(
      `${name} is missing, and was not installed. Install it, for example by: sudo apt-get install ${debian}.${otherwise}`,
    );
