import type { DataSource, Driver, ObjectLiteral, QueryRunner } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

/** Entities, and lists of them, with JSON that cannot be read. */
const UNREADABLE = new WeakSet();

/** Whether an entity was loaded with the text of JSON that cannot be read. */
export function hasUnreadableJson(entity: object): boolean {
  return UNREADABLE.has(entity);
}

/**
 * Loads entities. TypeORM throws for a stored text that is not JSON, and so would a whole list or any change of the row: then the
 * entities are loaded once more, with such a text as the value.
 */
export async function loadEntities<Loaded extends ObjectLiteral | null>(
  runner: QueryRunner,
  load: () => Promise<Loaded>,
): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    if (!isSyntaxError(error)) throw error;
    const loaded = await withUnreadableJson(runner, load);
    if (loaded) UNREADABLE.add(loaded);
    return loaded;
  }
}

/** Runs work by a manager that loads JSON that cannot be read as its text. */
export async function withUnreadableJson<Result>(
  runner: QueryRunner,
  work: () => Promise<Result>,
): Promise<Result> {
  const { manager } = runner;
  // Becomes the manager of the runner.
  tolerant(dataSourceOf(manager)).createEntityManager(runner);
  try {
    return await work();
  } finally {
    Object.assign(runner, { manager });
  }
}

/** TypeORM 0.3 names it otherwise. */
function dataSourceOf(manager: {
  readonly dataSource?: DataSource;
  readonly connection: DataSource;
}): DataSource {
  return manager.dataSource ?? manager.connection;
}

/** Whether `JSON.parse` has thrown it, or SQLite's `json`. */
export function isSyntaxError(error: unknown): boolean {
  return error instanceof Error && (error.name === 'SyntaxError' || /malformed JSON/.test(error.message));
}

/** `wrapWithJsonFunction`: by which TypeORM 1 selects `jsonb` of SQLite. */
type JsonDriver = Driver & {
  wrapWithJsonFunction?(sql: string, column: ColumnMetadata, jsonb?: boolean): string;
};

const TOLERANT = new WeakMap<DataSource, DataSource>();

/** The data source, with a driver that does not throw. */
function tolerant(dataSource: DataSource): DataSource {
  const known = TOLERANT.get(dataSource);
  if (known) return known;
  const driver = Object.create(dataSource.driver, tolerantMethods(dataSource.driver)) as Driver;
  const made = Object.create(dataSource, { driver: { value: driver } }) as DataSource;
  TOLERANT.set(dataSource, made);
  return made;
}

function tolerantMethods(driver: JsonDriver): PropertyDescriptorMap {
  const prepareHydratedValue = (value: unknown, column: ColumnMetadata): unknown => {
    try {
      return driver.prepareHydratedValue(value, column) as unknown;
    } catch (error) {
      if (isSyntaxError(error)) return value;
      throw error;
    }
  };
  const wrapWithJsonFunction = (sql: string, column: ColumnMetadata, jsonb = false): string => {
    const wrapped = driver.wrapWithJsonFunction?.(sql, column, jsonb) ?? sql;
    return wrapped === sql || jsonb
      ? wrapped
      : `CASE WHEN json_valid(${sql}, 5) THEN ${wrapped} ELSE ${sql} END`;
  };
  return {
    prepareHydratedValue: { value: prepareHydratedValue },
    wrapWithJsonFunction: { value: wrapWithJsonFunction },
  };
}
