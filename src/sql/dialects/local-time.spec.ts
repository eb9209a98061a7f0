import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { transformFileSync } from '@swc/core';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { instantOf, UTC, wallClockOf } from './local-time.js';

describe('in UTC', () => {
  test.each([
    ['2022-10-02 09:23:28.297', 3, '2022-10-02T09:23:28.297Z'],
    ['2022-10-02 09:23:28.297123', 6, '2022-10-02T09:23:28.297123Z'],
    ['2022-10-02 09:23:28.297123', 3, '2022-10-02T09:23:28.297Z'],
    ['2022-10-02 09:23:28', 3, '2022-10-02T09:23:28.000Z'],
    ['2022-10-02 09:23:28.5', 6, '2022-10-02T09:23:28.500000Z'],
    ['2022-10-02 09:23', 3, '2022-10-02T09:23:00.000Z'],
    ['2022-10-02T09:23:28.297Z', 3, '2022-10-02T09:23:28.297Z'],
    ['2024-02-29 23:59:59.999', 3, '2024-02-29T23:59:59.999Z'],
    ['1969-12-31 23:59:59.999', 3, '1969-12-31T23:59:59.999Z'],
    ['1000-01-01 00:00:00.000', 3, '1000-01-01T00:00:00.000Z'],
    ['0100-01-01 00:00:00.000', 3, '0100-01-01T00:00:00.000Z'],
    ['9999-12-31 23:59:59.999999', 6, '9999-12-31T23:59:59.999999Z'],
  ])('converts %s with %d digits to %s', (text, digits, instant) => {
    expect(instantOf(text, UTC, digits)).toBe(instant);
  });

  test('converts every day of a common year and of a leap year', () => {
    for (let day = 0; day < 731; day++) {
      const instant = new Date(
        Date.UTC(2023, 0, 1 + day, day % 24, day % 60, (day * 7) % 60, day),
      ).toISOString();
      expect(instantOf(instant.replace('T', ' ').slice(0, -1), UTC, 3)).toBe(instant);
    }
  });

  test('converts parts out of range as Date does', () => {
    expect(instantOf('2023-02-29 23:59:60.000', UTC, 3)).toBe('2023-03-02T00:00:00.000Z');
    expect(instantOf('0000-01-01 00:00:00.000', UTC, 3)).toBe('0000-01-01 00:00:00.000');
  });

  test.each([
    ['0001-01-01 00:00:00.000', '0001-01-01T00:00:00.000Z'],
    ['0050-06-01 12:00:00.500', '0050-06-01T12:00:00.500Z'],
    ['0099-12-31 23:59:59.999', '0099-12-31T23:59:59.999Z'],
  ])('converts years of the first century: %s is %s', (text, instant) => {
    expect(instantOf(text, UTC, 3)).toBe(instant);
    expect(wallClockOf(instant, UTC)).toBe(text);
  });

  test.each([
    ['2022-10-02T09:23:28.297Z', '2022-10-02 09:23:28.297'],
    ['2022-10-02T09:23:28.297123Z', '2022-10-02 09:23:28.297123'],
    ['0001-01-01T00:00:00.000Z', '0001-01-01 00:00:00.000'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31 23:59:59.999999'],
  ])('converts %s back to %s', (instant, text) => {
    expect(wallClockOf(instant, UTC)).toBe(text);
  });

  test.each(['', 'infinity', '-infinity', 'now', '1664702608', '2022-10-02', '09:23:28'])(
    'returns %j unchanged',
    (text) => {
      expect(instantOf(text, UTC, 3)).toBe(text);
      expect(instantOf(text, 'local', 3)).toBe(text);
    },
  );
});

describe('at an offset', () => {
  test.each([
    ['2022-10-02T09:23:28.297Z', 8 * 60, '2022-10-02 17:23:28.297'],
    ['2022-12-31T23:30:00.000001Z', 8 * 60, '2023-01-01 07:30:00.000001'],
    ['2022-10-02T09:23:28.297Z', -(5 * 60 + 30), '2022-10-02 03:53:28.297'],
    ['2024-03-01T04:59:59.999999Z', -5 * 60, '2024-02-29 23:59:59.999999'],
    ['0099-12-31T23:59:59.999Z', 60, '0100-01-01 00:59:59.999'],
    ['9999-12-31T23:59:59.000Z', 60, '10000-01-01 00:59:59.000'],
    ['0001-01-01T00:00:00.000Z', -60, '0000-12-31 23:00:00.000'],
  ])('%s is stored %i minutes east of UTC as %s, and read back', (instant, zone, text) => {
    expect(wallClockOf(instant, zone)).toBe(text);
    expect(instantOf(text, zone, instant.length - '2022-10-02T09:23:28.Z'.length)).toBe(instant);
  });
});

/** The modules for child processes: the time zone belongs to a process, and other tests must keep theirs. */
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wall-clock-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const path of ['sql/dialects/local-time', 'core/values/dates', 'core/values/parse-result']) {
    const source = fileURLToPath(new URL(`../../${path}.ts`, import.meta.url));
    const { code } = transformFileSync(source, {
      swcrc: false,
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'es6' },
    });
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, `${path}.js`), code);
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Clocks {
  /** The texts that a column without a time zone stores. */
  readonly clocks: readonly string[];
  /** The instants that are read from them. */
  readonly back: readonly string[];
}

