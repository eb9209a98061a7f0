import type { ColumnOptions } from 'typeorm';

export type DatabaseName = 'sqlite' | 'postgres' | 'mariadb';

/** Columns of each type, by property name. */
type Columns = Readonly<Record<string, ColumnOptions>>;

const EVERYWHERE: Columns = {
  whole: { type: 'int' },
  small: { type: 'smallint' },
  big: { type: 'bigint' },
  price: { type: 'decimal', precision: 8, scale: 2 },
  ready: { type: Boolean },
  code: { type: 'varchar', length: 12 },
  note: { type: 'text' },
  day: { type: 'date' },
  clock: { type: 'time' },
  level: { type: 'simple-enum', enum: ['low', 'high', '3'] },
  words: { type: 'simple-array' },
  data: { type: 'simple-json' },
};

const OF_ONE: Readonly<Record<DatabaseName, Columns>> = {
  sqlite: {
    ratio: { type: 'double' },
    at: { type: 'datetime' },
    bytes: { type: 'blob' },
    tiny: { type: 'tinyint' },
    fixed: { type: 'character', length: 4 },
  },
  postgres: {
    ratio: { type: 'double precision' },
    single: { type: 'real' },
    at: { type: 'timestamptz', precision: 6 },
    wall: { type: 'timestamp', precision: 3 },
    ident: { type: 'uuid' },
    bytes: { type: 'bytea' },
    tree: { type: 'jsonb' },
    plain: { type: 'json' },
    state: { type: 'enum', enum: ['open', 'shut'] },
    numbers: { type: 'int', array: true },
    texts: { type: 'varchar', length: 5, array: true },
    span: { type: 'interval' },
    fixed: { type: 'char', length: 4 },
  },
  mariadb: {
    ratio: { type: 'double' },
    single: { type: 'float' },
    at: { type: 'datetime', precision: 6 },
    wall: { type: 'timestamp', precision: 3 },
    ident: { type: 'uuid' },
    bytes: { type: 'blob' },
    tree: { type: 'json' },
    state: { type: 'enum', enum: ['open', 'shut'] },
    flags: { type: 'set', enum: ['a', 'b', 'c'] },
    tiny: { type: 'tinyint', unsigned: true },
    born: { type: 'year' },
    fixed: { type: 'char', length: 4 },
    raw: { type: 'varbinary', length: 8 },
  },
};

/** Each type twice: required and nullable. */
export function columnsOf(database: DatabaseName): Columns {
  const all = { ...EVERYWHERE, ...OF_ONE[database] };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, column]) => [
      [name, column],
      [`${name}_or_null`, { ...column, nullable: true }],
    ]),
  );
}
