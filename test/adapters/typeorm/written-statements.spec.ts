// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { MinLength } from 'class-validator';
import {
  BeforeUpdate,
  Column,
  CreateDateColumn,
  Entity,
  ManyToOne,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { ColumnOptions } from 'typeorm';
import { StatementLog } from '../../faults/statement-log.js';
import { onEachDatabase } from '../../support/each-database.js';
import { inProcessZone } from '../../support/process-zone.js';
import { startApp } from '../../support/start-app.js';
import type { StartedApp } from '../../support/start-app.js';

@Restify('written')
@Entity('written_owner')
class Owner {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

interface Option {
  /** Added to an entity with a generated key and a text. */
  readonly declare: (prototype: object) => void;
  readonly value?: unknown;
  /** Statements of a create and of a change; default: 1, and 1. */
  readonly create?: number;
  readonly change?: number;
}

function column(options: ColumnOptions, value: unknown): Option {
  return {
    declare: (prototype) => {
      Column({ ...options, nullable: true })(prototype, 'extra');
    },
    value,
  };
}

const OPTIONS: Readonly<Record<string, Option>> = {
  plain: column({ type: 'varchar' }, 'a'),
  whole: column({ type: 'int' }, 3),
  decimal: column({ type: 'decimal', precision: 10, scale: 2 }, '1.50'),
  flag: column({ type: 'boolean' }, true),
  day: column({ type: 'date' }, '2022-02-03'),
  time: column({ type: 'time' }, '10:11:12'),
  json: column({ type: 'simple-json' }, { a: 1 }),
  list: column({ type: 'simple-array' }, ['a', 'b']),
  choice: column({ type: 'simple-enum', enum: ['draft', 'open'] }, 'open'),
  related: {
    declare: (prototype) => {
      ManyToOne(() => Owner)(prototype, 'extra');
    },
    value: 1,
  },
  created: {
    declare: (prototype) => {
      CreateDateColumn()(prototype, 'extra');
    },
  },
  updated: {
    declare: (prototype) => {
      UpdateDateColumn()(prototype, 'extra');
    },
  },
  version: {
    declare: (prototype) => {
      VersionColumn()(prototype, 'extra');
    },
  },
  // The row is read before it changes.
  validated: {
    declare: (prototype) => {
      MinLength(1)(prototype, 'title');
    },
    change: 2,
  },
  // BEGIN, the row with its lock, the entity, its state for `save`, UPDATE, the result, COMMIT.
  listener: {
    declare: (prototype) => {
      Object.assign(prototype, { listen: () => undefined });
      BeforeUpdate()(prototype, 'listen');
    },
    change: 7,
  },
};

function entityOf(name: string, { declare }: Option): new () => object {
  // eslint-disable-next-line @typescript-eslint/no-extraneous-class -- its columns are declared below
  class Thing {}
  PrimaryGeneratedColumn()(Thing.prototype, 'id');
  Column({ type: 'varchar' })(Thing.prototype, 'title');
  declare(Thing.prototype);
  Entity(`written_${name}`)(Thing);
  Restify({ app: 'written', name })(Thing);
  return Thing;
}

onEachDatabase(
  'the statements that write a row',
  (database) => {
    const log = new StatementLog();
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({
        compare: false,
        entities: [Owner, ...Object.entries(OPTIONS).map(([name, option]) => entityOf(name, option))],
        database: inProcessZone(database),
        dataSource: { logging: ['query'], logger: log },
      });
      await started.client.post('/rest/v1/written/owner/', { name: 'a' });
    });
    afterAll(() => started.close());

    const statementsOf = async (method: string, path: string, body: object): Promise<readonly string[]> => {
      log.clear();
      const { status, json } = await started.client.send(method, path, { body });
      expect([status, json]).toEqual([method === 'POST' ? 201 : 200, expect.objectContaining(body)]);
      return [...log.statements];
    };

    test.each(Object.entries(OPTIONS))('are as few as possible: %s', async (name, option) => {
      const { value, create = 1, change = 1 } = option;
      const url = `/rest/v1/written/${name}/`;
      const extra = value === undefined ? {} : { extra: value };
      // The first write of a table looks for triggers.
      await statementsOf('POST', url, { title: 'a', ...extra });
      expect(await statementsOf('POST', url, { title: 'b', ...extra })).toHaveLength(create);
      expect(await statementsOf('PATCH', `${url}1/`, { title: 'c', ...extra })).toHaveLength(change);
    });
  },
  ['sqlite', 'postgres'],
);
