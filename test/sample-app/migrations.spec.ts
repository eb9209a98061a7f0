// @tags db nest
import { expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../sample-app/src/data-source-options.js';
import { onEachDatabase } from '../support/each-database.js';
import { urlOf } from './sample-process.js';

onEachDatabase('the migrations of the sample application', (database) => {
  test('name what is unique as the entities do', async () => {
    const opened = await database.open();
    const dataSource = await new DataSource(
      dataSourceOptions({ DATABASE_URL: urlOf(opened.options) }),
    ).initialize();
    try {
      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      // What the synchronization would still do: foreign keys and plain indices of junctions are left to it.
      const about = upQueries
        .map(({ query }) => query)
        .filter((query) => /UNIQUE|"(?:UQ|REL)_|`(?:UQ|REL)_/.test(query));
      expect(about).toEqual([]);
    } finally {
      await dataSource.destroy();
      await opened.drop();
    }
  });
});
