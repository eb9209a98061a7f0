// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Entity, JoinTable, ManyToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class SomePairs implements Permission {
  decide(): Grant {
    return allow({ rows: where('lid', 'in', [1]) });
  }
}

class SomeLids implements Permission {
  decide(): Grant {
    return allow({ rows: where('id', 'in', [1, 2]) });
  }
}

@Restify({ app: 'lids', relatedKeys: ['lids'], through: { lids: { permissions: [SomePairs] } }, bulk: true })
@Entity('lids_box')
class Box {
  @PrimaryColumn({ type: 'int' }) id: number;
  @ManyToMany(() => Lid)
  @JoinTable({ name: 'lids_pairs', joinColumn: { name: 'box' }, inverseJoinColumn: { name: 'lid' } })
  lids: Relation<Lid[]>;
}

@Restify({ app: 'lids', permissions: [SomeLids] })
@Entity('lids_lid')
class Lid {
  @PrimaryColumn({ type: 'int' }) id: number;
}

const BOXES = '/rest/v1/lids/box/';

onEachDatabase('hidden pairs of hidden objects', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Box, Lid], database });
    const { dataSource } = started;
    await dataSource.getRepository(Lid).insert([1, 2, 3, 4].map((id) => ({ id })));
    await dataSource.getRepository(Box).insert({ id: 1 });
    await dataSource.query('INSERT INTO lids_pairs (box, lid) VALUES (1, 1), (1, 3)');
  });
  afterAll(() => started.close());

  test('S24: a hidden object with a hidden pair is as absent as one without, and as none', async () => {
    const { client } = started;
    // The pair of 3 exists, that of 4 does not, and 9 is no object.
    for (const key of [3, 4, 9]) {
      const message = `Item 1: Invalid pk "${key}" - object does not exist.`;
      const other = 'Item 2: Invalid pk "8" - object does not exist.';
      const bodies: [unknown, unknown][] = [
        [{ lids: [1, key, 8] }, { lids: [message, other] }],
        [{ lids: [1, key] }, { lids: [message] }],
        [{ lids: { add: [1, key] } }, { lids: { add: [message] } }],
      ];
      for (const [body, errors] of bodies) {
        const single = await client.patch(`${BOXES}1/`, body);
        expect([key, single.status, single.json]).toEqual([key, 400, errors]);
        const bulk = await client.patch(BOXES, [{ id: 1, ...(body as object) }]);
        expect([key, bulk.status, bulk.json]).toEqual([key, 400, [errors]]);
      }
    }
  });
});
