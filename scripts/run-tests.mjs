// Runs tests by Jest and fails where a run fails. `node scripts/run-tests.mjs everyday|rest [what Jest takes]`:
// `everyday` is what can differ from one change to the next, in the first world; `rest` the other folders of the first world,
// which start processes, install packages or stop servers, and the second world. Named files run in the first world alone.
// The servers that the tests start themselves are started once for all runs.
import { spawnSync } from 'node:child_process';
import { launchServers } from '../test/support/launch-servers.mjs';

const ESM = '--experimental-vm-modules --no-warnings';
const FIRST = { config: 'jest.config.js', options: ESM };
const TRACED = { config: 'test/tracing/jest.config.js', options: ESM };
const SECOND = { config: 'test/worlds/nest-11/jest.config.js', options: '' };
/** What `npm test` leaves to `npm run test:rest`: folders, and a spec that runs for a minute. */
const REST =
  '(^|/)test/((package(?!/tools)|docs|clients|sample-app|faults|worlds|browser)/|fastify/browser-|oracle/planted-faults)';

/** What runs before a release alone, by `npm run test:package`: it installs the tools of applications for minutes. */
const RELEASE = '(^|/)test/package/tools';

const RUNS = {
  everyday: [
    { ...FIRST, title: 'NestJS 12, TypeORM 1, as ES modules', files: `^(?!.*(${REST}|${RELEASE}))` },
  ],
  rest: [
    {
      ...FIRST,
      title: 'NestJS 12, TypeORM 1, as ES modules: documents, package, samples, faults',
      files: REST,
    },
    { ...SECOND, title: 'NestJS 11, TypeORM 0.3, as CommonJS: specs with the tag `nest`' },
    { ...TRACED, title: 'Both version sets under OpenTelemetry and Sentry' },
  ],
};

function runJest({ title, config, options, files }, args) {
  console.log(`--- ${title}`);
  const patterns = args.some((arg) => !arg.startsWith('-')) || files === undefined ? [] : [files];
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/jest/bin/jest.js', '--config', config, ...args, ...patterns],
    {
      stdio: 'inherit',
      env: { ...process.env, NODE_OPTIONS: [process.env.NODE_OPTIONS, options].filter(Boolean).join(' ') },
    },
  );
  return status === 0;
}

const [selection, ...args] = process.argv.slice(2);
if (!(selection in RUNS))
  throw new Error(`run-tests.mjs takes ${Object.keys(RUNS).join(' or ')}, not ${selection}`);
const stopServers = await launchServers();
const results = RUNS[selection].map((run) => runJest(run, args));
await stopServers();
if (!process.env.RESTIFY_TEST_MYSQL)
  console.log('MySQL: no test has run. RESTIFY_TEST_MYSQL=mysql://… runs those of MariaDB on that server.');
if (results.includes(false)) process.exit(1);
