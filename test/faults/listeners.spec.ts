// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  AfterInsert,
  AfterRemove,
  AfterSoftRemove,
  AfterUpdate,
  BeforeInsert,
  BeforeRemove,
  BeforeSoftRemove,
  BeforeUpdate,
  Column,
  DeleteDateColumn,
  Entity,
  EventSubscriber,
  ManyToOne,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import type {
  EntitySubscriberInterface,
  InsertEvent,
  QueryRunner,
  Relation,
  RemoveEvent,
  SoftRemoveEvent,
  UpdateEvent,
} from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { StatementLog } from './statement-log.js';

/** What has fired, in order, with what it was told. */
let fired: string[] = [];

@Restify({ app: 'heard', optional: ['slug'] })
@Entity('heard_story')
class Story {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;

  /** A listener fills it. */
  @Column()
  slug: string;

  @VersionColumn()
  version: number;

  @ManyToOne(() => Shelf, { nullable: true })
  shelf: Relation<Shelf> | null;

  @BeforeInsert()
  fillSlug(): void {
    fired.push('entity: before insert');
    this.slug = this.title.toLowerCase();
  }

  @AfterInsert()
  afterInsert(): void {
    fired.push(`entity: after insert of ${this.slug}, with a key: ${typeof this.id === 'number'}`);
  }

  @BeforeUpdate()
  changeSlug(): void {
    fired.push('entity: before update');
    this.slug = `${this.title.toLowerCase()}!`;
  }

  @AfterUpdate()
  afterUpdate(): void {
    fired.push(`entity: after update to ${this.slug}`);
  }

  @BeforeRemove()
  beforeRemove(): void {
    fired.push(`entity: before remove of ${this.title}`);
  }

  @AfterRemove()
  afterRemove(): void {
    fired.push(`entity: after remove of ${this.title}`);
  }
}

@Restify('heard')
@Entity('heard_shelf')
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @DeleteDateColumn()
  deletedAt: Date | null;

  @BeforeSoftRemove()
  beforeSoftRemove(): void {
    fired.push(`entity: before soft remove of ${this.name}`);
  }

  @AfterSoftRemove()
  afterSoftRemove(): void {
    fired.push(`entity: after soft remove of ${this.name}`);
  }
}

interface Told {
  readonly queryRunner: QueryRunner;
  readonly entity?: object | undefined;
  readonly databaseEntity?: object | undefined;
  readonly metadata: { readonly name: string };
}

const named = (entity: object | undefined): string =>
  String(
    (entity as { title?: string; name?: string } | undefined)?.title ??
      (entity as { name?: string } | undefined)?.name,
  );

function hear(what: string, { queryRunner, entity, databaseEntity, metadata }: Told): void {
  const kind = entity === undefined ? 'nothing' : entity.constructor.name;
  const before = databaseEntity === undefined ? '' : `, before ${named(databaseEntity)}`;
  fired.push(
    `subscriber: ${what} ${metadata.name} as ${kind} ${named(entity)}${before}, in a transaction: ${queryRunner.isTransactionActive}`,
  );
}

const columns = (event: UpdateEvent<object>): string =>
  event.updatedColumns
    .map(({ propertyName }) => propertyName)
    .concat(event.updatedRelations.map(({ propertyName }) => propertyName))
    .join(' ');

@EventSubscriber()
class Ears implements EntitySubscriberInterface {
  beforeInsert(event: InsertEvent<object>): void {
    hear('before insert', event);
  }
  afterInsert(event: InsertEvent<object>): void {
    hear('after insert', event);
  }
  beforeUpdate(event: UpdateEvent<object>): void {
    hear(`before update of ${columns(event)}`, event);
  }
  afterUpdate(event: UpdateEvent<object>): void {
    hear(`after update of ${columns(event)}`, event);
  }
  beforeRemove(event: RemoveEvent<object>): void {
    hear('before remove', event);
  }
  afterRemove(event: RemoveEvent<object>): void {
    hear('after remove', event);
  }
  beforeSoftRemove(event: SoftRemoveEvent<object>): void {
    hear('before soft remove', event);
  }
  afterSoftRemove(event: SoftRemoveEvent<object>): void {
    hear('after soft remove', event);
  }
  beforeTransactionStart(): void {
    fired.push('before start');
  }
  afterTransactionStart(): void {
    fired.push('after start');
  }
  beforeTransactionCommit(): void {
    fired.push('before commit');
  }
  afterTransactionCommit(): void {
    fired.push('after commit');
  }
  beforeTransactionRollback(): void {
    fired.push('before rollback');
  }
  afterTransactionRollback(): void {
    fired.push('after rollback');
  }
}

let queries: string[] = [];

@EventSubscriber()
class QueryEars implements EntitySubscriberInterface {
  beforeQuery({ query }: { query: string }): void {
    queries.push(`before ${query.split(' ')[0] ?? ''}`);
  }

  afterQuery({ query, success }: { query: string; success: boolean }): void {
    queries.push(`after ${query.split(' ')[0] ?? ''}: ${success}`);
  }
}

