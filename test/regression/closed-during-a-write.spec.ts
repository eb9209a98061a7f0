// @tags nest
import { expect, test } from '@jest/globals';
import { ResourceController, Restify, RestifyController } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { startApp } from '../support/start-app.js';

let written: DataSource | undefined;

@Restify('w')
@Entity('w_note')
class WNote {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

@RestifyController(WNote)
class NoteController extends ResourceController<WNote> {
  /** As an application does that ends while it writes. */
  override async beforeWrite(): Promise<void> {
    await written?.destroy();
  }
}

const CONNECTIONS: readonly Partial<DataSourceOptions>[] = [
  { type: 'better-sqlite3', database: ':memory:' },
  { type: 'sqljs', database: undefined, location: undefined },
];

test.each(CONNECTIONS)(
  'a write on a connection that is closed meanwhile is answered: $type',
  async (dataSource) => {
    const started = await startApp({
      entities: [WNote],
      controllers: [NoteController],
      dataSource,
      undescribed: [500, 503],
    });
    written = started.dataSource;
    try {
      expect([500, 503]).toContain((await started.client.post('/rest/v1/w/wnote/', { text: 'x' })).status);
    } finally {
      await started.close();
    }
  },
  15_000,
);
