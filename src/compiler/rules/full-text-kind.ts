import {
  booleanOr,
  falseOr,
  flag,
  formatValue,
  isNonEmptyText,
  kindOf,
  notNull,
  objectWith,
} from './option-kinds.js';

const tableName = kindOf(
  isNonEmptyText,
  'not a name',
  "Write its name in the database, such as 'article_text'.",
);

export const fullText = notNull(
  booleanOr(
    objectWith(
      {
        configuration: kindOf(
          (given) =>
            typeof given === 'string' && /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$/.test(given),
          'not the name of a text search configuration',
          "Write its name, such as 'english'.",
        ),
        column: tableName,
        unaccent: flag,
        table: tableName,
        rank: falseOr(
          kindOf(
            (given) => typeof given === 'string' && /^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$/.test(given),
            'not a name for an order',
            "Write letters, digits and single underscores, such as 'relevance', or false for none.",
          ),
        ),
      },
      {
        what: (given) => `${formatValue(given)} does not configure a full-text search`,
        repair: "Write true, or an object such as { configuration: 'english', table: 'article_text' }.",
        noun: 'a part of a full-text search',
      },
    ),
  ),
);