onEachDatabase('listeners and subscribers', (database) => {
  // A page that the database joins to one text.
  const verb = database.name === 'mariadb' ? 'SELECT' : 'WITH';
  const listing = new RegExp(`^${verb} .*heard_story`);
  const log = new StatementLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: [Story, Shelf],
      database,
      dataSource: { subscribers: [Ears, QueryEars], logging: true, logger: log, maxQueryExecutionTime: 250 },
    });
  });
  afterAll(() => started.close());
  beforeEach(() => {
    fired = [];
  });

  /** What fires while something runs. */
  async function during(act: () => Promise<unknown>): Promise<readonly string[]> {
    fired = [];
    await act();
    return fired;
  }

  test('fire on POST as on save', async () => {
    const repository = started.dataSource.getRepository(Story);
    const saved = await during(() => repository.save(repository.create({ title: 'Emma' })));
    expect(saved).toContain('entity: after insert of emma, with a key: true');
    let created: unknown;
    expect(
      await during(
        async () => (created = (await started.client.post('/rest/v1/heard/story/', { title: 'Emma' })).json),
      ),
    ).toEqual(saved);
    expect(created).toEqual(
      expect.objectContaining({ title: 'Emma', slug: 'emma', version: 1, shelf: null }),
    );
  });

  test.each(['patch', 'put'] as const)('fire on %s as on save', async (method) => {
    const repository = started.dataSource.getRepository(Story);
    const shelf = await started.dataSource.getRepository(Shelf).save({ name: 'top' });
    const [first, second] = [
      await repository.save(repository.create({ title: 'A' })),
      await repository.save(repository.create({ title: 'A' })),
    ];
    const loaded = await repository.findOneByOrFail({ id: first.id });
    const saved = await during(() => repository.save(Object.assign(loaded, { title: 'B', shelf })));
    expect(saved.length).toBeGreaterThan(6);
    let changed: unknown;
    expect(
      await during(
        async () =>
          (changed = (
            await started.client[method](`/rest/v1/heard/story/${second.id}/`, {
              title: 'B',
              shelf: shelf.id,
            })
          ).json),
      ),
    ).toEqual(saved);
    expect(changed).toEqual({ id: second.id, title: 'B', slug: 'b!', version: 2, shelf: shelf.id });
  });

  test('do not fire for a PATCH that changes nothing, as for a save that does not', async () => {
    const repository = started.dataSource.getRepository(Story);
    const { id } = await repository.save(repository.create({ title: 'Same' }));
    const updates = (lines: readonly string[]): readonly string[] =>
      lines.filter((line) => line.includes('update'));
    const loaded = await repository.findOneByOrFail({ id });
    const saved = updates(await during(() => repository.save(Object.assign(loaded, { title: 'Same' }))));
    expect(
      updates(await during(() => started.client.patch(`/rest/v1/heard/story/${id}/`, { title: 'Same' }))),
    ).toEqual(saved);
    expect(updates(await during(() => started.client.patch(`/rest/v1/heard/story/${id}/`, {})))).toEqual([]);
  });

  test('fire on DELETE as on remove, and as on softRemove where the model has a delete date', async () => {
    const stories = started.dataSource.getRepository(Story);
    const [story, other] = [
      await stories.save(stories.create({ title: 'R' })),
      await stories.save(stories.create({ title: 'R' })),
    ];
    const removed = await during(async () => stories.remove(await stories.findOneByOrFail({ id: story.id })));
    expect(removed).toContain('entity: after remove of R');
    expect(await during(() => started.client.delete(`/rest/v1/heard/story/${other.id}/`))).toEqual(removed);
    const shelves = started.dataSource.getRepository(Shelf);
    const [shelf, another] = [await shelves.save({ name: 's' }), await shelves.save({ name: 's' })];
    const soft = await during(async () =>
      shelves.softRemove(await shelves.findOneByOrFail({ id: shelf.id })),
    );
    expect(soft.join()).toContain('after soft remove');
    expect(await during(() => started.client.delete(`/rest/v1/heard/shelf/${another.id}/`))).toEqual(soft);
  });

  test('of transactions and queries hear of all that is done, and the log of TypeORM shows it', async () => {
    log.clear();
    queries = [];
    expect((await started.client.post('/rest/v1/heard/story/', { title: 'Q' })).status).toBe(201);
    const written = log.statements.map((statement) => statement.split(' ')[0]);
    expect(written.filter((word) => word === 'INSERT')).toHaveLength(1);
    expect(written.at(-1)).toBe('COMMIT');
    log.clear();
    queries = [];
    expect((await started.client.get('/rest/v1/heard/story/?title=Q')).status).toBe(200);
    expect(log.statements).toEqual([expect.stringMatching(listing)]);
    expect(queries).toEqual([`before ${verb}`, `after ${verb}: true`]);
    // Values of a client are parameters, and never text of a statement.
    expect(log.statements.join()).not.toContain("'Q'");
  });

  test('maxQueryExecutionTime reports a slow statement of ours', async () => {
    log.clear();
    expect((await started.client.get('/rest/v1/heard/story/')).status).toBe(200);
    expect(log.slow).toEqual([]);
    if (database.name === 'sqlite') return;
    const runner = started.dataSource.createQueryRunner();
    const [lock, unlock] =
      database.name === 'postgres'
        ? ['LOCK TABLE heard_story IN ACCESS EXCLUSIVE MODE', 'ROLLBACK']
        : ['LOCK TABLES heard_story WRITE', 'UNLOCK TABLES'];
    if (database.name === 'postgres') await runner.query('BEGIN');
    await runner.query(lock);
    const reading = started.client.get('/rest/v1/heard/story/');
    await new Promise((resolve) => setTimeout(resolve, 400));
    await runner.query(unlock);
    await runner.release();
    expect((await reading).status).toBe(200);
    expect(log.slow).toEqual([expect.stringMatching(listing)]);
  });
});
