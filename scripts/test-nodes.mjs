// Tests the supported versions of Node: node scripts/test-nodes.mjs smoke|all.
// `smoke` starts the sample application on each of them and sends requests to its models (test/platforms/smoke.mjs). It expects
// `npm run build && npm run build:sample`. `all` runs every test on those that are supported whole, which takes hours.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OWN = process.versions.node.split('.')[0];
const WHOLE = ['22', '24', '26'];
const SMOKE = ['node', 'test/platforms/smoke.mjs'];

/** The command that runs the smoke test on that version of Node. */
function smokeOn(major) {
  if (major === OWN) return SMOKE;
  const withNode = ['node', 'scripts/with-node.mjs'];
  if (WHOLE.includes(major)) return [...withNode, '--here', major, ...SMOKE];
  // better-sqlite3 12, which only this version loads, is compiled for one version of Node.
  return [...withNode, major, 'sh', '-c', `npm run build && npm run build:sample && ${SMOKE.join(' ')}`];
}

const RUNS = {
  smoke: ['20', ...WHOLE].map((major) => [major, smokeOn(major)]),
  all: WHOLE.map((major) => [major, ['node', 'scripts/with-node.mjs', major, 'npm', 'run', 'test:all']]),
};

const [selection] = process.argv.slice(2);
if (!(selection in RUNS)) throw new Error(`test-nodes.mjs takes ${Object.keys(RUNS).join(' or ')}`);
const failed = RUNS[selection].filter(([major, [command, ...args]]) => {
  console.log(`--- Node ${major}`);
  return spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' }).status !== 0;
});
for (const [major] of failed) console.log(`FAILED on Node ${major}`);
process.exitCode = failed.length > 0 ? 1 : 0;
