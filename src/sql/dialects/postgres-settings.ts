import type { SettingRule } from './dialect.js';

export const postgresSettings: readonly SettingRule[] = [
  requires('standard_conforming_strings', {
    isFit: (value) => value === 'on',
    instead: 'backslashes in texts of SQL would be escapes',
    value: 'on',
  }),
  // The order of day, month and year does not matter: dates are sent as ISO 8601.
  requires('DateStyle', {
    isFit: (value) => value.startsWith('ISO'),
    instead: 'the driver could not read dates',
    value: 'ISO',
  }),
  requires('extra_float_digits', {
    isFit: (value) => Number(value) > 0,
    instead: 'floating-point numbers would be rounded',
    value: '1',
  }),
  requires('array_nulls', {
    isFit: (value) => value === 'on',
    instead: 'null in an array would be stored as a text',
    value: 'on',
  }),
];

/** Recorded: `CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, …)`, `PostgreSQL 15.12-YB-2025.1.0.0-b0 on …`. */
const OTHER_SERVERS: readonly (readonly [mark: RegExp, name: string, difference: string])[] = [
  [/^CockroachDB\b/, 'CockroachDB', 'it has no xmin, and generated keys beyond 9007199254740991'],
  [/-YB-/, 'YugabyteDB', 'its transactions and locks differ, and were not tested'],
];

export const postgresServers: readonly SettingRule[] = [
  {
    read: 'version()',
    problems: (version) =>
      OTHER_SERVERS.filter(([mark]) => mark.test(version)).map(([, name, difference]) => ({
        what: `the server is ${name}: ${difference}`,
        repair: 'Use PostgreSQL, MariaDB, MySQL or SQLite.',
      })),
  },
];

function requires(
  name: string,
  { isFit, instead, value }: { isFit: (value: string) => boolean; instead: string; value: string },
): SettingRule {
  return {
    read: `current_setting('${name}')`,
    problems: (found) =>
      isFit(found)
        ? []
        : [
            {
              what: `${name} is ${found}, with which ${instead}`,
              repair: `Set ${name} = ${value}: for the server, its role or database, or in extra: { options: '-c ${name}=${value}' } of the data source.`,
            },
          ],
  };
}
