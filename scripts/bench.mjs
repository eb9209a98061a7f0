// Builds the package and the benchmark, installs the benchmark's own packages where they are missing, and runs one of
// its programs: node scripts/bench.mjs <run|compare|model-options|memory|boot|growth|cluster> [options]
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SQLITE_OPTION } from './sqlite-package.cjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [program = 'run', ...options] = process.argv.slice(2);

function succeeds(command, args, folder = root) {
  return spawnSync(command, args, { cwd: folder, stdio: ['ignore', 2, 2] }).status === 0;
}

// The rivals are measured by these programs only.
const rivals = ['run', 'compare'].includes(program);
for (const folder of rivals ? ['bench', 'bench/nest-10'] : ['bench']) {
  if (!existsSync(join(root, folder, 'node_modules')) && !succeeds('npm', ['ci'], join(root, folder)))
    console.error(`The packages of ${folder} cannot be installed: what needs them is not measured.`);
}
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const built =
  succeeds('npm', ['run', '--silent', 'build']) &&
  succeeds(process.execPath, [tsc, '-p', 'bench']) &&
  (program !== 'cluster' || succeeds('npm', ['run', '--silent', 'build:sample']));
if (!built) process.exit(1);
for (const folder of rivals ? ['bench/rivals', 'bench/nest-10'] : []) {
  if (!succeeds(process.execPath, [tsc, '-p', folder]))
    console.error(`${folder} does not compile: it is measured as it was compiled before, or not at all.`);
}
const { status } = spawnSync(process.execPath, [join(root, 'dist/bench', `${program}.js`), ...options], {
  cwd: root,
  stdio: 'inherit',
  // Inherited by the servers that it starts.
  env: { ...process.env, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${SQLITE_OPTION}`.trim() },
});
process.exit(status ?? 1);
