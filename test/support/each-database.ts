import { basename } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { DATABASES } from './databases.js';
import type { TestDatabase } from './databases.js';
import { WORLD } from './world.js';

/**
 * Runs the same tests on every database. For an unavailable one, the tests are skipped with a warning; in CI they fail,
 * because CI must have all databases. `only` restricts the tests to databases that support the feature.
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

/** The same on the database servers, whose connections can be lost. */
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
  for (const database of chooseDatabases(databases)) {
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

/**
 * With the second version set, or with `RESTIFY_TEST_SERVERS=one`, a file that runs on both servers runs on one of them, chosen by its
 * name: the files together cover both drivers, and the first version set runs each file on both. `RESTIFY_TEST_ALL=yes` runs all.
 */
function chooseDatabases(databases: readonly TestDatabase[]): readonly TestDatabase[] {
  const servers = databases.filter(({ name }) => name !== 'sqlite');
  const { RESTIFY_TEST_ALL, RESTIFY_TEST_SERVERS } = process.env;
  const isReduced = WORLD.name === 'nest-11' || RESTIFY_TEST_SERVERS === 'one';
  if (!isReduced || RESTIFY_TEST_ALL === 'yes' || servers.length < 2) return databases;
  const name = basename(expect.getState().testPath ?? '');
  const left = servers[[...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 2];
  return databases.filter((database) => database !== left);
}
