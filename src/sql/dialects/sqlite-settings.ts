import type { SettingRule } from './dialect.js';

export const sqliteSettings: readonly SettingRule[] = [
  {
    // The pragma cannot be read.
    read: `'a' LIKE 'A'`,
    problems: (value) =>
      value === '1'
        ? []
        : [
            {
              what: 'LIKE distinguishes upper and lower case, so that searches would not find what they should',
              repair: 'Do not set PRAGMA case_sensitive_like, and do not replace like().',
            },
          ],
  },
  {
    read: '(SELECT * FROM pragma_reverse_unordered_selects)',
    problems: (value) =>
      value === '0'
        ? []
        : [
            {
              what: 'reverse_unordered_selects is on, with which ordered rows of a subquery are reversed',
              repair: 'Set it in tests of your own statements only, on another data source.',
            },
          ],
  },
];
