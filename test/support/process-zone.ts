import type { OpenedDatabase, TestDatabase } from './databases.js';

/**
 * The database with sessions in the time zone of the process, on PostgreSQL: otherwise each write sets the time zone, in
 * a transaction, and none is one statement.
 */
export function inProcessZone(database: TestDatabase): TestDatabase {
  return {
    ...database,
    open: async (): Promise<OpenedDatabase> => {
      const opened = await database.open();
      const { type, extra } = opened.options as {
        readonly type: string;
        readonly extra?: { options?: string };
      };
      if (type !== 'postgres') return opened;
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
      const options = `${extra?.options ?? ''} -c TimeZone=${timeZone}`;
      return {
        ...opened,
        options: { ...opened.options, extra: { ...extra, options } } as OpenedDatabase['options'],
      };
    },
  };
}
