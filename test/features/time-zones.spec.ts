// @tags nest
import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { PROJECT } from '../docs/document.js';
import { WORLD } from '../support/world.js';

/**
 * Runs tests of these files in a process of another zone, in the same world: a process cannot change its own for the drivers. This
 * one goes on meanwhile, because other applications of it may still end.
 */
async function runIn(
  zone: string,
  files: readonly string[],
  names: string,
): Promise<{ readonly status: number | null; readonly output: string }> {
  const config = WORLD.name === 'nest-12' ? 'jest.config.js' : `test/worlds/${WORLD.name}/jest.config.js`;
  const options = WORLD.format === 'esm' ? ['--experimental-vm-modules', '--no-warnings'] : [];
  const child = spawn(
    process.execPath,
    [...options, 'node_modules/jest/bin/jest.js', '--config', config, ...files, '-t', names],
    {
      cwd: PROJECT,
      // All tests, whatever the run leaves out.
      env: { ...process.env, TZ: zone, NODE_OPTIONS: '', RESTIFY_TEST_ALL: 'yes' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  return { status, output };
}

const ZONES: readonly (readonly [zone: string, files: readonly string[], names: string, passed: RegExp])[] = [
  // Half an hour off the hour, and seconds before 1906.
  [
    'Asia/Kolkata',
    [
      'test/features/column-types.spec.ts',
      'test/adapters/typeorm/column-values.spec.ts',
      'test/features/key-types.spec.ts',
      'test/features/fields.spec.ts',
    ],
    'date|time|instant',
    /\d{3,} passed/,
  ],
  ['America/New_York', ['test/features/driver-zones.spec.ts'], '', /\d{3,} passed/],
  // It skipped a day, and is a day ahead of offsets in the west.
  ['Pacific/Apia', ['test/features/driver-zones.spec.ts'], 'days of|dateStrings|Z \\{}', /[5-9]\d passed/],
];

describe.each(ZONES)('a process in the zone of %s', (zone, files, names, passed) => {
  test('keeps days, clocks and instants, and what the database fills, as in UTC', async () => {
    const { status, output } = await runIn(zone, files, names);
    expect(output).toMatch(passed);
    expect(status).toBe(0);
  }, 600_000);
});
