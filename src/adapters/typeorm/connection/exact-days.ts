import type { DataSource } from 'typeorm';
import { runsInUtc, UTC } from '../../../sql/dialects/local-time.js';
import { dialectFamily } from '../data-source-dialect.js';
import type { DriverConnection, QueryCorrections } from './corrected-runner.js';
import { mysqlOptions, mysqlZone } from './mysql-options.js';

/**
 * Options with which the driver returns days as texts, for entities and for TypeORM's comparison with stored rows. Otherwise
 * it makes a Date of each, from which TypeORM may derive another day: the driver's time zone, that of the process, and `utc`
 * of the column need not be the same. Undefined if TypeORM always derives the same day in this process.
 */
export function exactDays(dataSource: DataSource): QueryCorrections['options'] {
  const family = dialectFamily(dataSource);
  switch (family) {
    case 'sqlite':
      return undefined;
    case 'postgres':
      return keepsLocalDays(dataSource) ? undefined : (connection) => ({ types: typesOf(connection) });
    case 'mysql': {
      const zone = mysqlZone(dataSource);
      if (zone === 'local' ? keepsLocalDays(dataSource) : zone === UTC && runsInUtc()) return undefined;
      // TypeORM reads the text of a DATETIME in the zone of the process, and leaves that of a TIMESTAMP as it is.
      const texts = { dateStrings: mysqlOptions(dataSource).stampTexts ? ['DATE', 'TIMESTAMP'] : ['DATE'] };
      return () => texts;
    }
    default:
      return family satisfies never;
  }
}

/** Days that a time zone has skipped when it changed the side of the date line. */
const SKIPPED_DAYS = ['1993-08-21', '1994-12-31', '1995-01-01', '2011-12-30'];

/** Whether TypeORM derives each day from its midnight in the time zone of this process. */
function keepsLocalDays({ entityMetadatas }: DataSource): boolean {
  if (runsInUtc()) return true;
  const dates = entityMetadatas.flatMap(({ columns }) => columns.filter(({ type }) => type === 'date'));
  return (
    dates.every(({ utc }) => !utc) &&
    SKIPPED_DAYS.every((day) => new Date(`${day}T00:00`).getDate() === Number(day.slice(-2)))
  );
}

const DATE_OID = 1082;

function typesOf(connection: DriverConnection): object {
  return {
    getTypeParser: (oid: number, format?: string) =>
      oid === DATE_OID ? String : connection.getTypeParser?.(oid, format),
  };
}
