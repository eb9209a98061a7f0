import type { DataSource } from 'typeorm';
import { dialectFamily } from '../data-source-dialect.js';
import type { QueryCorrections } from './corrected-runner.js';

/** Writes the digits of a second that a column has into the time of an update or soft deletion. TypeORM leaves them out, and MariaDB then stores whole seconds. */
export function exactStamps(dataSource: DataSource): QueryCorrections['sql'] {
  if (dialectFamily(dataSource) !== 'mysql') return undefined;
  const escaped = (path: string): string =>
    path
      .split('.')
      .map((name) => dataSource.driver.escape(name))
      .join('.');
  const digits = new Map<string, number>();
  for (const { columns, tablePath } of dataSource.entityMetadatas)
    for (const { isUpdateDate, isDeleteDate, databaseName, precision } of columns)
      if ((isUpdateDate || isDeleteDate) && precision)
        digits.set(`${escaped(tablePath)} ${escaped(databaseName)}`, precision);
  return digits.size === 0 ? undefined : (statement) => withDigits(statement, digits);
}

const UPDATE = /^UPDATE ((?:`(?:[^`]|``)+`\.?)+) SET /;
const NOW = /(`(?:[^`]|``)+`) = CURRENT_TIMESTAMP(?!\()/g;

function withDigits(statement: string, digits: ReadonlyMap<string, number>): string {
  const [, table] = UPDATE.exec(statement) ?? [];
  if (table === undefined) return statement;
  return statement.replace(NOW, (found, column: string) => {
    const own = digits.get(`${table} ${column}`);
    return own === undefined ? found : `${found}(${own})`;
  });
}
