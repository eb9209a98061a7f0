// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  allow,
  ModelSerializer,
  ResourceController,
  Restify,
  RestifyController,
  where,
} from 'nestjs-restify';
import type { Grant, Permission, Representation, Row, RepresentContext } from 'nestjs-restify';
import {
  AfterLoad,
  BeforeInsert,
  Column,
  DeleteDateColumn,
  Entity,
  ManyToOne,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { EntitySubscriberInterface, Relation } from 'typeorm';
import { TypeOrmAdapter } from '../../src/adapters/typeorm/typeorm-adapter.js';
import type { LaneRow } from '../../src/execution/lane-table.js';
import type { RestServer } from '../../src/http/rest-server.js';
import { describeLanes } from '../../src/nest/describe-lanes.js';
import { REST_SERVER } from '../../src/nest/tokens.js';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import type { TestDatabase } from '../support/databases.js';

abstract class Named {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Restify({ app: 'lanes', bulk: true })
@Entity('lanes_plain')
class Plain extends Named {}

@Restify('lanes')
@Entity('lanes_hooked')
class Hooked extends Named {}

@RestifyController(Hooked)
class HookedController extends ResourceController<Hooked> {
  override beforeWrite(): void {
    // Takes part in each write.
  }
}

@Restify('lanes')
@Entity('lanes_heard')
class Heard extends Named {
  @BeforeInsert()
  begin(): void {
    // Takes part in each INSERT.
  }
}

@Restify('lanes')
@Entity('lanes_triggered')
class Triggered extends Named {}

@Restify('lanes')
@Entity('lanes_weighed')
class Weighed extends Named {
  @Column({ type: 'float' }) weight: number;
}

@Restify('lanes')
@Entity('lanes_loaded')
class Loaded extends Named {
  @AfterLoad()
  mark(): void {
    this.name = `${this.name}!`;
  }
}

@Restify({ app: 'lanes', computed: { loud: (entity: Computed) => entity.name.toUpperCase() } })
@Entity('lanes_computed')
class Computed extends Named {}

@Restify('lanes')
@Entity('lanes_transformed')
class Transformed extends Named {
  @Column({
    type: 'varchar',
    transformer: { from: (text: string) => text.toLowerCase(), to: (text: string) => text },
  })
  code: string;
}

class Short extends ModelSerializer {
  override represent(row: Row, context: RepresentContext): Representation {
    return { name: super.represent(row, context).name };
  }
}

@Restify({ app: 'lanes', serializer: Short })
@Entity('lanes_serialized')
class Serialized extends Named {}

@Restify('lanes')
@Entity('lanes_marked')
class Marked extends Named {
  @DeleteDateColumn() deleted: Date | null;
}

class OfOpenGroups implements Permission {
  decide(): Grant {
    return allow({ rows: where('group.name', 'a') });
  }
}

@Restify({ app: 'lanes', permissions: [OfOpenGroups] })
@Entity('lanes_grouped')
class Grouped extends Named {
  @ManyToOne(() => Plain, { nullable: true }) group: Relation<Plain> | null;
}

@Restify({ app: 'lanes', bulk: true })
@Entity('lanes_linked')
class Linked extends Named {
  @ManyToOne(() => Plain, { nullable: true }) group: Relation<Plain> | null;
}

class Watch implements EntitySubscriberInterface {
  listenTo(): typeof Plain {
    return Plain;
  }
  afterLoad(): void {
    // Sees the entity.
  }
}

const ENTITIES = [
  Plain,
  Hooked,
  Heard,
  Triggered,
  Weighed,
  Loaded,
  Computed,
  Transformed,
  Serialized,
  Marked,
  Grouped,
  Linked,
];

const TRIGGERS: Readonly<Record<TestDatabase['name'], readonly string[]>> = {
  sqlite: [
    'CREATE TRIGGER lanes_trigger AFTER UPDATE ON lanes_triggered BEGIN UPDATE lanes_plain SET name = name WHERE 1 = 0; END',
  ],
  postgres: [
    'CREATE FUNCTION lanes_function() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
    'CREATE TRIGGER lanes_trigger BEFORE INSERT OR UPDATE ON lanes_triggered FOR EACH ROW EXECUTE FUNCTION lanes_function()',
  ],
  mariadb: [
    'CREATE TRIGGER lanes_trigger BEFORE INSERT ON lanes_triggered FOR EACH ROW SET NEW.name = NEW.name',
  ],
};

onEachDatabase('the lanes of operations', (database) => {
  const log = new StatementLog();
  const debugged: string[] = [];
  const ignore = (): void => undefined;
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: ENTITIES,
      controllers: [HookedController],
      database,
      dataSource: { logging: true, logger: log },
      nest: {
        logger: {
          log: ignore,
          warn: ignore,
          error: ignore,
          debug: (text: unknown) => debugged.push(String(text)),
        },
      },
    });
    const row = { name: 'a', weight: 1.5, code: 'X', group: { id: 1 } };
    for (const entity of ENTITIES) await started.dataSource.getRepository<object>(entity).insert(row);
    for (const sql of TRIGGERS[database.name]) await started.dataSource.query(sql);
  });
  beforeEach(() => {
    log.clear();
  });
  afterAll(() => started.close());

  function lanesNow(): readonly LaneRow[] {
    return started.app.get<RestServer>(REST_SERVER).prefixes.flatMap(({ api, pipeline }) => {
      const { adapter } = pipeline.services;
      if (!(adapter instanceof TypeOrmAdapter)) throw new Error('Another adapter.');
      return describeLanes([...new Set(api.routes.map(({ resource }) => resource))], adapter);
    });
  }

  function laneOf(entity: { readonly name: string }, operation: string): string {
    const row = lanesNow().find((each) => each.model === entity.name && each.operation === operation);
    return row ? `${row.lane}: ${row.reason}` : 'none';
  }

  /** The form of the statements of a GET: which of the three readers has run. */
  async function readerOf(path: string): Promise<string> {
    const response = await started.client.get(`/rest/v1/lanes/${path}`);
    expect(response.status).toBe(200);
    const { statements } = log;
    if (statements.some((sql) => /AS "?`?entity_/.test(sql))) return 'entities';
    return statements.some((sql) => /json_object|'\{"/.test(sql)) ? 'json' : 'rows';
  }

  const writesJson = database.name !== 'mariadb';
  const PLAIN = writesJson
    ? 'json: The database can write all fields.'
    : 'rows: No statement writes the JSON of rows on mariadb.';

  test.each<[{ readonly name: string }, string]>([
    [Plain, PLAIN],
    [Weighed, writesJson ? 'rows: The database cannot write the JSON of the field weight, float.' : PLAIN],
    [Loaded, 'entities: The listener Loaded.mark runs after each entity is loaded.'],
    [Computed, 'entities: The computed field loud is made of the entity.'],
    [Transformed, 'entities: The transformer of the column code changes its values.'],
    [Serialized, 'rows: The serializer Short runs for each row.'],
  ])('reads of %p', async (entity, lane) => {
    expect([laneOf(entity, 'list'), laneOf(entity, 'retrieve')]).toEqual([lane, lane]);
    const path = entity.name.toLowerCase();
    const [expected] = lane.split(':');
    expect(await readerOf(`${path}/`)).toBe(expected);
    log.clear();
    expect(await readerOf(`${path}/1/`)).toBe(expected);
  });

  test('reads change their lane while a subscriber is added', async () => {
    const { subscribers } = started.dataSource;
    const watch = new Watch();
    subscribers.push(watch);
    try {
      expect(laneOf(Plain, 'list')).toBe('entities: The subscriber Watch sees each entity that is loaded.');
      expect(await readerOf('plain/')).toBe('entities');
    } finally {
      subscribers.splice(subscribers.indexOf(watch), 1);
    }
    log.clear();
    expect(laneOf(Plain, 'list')).toBe(PLAIN);
    expect(await readerOf('plain/')).toBe(writesJson ? 'json' : 'rows');
  });

  /** What TypeORM runs alone: rows that are loaded as entities, or inserted. */
  const ENTITY_STATEMENT =
    /AS ["`]?\w+__|AS ["`]?[A-Z]\w*_\w+["`]? FROM|^INSERT INTO \S+\(|SET .* WHERE .*\bIN \(/;
  const DELETED = 'direct: One statement deletes the row.';
  const DIRECT = 'direct: One statement writes the row and returns it.';
  /** Changes on MariaDB. */
  const UNCHANGED = 'locked: No statement returns the row that it has changed on mariadb.';
  const changes = (lane: string): string =>
    database.name === 'mariadb' && lane === DIRECT ? UNCHANGED : lane;

  /** The form of the statements of a write: which of the writers has run. */
  function writerNow(): string {
    const { statements } = log;
    const isOne = statements.length === 1 && statements[0]?.includes(' RETURNING ') === true;
    const isTransaction = statements.some((sql) => /^(START|BEGIN)\b/.test(sql));
    if (isOne && !isTransaction) return 'direct';
    if (statements.some((sql) => ENTITY_STATEMENT.test(sql))) return 'entities';
    // An entity is loaded before it is changed, or inserted in a transaction.
    const first = statements.find((sql) => /^(INSERT|SELECT|UPDATE|DELETE)/.test(sql)) ?? '';
    return /^INSERT|^SELECT (?:(?! FROM ).)*name/.test(first) ? 'loaded' : 'locked';
  }

  async function writersOf(entity: { readonly name: string }): Promise<readonly string[]> {
    const path = `/rest/v1/lanes/${entity.name.toLowerCase()}/`;
    const body = { name: 'b', weight: 1, code: 'Y' };
    // The first write that could be direct asks for triggers.
    await started.client.post(path, body);
    await started.client.patch(`${path}1/`, { name: 'a' });
    await started.client.delete(`${path}${await lastIdOf(entity)}/`);
    const writers: string[] = [];
    log.clear();
    expect((await started.client.post(path, body)).status).toBe(201);
    writers.push(writerNow());
    log.clear();
    expect((await started.client.patch(`${path}1/`, { name: 'c' })).status).toBe(200);
    writers.push(writerNow());
    const last = await lastIdOf(entity);
    log.clear();
    expect((await started.client.delete(`${path}${last}/`)).status).toBe(204);
    writers.push(writerNow());
    return writers;
  }

  async function lastIdOf(entity: { readonly name: string }): Promise<number> {
    const last = await started.dataSource
      .getRepository<Named>(entity.name)
      .find({ order: { id: 'DESC' }, take: 1 });
    return last[0]?.id ?? 0;
  }

  const HOOKED = 'loaded: A hook runs inside of the transaction.';
  const TRIGGERED =
    'entities: The table lanes_triggered has triggers or rules, or each session is set up before its writes.';
  const UNRETURNED = 'locked: No statement returns the row that it has changed on mariadb.';

  const BOTH = (lane: string, deletion = DELETED): readonly string[] => [lane, lane, deletion];
  const LIVE = (lane: string, deletion = DELETED): readonly string[] => [lane, changes(lane), deletion];
  test.each<[{ readonly name: string }, readonly string[]]>([
    [Plain, LIVE(DIRECT)],
    [Hooked, LIVE(HOOKED, HOOKED.replace('loaded', 'entities'))],
    [Heard, ['entities: The listener Heard.begin runs at each INSERT.', changes(DIRECT), DELETED]],
    [Triggered, LIVE(TRIGGERED, TRIGGERED)],
    [Weighed, LIVE(DIRECT)],
    [
      Loaded,
      BOTH(
        'entities: The listener Loaded.mark runs after the entity is loaded.',
        'entities: The listener Loaded.mark runs for each row that is deleted.',
      ),
    ],
    [Computed, BOTH('entities: The value of the field loud in the response is no column of the row.')],
    [Transformed, BOTH('entities: The column code has a transformer or an expression.')],
    [Serialized, LIVE('loaded: The response is made inside of the transaction.')],
    [Marked, LIVE(DIRECT, database.name === 'mariadb' ? UNRETURNED : DELETED)],
  ])('writes of %p', async (entity, lanes) => {
    const writers = await writersOf(entity);
    expect([laneOf(entity, 'create'), laneOf(entity, 'partialUpdate'), laneOf(entity, 'destroy')]).toEqual(
      lanes,
    );
    expect(writers).toEqual(lanes.map((lane) => lane.split(':')[0]));
  });

  test('writes and bulk deletions change their lane while a subscriber is added', async () => {
    const { subscribers } = started.dataSource;
    const watch = new Watch();
    subscribers.push(watch);
    try {
      expect(laneOf(Plain, 'create')).toBe('entities: The subscriber Watch sees the writes of the entity.');
      expect(laneOf(Plain, 'bulk destroy')).toBe(
        'entities: The subscriber Watch sees each row that is deleted.',
      );
      expect(await writersOf(Plain)).toEqual(['entities', 'entities', 'entities']);
    } finally {
      subscribers.splice(subscribers.indexOf(watch), 1);
    }
    expect(laneOf(Plain, 'bulk destroy')).toBe('bulk-deletion: Nothing runs for each row that is deleted.');
    expect((await writersOf(Plain))[0]).toBe('direct');
  });

  test('a row that is granted by another one is locked before it is deleted', async () => {
    await started.dataSource.getRepository(Plain).update({ id: 1 }, { name: 'a' });
    log.clear();
    expect((await started.client.delete('/rest/v1/lanes/grouped/1/')).status).toBe(204);
    expect(writerNow()).toBe('locked');
    log.clear();
    expect((await started.client.delete('/rest/v1/lanes/grouped/1/')).status).toBe(404);
    expect(writerNow()).toBe('locked');
  });

  test('related keys are looked up before an INSERT that cannot ask for them', async () => {
    const { client } = started;
    const path = '/rest/v1/lanes/linked/';
    await client.post(path, { name: 'a' });
    log.clear();
    const { status, json } = await client.post(path, { name: 'b', group: 1 });
    expect([status, json]).toEqual([201, { id: expect.any(Number), name: 'b', group: 1 }]);
    const verbs = database.name === 'mariadb' ? ['SELECT', 'INSERT'] : ['INSERT'];
    expect(log.statements.map((sql) => sql.slice(0, 6))).toEqual(verbs);
    const refused = await client.post(path, { name: 'c', group: 999 });
    expect([refused.status, refused.json]).toEqual([400, { group: [expect.any(String)] }]);
    log.clear();
    const bodies = [1, 2, 3].map(() => ({ name: 'd', group: 1 }));
    const list = await client.post(path, bodies);
    expect([list.status, list.json]).toMatchObject([201, bodies]);
    const inserts = log.statements.filter((sql) => sql.startsWith('INSERT'));
    expect(inserts.filter((sql) => !sql.includes(' RETURNING '))).toEqual([]);
  });

  test('a missing row is deleted, and looked for, without a transaction', async () => {
    expect((await started.client.delete('/rest/v1/lanes/plain/999/')).status).toBe(404);
    expect(log.statements.map((sql) => sql.slice(0, 6))).toEqual(['DELETE', 'SELECT']);
  });

  test('a bulk deletion runs one statement for its rows', async () => {
    const rows = await started.dataSource.getRepository(Plain).save([1, 2, 3].map(() => ({ name: 'd' })));
    const ids = rows.map(({ id }) => id);
    log.clear();
    const response = await started.client.delete(`/rest/v1/lanes/plain/?keys=${ids.join(',')}`);
    expect(response.status).toBe(204);
    expect(log.statements.filter((sql) => sql.startsWith('DELETE '))).toHaveLength(1);
  });

  test('a debug line at start has the table', () => {
    const table = debugged.find((text) => text.startsWith('Lanes of rest/v1/'));
    expect(table).toMatch(
      /^Computed +list, retrieve +entities +The computed field loud is made of the entity\.$/m,
    );
    expect(table).toMatch(
      /^Plain +bulk destroy +bulk-deletion +Nothing runs for each row that is deleted\.$/m,
    );
    const models = (table?.split('\n').slice(1) ?? []).map((line) => line.split(' ')[0]);
    expect(new Set(models)).toEqual(new Set(ENTITIES.map(({ name }) => name)));
  });
});
