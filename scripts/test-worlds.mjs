// Runs the tests in each world, and fails where one fails. Arguments go to Jest: `npm test -- test/features/bodies.spec.ts`.
// The servers that the tests start themselves are started once, for both.
import { spawnSync } from 'node:child_process';
import { launchServers } from '../test/support/launch-servers.mjs';

const ESM = '--experimental-vm-modules --no-warnings';
const WORLDS = [
  { says: 'NestJS 12, TypeORM 1, as ES modules', config: 'jest.config.js', options: ESM },
  { says: 'NestJS 11, TypeORM 0.3, as CommonJS', config: 'test/worlds/nest-11/jest.config.js', options: '' },
];

const stopServers = await launchServers();
let failed = false;
for (const { says, config, options } of WORLDS) {
  console.log(`--- ${says}`);
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/jest/bin/jest.js', '--config', config, ...process.argv.slice(2)],
    {
      stdio: 'inherit',
      env: { ...process.env, NODE_OPTIONS: [process.env.NODE_OPTIONS, options].filter(Boolean).join(' ') },
    },
  );
  if (status !== 0) failed = true;
}
await stopServers();
if (failed) process.exit(1);
