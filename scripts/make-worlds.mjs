// Installs the worlds of test/worlds/, each by its own lock file, where that has changed since the last time, and puts the built package there;
// the clients that test/clients/ speaks with, and the tracers of test/tracing/.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WORLDS = 'test/worlds';
const CLIENTS = 'test/clients/packages';
const TRACERS = 'test/tracing/packages';

function install(world) {
  const lock = readFileSync(join(world, 'package-lock.json'), 'utf8');
  // npm's own record of what is installed leaves out what is optional and says so in no simple way.
  const installed = join(world, 'node_modules', '.installed-lock.json');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return;
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: world, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(installed, lock);
}

// A copy: Node follows a link to where it leads, and would find the packages of the project there.
function putPackage(world) {
  const place = join(world, 'node_modules', 'nestjs-restify');
  rmSync(place, { recursive: true, force: true });
  cpSync('package.json', join(place, 'package.json'));
  for (const entry of readdirSync('dist', { withFileTypes: true }))
    if (entry.isFile()) cpSync(join('dist', entry.name), join(place, 'dist', entry.name));
}

for (const entry of readdirSync(WORLDS, { withFileTypes: true })) {
  if (!entry.isDirectory()) continue;
  install(join(WORLDS, entry.name));
  if (existsSync('dist/index.d.cts')) putPackage(join(WORLDS, entry.name));
}

install(CLIENTS);
install(TRACERS);
