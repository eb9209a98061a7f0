import type { SettingRule } from './dialect.js';

/** SQL modes with which statements of this package or of TypeORM would be other ones, or stored values other ones. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  // The driver escapes values itself, by backslashes.
  NO_BACKSLASH_ESCAPES: 'a value that a client sends would become part of the SQL',
  EMPTY_STRING_IS_NULL: 'an empty text would be stored and compared as NULL',
  NO_AUTO_VALUE_ON_ZERO: 'TypeORM would give new rows the key 0',
  ORACLE: 'SQL has another grammar',
  PAD_CHAR_TO_FULL_LENGTH: 'texts of char columns would end with blanks',
  TIME_ROUND_FRACTIONAL: 'date-times would be rounded to a later one',
};

export const mysqlSettings: readonly SettingRule[] = [
  {
    read: '@@SESSION.sql_mode',
    problems: (value) =>
      value
        .split(',')
        .filter((mode) => Object.hasOwn(FORBIDDEN, mode))
        .map((mode) => ({
          what: `sql_mode contains ${mode}, with which ${FORBIDDEN[mode] ?? ''}`,
          repair: `Take ${mode} out of sql_mode: in the configuration of the server, or where the application sets it for its connections.`,
        })),
  },
  {
    read: '@@SESSION.sql_auto_is_null',
    problems: (value) =>
      value === '0'
        ? []
        : [
            {
              what: 'sql_auto_is_null is on, with which a comparison with NULL finds the last inserted row',
              repair: 'Set sql_auto_is_null = 0.',
            },
          ],
  },
];
