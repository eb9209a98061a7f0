import { describe, test } from '@jest/globals';
import { DATABASES } from './databases.js';
import type { TestDatabase } from './databases.js';

/**
 * The same tests on every database. One that is away is said loudly and counted as skipped; under CI it fails, because
 * CI is expected to have them all. `only` where others have no such thing.
 */
export function onEachDatabase(
  title: string,
  tests: (database: TestDatabase) => void,
  only?: readonly TestDatabase['name'][],
): void {
  onEach(
    DATABASES.filter(({ name }) => only?.includes(name) !== false),
    title,
    tests,
  );
}

/** The same on those that are servers of their own, which can go away. */
export function onEachServer(title: string, tests: (database: TestDatabase) => void): void {
  onEach(
    DATABASES.filter(({ name }) => name !== 'sqlite'),
    title,
    tests,
  );
}

function onEach(
  databases: readonly TestDatabase[],
  title: string,
  tests: (database: TestDatabase) => void,
): void {
  for (const database of databases) {
    const name = `${title} (${database.name})`;
    if (database.missing === undefined) {
      describe(name, () => {
        tests(database);
      });
    } else if (process.env.CI) {
      test(name, () => {
        throw new Error(
          `${database.name} does not answer: ${database.missing ?? ''}. Start it, or set RESTIFY_TEST_${database.name.toUpperCase()}.`,
        );
      });
    } else {
      console.warn(`SKIPPED on ${database.name}, which does not answer (${database.missing}): ${title}`);
      test.skip(name, () => undefined);
    }
  }
}
