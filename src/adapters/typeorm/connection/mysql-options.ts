import type { DataSource } from 'typeorm';
import { UTC } from '../../../sql/dialects/local-time.js';
import type { WallZone } from '../../../sql/dialects/local-time.js';

/** Options of mysql2 that change how values are read. */
interface MysqlOptions {
  readonly timezone?: string | undefined;
  readonly dateStrings?: boolean | readonly string[] | undefined;
}

/** Those in `extra` replace those of TypeORM. `stampTexts`: whether a TIMESTAMP is loaded as a text. */
export function mysqlOptions({ options }: DataSource): {
  readonly timezone: string;
  readonly stampTexts: boolean;
} {
  const own = options as MysqlOptions & { readonly extra?: MysqlOptions };
  const { timezone, dateStrings }: MysqlOptions = { ...own, ...own.extra };
  return {
    timezone: timezone || 'local',
    stampTexts: Array.isArray(dateStrings) ? dateStrings.includes('TIMESTAMP') : dateStrings === true,
  };
}

/** The time zone in which mysql2 reads and writes date-times: without an option that of the process. A blank stands for a plus in URLs. */
export function mysqlZone(dataSource: DataSource): WallZone {
  const { timezone } = mysqlOptions(dataSource);
  if (timezone === 'local') return 'local';
  const [, sign, hours, minutes] = /^([ +-])(\d\d):(\d\d)$/.exec(timezone) ?? [];
  // mysql2 takes every other text as UTC.
  if (sign === undefined) return UTC;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
