// @tags db nest
import { expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';

function entityWith(engine: string, operations?: readonly ['list']): new () => object {
  class Row {
    name: string;
  }
  Object.defineProperty(Row, 'name', { value: `Te${engine}${operations ? 'Read' : ''}` });
  PrimaryGeneratedColumn()(Row.prototype, 'id');
  Column({ type: 'varchar', length: 20 })(Row.prototype, 'name');
  Entity(`te_${engine}${operations ? '_read' : ''}`, { engine })(Row);
  restify<object>(Row, { app: 'te', ...(operations ? { operations } : {}) });
  return Row;
}

onEachDatabase('the engine of a table', (database) => {
  test('is named in a warning, where nothing undoes writes', async () => {
    const warned: string[] = [];
    const logger = {
      ...Object.fromEntries(
        ['log', 'error', 'debug', 'verbose', 'fatal'].map((level) => [level, () => undefined]),
      ),
      warn: (text: unknown) => void warned.push(String(text)),
    };
    const engines = ['MyISAM', 'Aria', 'MEMORY', 'InnoDB'];
    const started = await startApp({
      entities: [...engines.map((engine) => entityWith(engine)), entityWith('MyISAM', ['list'])],
      database,
      nest: { logger: logger as never },
    });
    await started.close();
    const found = warned.filter((text) => text.includes('no transactions'));
    expect(found).toEqual(
      database.name === 'mariadb'
        ? ['MyISAM', 'Aria', 'MEMORY'].map(
            (engine) =>
              `Te${engine}: the table "te_${engine}" has the engine ${engine}, which has no transactions: what a failed request has written there stays. ALTER TABLE te_${engine} ENGINE = InnoDB.`,
          )
        : [],
    );
  });
});
