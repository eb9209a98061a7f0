import { CUT_LIST } from './dialect.js';
import type { ListedRows } from './dialect.js';

/**
 * As `Dialect.listOf`. MariaDB alone orders what it aggregates, and MySQL alone lets a derived table refer to the row around it.
 */
export function listTexts(
  { value, order, from, where, limit }: ListedRows,
  { isMariadb }: { readonly isMariadb: boolean },
): string {
  const text = `CAST(${value} AS CHAR)`;
  return isMariadb
    ? `(SELECT ${uncut(`JSON_ARRAYAGG(${text} ORDER BY ${order} LIMIT ${limit})`)} FROM ${from} WHERE ${where})`
    : `(SELECT CAST(JSON_ARRAYAGG(v) AS CHAR) FROM (SELECT ${text} AS v FROM ${from} WHERE ${where} ORDER BY ${order} LIMIT ${limit}) listed)`;
}

/** MariaDB cuts a text in the list, and leaves the rest of the list out, without an error. A character has up to four bytes. */
function uncut(list: string): string {
  return `IF(LENGTH(${list}) > @@SESSION.group_concat_max_len - 4, '${CUT_LIST}', ${list})`;
}
