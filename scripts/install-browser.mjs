// Installs Chromium for the tests of the browsable page, if there is none: with apt-get where that is possible. Otherwise says
// what to do; the tests are then skipped, and fail in CI.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const PATHS = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

function run(command, args) {
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

if (!PATHS.some((path) => path !== undefined && existsSync(path))) {
  console.log('Installing Chromium for the tests of the browsable page');
  const installed =
    process.getuid?.() === 0 &&
    existsSync('/usr/bin/apt-get') &&
    run('apt-get', ['update', '-q']) &&
    run('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'chromium']);
  if (!installed)
    console.warn(
      'Chromium is missing, and was not installed. Install it, for example by: sudo apt-get install chromium. Or set CHROMIUM to its path.',
    );
}