/** Converts the instants in a process with this time zone. */
function clocksIn(zone: string, instants: readonly string[]): Clocks {
  const given = JSON.stringify(instants);
  const clocks = `${given}.map((instant) => wallClockOf(instant, 'local'))`;
  const digits = `${given}.map((instant) => instant.length - '2022-10-02T09:23:28.Z'.length)`;
  const back = `clocks.map((clock, index) => instantOf(clock, 'local', digits[index]))`;
  return runIn(zone, `((clocks, digits) => ({ clocks, back: ${back} }))(${clocks}, ${digits})`) as Clocks;
}

/** The value of an expression over the module, in a process with this time zone. */
function runIn(zone: string, expression: string): unknown {
  const module = pathToFileURL(join(folder, 'sql/dialects/local-time.js')).href;
  const script = `import { instantOf, wallClockOf } from ${JSON.stringify(module)};
    console.log(JSON.stringify(${expression}));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, NODE_OPTIONS: '', TZ: zone },
    encoding: 'utf8',
  });
  return JSON.parse(output) as unknown;
}

describe('in the time zone of the process', () => {
  test.each<[zone: string, clocks: readonly (readonly [instant: string, clock: string])[]]>([
    ['UTC', [['2022-10-02T09:23:28.297Z', '2022-10-02 09:23:28.297']]],
    [
      'Europe/Berlin',
      [
        ['2022-10-02T09:23:28.297Z', '2022-10-02 11:23:28.297'],
        ['2022-12-31T23:30:00.000Z', '2023-01-01 00:30:00.000'],
        ['2022-03-27T00:59:59.999Z', '2022-03-27 01:59:59.999'],
        ['2022-03-27T01:00:00.000Z', '2022-03-27 03:00:00.000'],
        ['2022-10-30T00:59:59.999Z', '2022-10-30 02:59:59.999'],
        ['2022-10-30T02:00:00.000Z', '2022-10-30 03:00:00.000'],
        ['2022-10-02T09:23:28.297123Z', '2022-10-02 11:23:28.297123'],
      ],
    ],
    [
      'America/New_York',
      [
        ['2022-10-02T03:23:28.297Z', '2022-10-01 23:23:28.297'],
        ['2024-03-01T04:30:00.000Z', '2024-02-29 23:30:00.000'],
      ],
    ],
    ['Asia/Kathmandu', [['2022-10-02T09:23:28.000Z', '2022-10-02 15:08:28.000']]],
    [
      'Pacific/Kiritimati',
      [
        ['2022-10-02T09:23:28.000Z', '2022-10-02 23:23:28.000'],
        ['2022-10-02T10:00:00.000Z', '2022-10-03 00:00:00.000'],
      ],
    ],
    ['Etc/GMT+12', [['2022-10-02T09:23:28.000Z', '2022-10-01 21:23:28.000']]],
  ])('%s: an instant is stored in local time, and read back', (zone, table) => {
    const instants = table.map(([instant]) => instant);
    expect(clocksIn(zone, instants)).toEqual({ clocks: table.map(([, clock]) => clock), back: instants });
  });

  test('instants before 1970 keep their microseconds', () => {
    const instants = [
      '1969-12-31T23:59:59.999999Z',
      '1900-06-01T00:00:00.000001Z',
      '1800-01-01T12:00:00.500Z',
    ];
    expect(clocksIn('Europe/Berlin', instants).back).toEqual(instants);
    expect(clocksIn('America/St_Johns', instants).back).toEqual(instants);
  });

  test('a clock that daylight saving time skips is read as one an hour later', () => {
    // In New York, 2:00 to 3:00 does not exist on this day: TypeORM and pg read the same instant.
    expect(
      clocksIn('America/New_York', ['2026-03-08T06:59:59.000Z', '2026-03-08T07:30:00.000Z']).clocks,
    ).toEqual(['2026-03-08 01:59:59.000', '2026-03-08 03:30:00.000']);
    const skipped = "instantOf('2026-03-08 02:30:00', 'local', 3)";
    expect(runIn('America/New_York', skipped)).toBe('2026-03-08T07:30:00.000Z');
  });

  test('instants of the first century are read back', () => {
    const instants = ['0050-06-01T12:00:00.500Z', '0099-12-31T12:00:00.000Z'];
    expect(clocksIn('Asia/Kathmandu', instants).back).toEqual(instants);
  });
});
