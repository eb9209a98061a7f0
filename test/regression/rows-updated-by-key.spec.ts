// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ResourceController, restify, RestifyController } from 'nestjs-restify';
import type { Write } from 'nestjs-restify';
import {
  Column,
  CreateDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** On SQLite, the driver of TypeORM rounds such a key, so that rows are updated by the exact one. */
const BIG = '9007199254740993';
const JSON_TEXT = '{"n":12345678901234567890}';
const STAMP = '2020-01-02 03:04:05.123456';

@Entity('rk_tag')
class RkTag {
  @PrimaryColumn() id: number;
}

@Entity('rk_post')
class RkPost {
  @PrimaryColumn('bigint') id: string;
  @ManyToMany(() => RkTag)
  @JoinTable({
    name: 'rk_plain',
    joinColumn: { name: 'post_id' },
    inverseJoinColumn: { name: 'tag_id' },
    synchronize: false,
  })
  plain: Relation<RkTag[]>;
  @ManyToMany(() => RkTag)
  @JoinTable({
    name: 'rk_hooked',
    joinColumn: { name: 'post_id' },
    inverseJoinColumn: { name: 'tag_id' },
    synchronize: false,
  })
  hooked: Relation<RkTag[]>;
}

abstract class RkPair {
  @PrimaryColumn('bigint', { name: 'post_id' }) postId: string;
  @PrimaryColumn({ name: 'tag_id' }) tagId: number;
  @ManyToOne(() => RkPost) @JoinColumn({ name: 'post_id' }) post: Relation<RkPost>;
  @ManyToOne(() => RkTag) @JoinColumn({ name: 'tag_id' }) tag: Relation<RkTag>;
  @Column('simple-json', { nullable: true }) extra: unknown;
  @Column('bigint', { nullable: true }) big: string | null;
  @CreateDateColumn({ precision: 6 }) created: Date;
  @Column({ default: '' }) note: string;
  @Column({ default: '' }) state: string = 'new';
  @Column({ type: 'varchar', length: 40, nullable: true }) seen: string | null;
}

@Entity('rk_plain')
class RkPlain extends RkPair {}

@Entity('rk_hooked')
class RkHooked extends RkPair {}

@RestifyController(RkHooked)
class RkHookedController extends ResourceController<RkHooked> {
  override beforeWrite({ entity }: Write<RkHooked>): void {
    entity.seen = `${entity.seen ?? ''}.`;
  }
}

const ENTITIES = [RkTag, RkPost, RkPlain, RkHooked];
restify(RkTag, 'rk');
restify(RkPost, 'rk');
restify(RkPlain, { app: 'rk', bulk: true });
restify(RkHooked, { app: 'rk', bulk: true });

onEachDatabase('a row that is updated by its key', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database, controllers: [RkHookedController] });
    client = started.client;
    for (const id of [1, 2]) await client.post('/rest/v1/rk/rktag/', { id });
    await client.post('/rest/v1/rk/rkpost/', { id: BIG });
  });
  afterAll(() => started.close());

  test.each(['plain', 'hooked'])('keeps the values that no one has changed: %s', async (name) => {
    const list = `/rest/v1/rk/rkpost/${BIG}/${name}/`;
    const headers = { 'Content-Type': 'application/json' };
    const created = await client.send('POST', list, {
      raw: `{"tag":1,"extra":${JSON_TEXT},"big":"${BIG}"}`,
      headers,
    });
    expect([created.status, created.text]).toEqual([201, expect.stringContaining(JSON_TEXT)]);
    await started.dataSource.query(`UPDATE rk_${name} SET created = '${STAMP}', state = 'old'`);
    const kept = async (): Promise<unknown> => {
      const [row] = await started.dataSource.query<object[]>(
        `SELECT extra, state, CAST(big AS CHAR(16)) AS big, CAST(created AS CHAR(26)) AS created FROM rk_${name}`,
      );
      return row;
    };
    const stored = await kept();
    expect(stored).toMatchObject({ extra: JSON_TEXT, big: BIG, created: STAMP, state: 'old' });
    for (const [method, url, raw] of [
      ['PATCH', `${list}1/`, '{"note":"a"}'],
      ['PATCH', `${list}1/`, `{"extra":${JSON_TEXT}}`],
      ['PATCH', `${list}1/`, `{"extra":${JSON_TEXT},"note":"b"}`],
      ['PATCH', `${list}1/`, '{"tag":2}'],
      ['PATCH', `${list}2/`, `{"tag":1,"extra":${JSON_TEXT}}`],
      ['PATCH', `/rest/v1/rk/rk${name}/${BIG},1/`, '{"note":"c"}'],
      ['PATCH', `/rest/v1/rk/rk${name}/?keys=${BIG},1`, '{"note":"d"}'],
      ['PUT', `${list}1/`, `{"tag":2,"extra":${JSON_TEXT},"big":"${BIG}","state":"old"}`],
    ] as const) {
      const { status, text } = await client.send(method, url, { raw, headers });
      expect([raw, status, text]).toEqual([raw, 200, expect.stringContaining(JSON_TEXT)]);
      expect([raw, await kept()]).toEqual([raw, stored]);
    }
  });
});
