// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { Write } from 'nestjs-restify';
import {
  BeforeInsert,
  BeforeUpdate,
  Column,
  CreateDateColumn,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('kept')
@Entity('hooked_shelf')
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @OneToMany(() => Quick, (book) => book.shelf)
  books: Relation<Quick[]>;
}

abstract class Book {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  title: string;

  @Column({ type: 'int', nullable: true })
  pages: number | null;

  @Column({ type: 'decimal', precision: 8, scale: 2, default: '1.50' })
  price: string;

  @Column({ type: 'simple-json', nullable: true })
  tags: unknown;

  @Column({ type: 'json', nullable: true })
  notes: unknown;

  @Column({ nullable: true })
  printed: Date;

  @Column({ type: 'date', nullable: true })
  day: string | null;

  @Column({ length: 20, default: 'none', select: false })
  secret: string;

  @Column({ length: 20, default: 'fixed', update: false })
  fixed: string;

  @CreateDateColumn()
  made: Date;

  @UpdateDateColumn()
  changed: Date;

  @VersionColumn()
  version: number;
}

/** Its writes load and write entities by SQL. */
@Restify({ app: 'kept', bulk: true, exclude: ['secret'] })
@Entity('hooked_quick')
class Quick extends Book {
  @ManyToOne(() => Shelf, (shelf) => shelf.books, { nullable: true })
  shelf: Relation<Shelf> | null;
}

/** The same through TypeORM. */
@Restify({ app: 'kept', bulk: true, exclude: ['secret'] })
@Entity('hooked_slow')
class Slow extends Book {
  @ManyToOne(() => Shelf, { nullable: true })
  shelf: Relation<Shelf> | null;

  @BeforeInsert()
  @BeforeUpdate()
  listen(): void {
    // TypeORM has to write the entity.
  }
}

type Hook = (write: Pick<Write<Book & { shelf: unknown }>, 'entity' | 'manager' | 'operation'>) => unknown;
const nothing: Hook = () => undefined;
const hooks = { before: nothing, after: nothing };
/** What the hooks behind a write have seen of the entity. */
const seen: unknown[] = [];

function shown(entity: object): unknown {
  const { made, changed, ...rest } = entity as Partial<Book>;
  return { ...rest, hasMade: made instanceof Date || typeof made === 'string', hasChanged: Boolean(changed) };
}

async function run(name: keyof typeof hooks, write: Write<Quick>): Promise<void> {
  const entity = write.entity as never as Book & { shelf: unknown };
  await hooks[name]({ ...write, entity });
  seen.push([name, shown(entity)]);
}

@RestifyController(Quick)
class QuickController extends ResourceController<Quick> {
  override beforeWrite(write: Write<Quick>): Promise<void> {
    return run('before', write);
  }
  override afterWrite(write: Write<Quick>): Promise<void> {
    return run('after', write);
  }
}

@RestifyController(Slow)
class SlowController extends ResourceController<Slow> {
  override beforeWrite(write: Write<Slow>): Promise<void> {
    return run('before', write);
  }
  override afterWrite(write: Write<Slow>): Promise<void> {
    return run('after', write);
  }
}

const OLD = new Date('2020-02-03T04:05:06.000Z');
const BODY = {
  title: 'a',
  pages: 3,
  price: '2.50',
  tags: { a: 1, b: [2] },
  notes: { c: 1, d: [2.5] },
  printed: '2021-01-02T03:04:05.000Z',
  day: '2021-05-06',
  shelf: 1,
};

/** What a hook may do with an entity, by name. */
const HOOKS: Readonly<Record<string, Hook>> = {
  nothing,
  'sets a column': ({ entity }) => (entity.title = entity.title.toUpperCase()),
  'sets a column to null': ({ entity }) => (entity.pages = null),
  'sets a column to what is stored': ({ entity }) => (entity.title = 'a'),
  'sets a number as a text': ({ entity }) => (entity.pages = '7' as never),
  'sets a text as a number': ({ entity }) => (entity.title = 7 as never),
  'sets a text as a boolean': ({ entity }) => (entity.title = true as never),
  'sets a number to what is none': ({ entity }) => (entity.pages = Number.NaN),
  'sets a decimal as a number': ({ entity }) => (entity.price = 3.25 as never),
  'sets a date': ({ entity }) => (entity.printed = OLD),
  'changes a date in place': ({ entity }) => entity.printed.setUTCFullYear(1999),
  'changes JSON in place': ({ entity }) => Object.assign(entity.tags as object, { a: 9 }),
  'changes JSON of the driver in place': ({ entity }) => Object.assign(entity.notes as object, { c: 9 }),
  'sets JSON to what is stored': ({ entity }) => (entity.notes = { d: [2.5], c: 1 }),
  'sets a day': ({ entity }) => (entity.day = '1999-12-31'),
  'sets a hidden column': ({ entity }) => (entity.secret = 'told'),
  'sets a column that never changes': ({ entity }) => (entity.fixed = 'other'),
  'sets an expression': ({ entity }) => (entity.pages = (() => '40 + 2') as never),
  'deletes a value': ({ entity }) => (entity.title = entity.title === 'a' ? 'a' : (undefined as never)),
  'sets the version': ({ entity }) => (entity.version = 40),
  'sets the date of the change': ({ entity }) => (entity.changed = OLD),
  'sets a relation': ({ entity }) => (entity.shelf = { id: 2 }),
  'sets a relation to a key': ({ entity }) => (entity.shelf = 2),
  'sets a relation to a loaded object': async ({ entity, manager }) =>
    (entity.shelf = await manager.findOneBy(Shelf, { id: 2 })),
  'empties a relation': ({ entity }) => (entity.shelf = null),
  'changes the key of a relation in place': ({ entity }) => Object.assign(entity.shelf as object, { id: 2 }),
  'sets a property that is no column': ({ entity }) => Object.assign(entity, { other: 1 }),
  throws: () => {
    throw new Error('no');
  },
  'writes by the manager': ({ manager }) => manager.update(Shelf, 1, { name: 'by a hook' }),
};

onEachDatabase('an entity that hooks change', (database) => {
  let started: StartedApp;
  const log = new StatementLog();
  beforeAll(async () => {
    started = await startApp({
      entities: [Shelf, Quick, Slow],
      database,
      controllers: [QuickController, SlowController],
      dataSource: { logging: ['query'], logger: log },
      compare: false,
    });
    await started.dataSource.manager.save(Shelf, [{ name: 'one' }, { name: 'two' }]);
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    Object.assign(hooks, { before: nothing, after: nothing });
    await started.dataSource.manager.clear(Quick);
    await started.dataSource.manager.clear(Slow);
  });

  const send = (method: string, path: string, body: unknown) =>
    started.client.send(method, `/rest/v1/kept/${path}`, { body });

  async function storedOf(entity: typeof Quick | typeof Slow): Promise<unknown> {
    const { manager } = started.dataSource;
    const rows = await manager
      .createQueryBuilder<Book>(entity, 'book')
      .addSelect('book.secret')
      .leftJoinAndSelect('book.shelf', 'shelf')
      .orderBy('book.id')
      .getMany();
    return rows.map(({ made, changed, ...rest }) => ({
      ...rest,
      made: made.getTime() > OLD.getTime(),
      // An update sets it, at the earliest in the second of the creation.
      changed: changed.getTime() > OLD.getTime(),
    }));
  }

  /** All that a client and a hook see of one write, and what is stored. */
  async function observe(
    model: typeof Quick | typeof Slow,
    hook: Hook,
    { method, at }: { readonly method: string; readonly at: 'before' | 'after' },
  ): Promise<readonly unknown[]> {
    Object.assign(hooks, { before: nothing, after: nothing });
    const path = `${model.name.toLowerCase()}/`;
    let id = 0;
    if (method !== 'POST') {
      id = ((await send('POST', path, BODY)).json as { id: number }).id;
      await started.dataSource.manager
        .createQueryBuilder()
        .update(model)
        .set({ changed: OLD, version: 5 })
        .execute();
    }
    seen.length = 0;
    hooks[at] = hook;
    const body =
      method === 'PATCH'
        ? { title: 'b' }
        : { ...BODY, title: 'b', tags: { b: [2], a: 1 }, notes: { d: [2.5], c: 1 } };
    const { status, json } = await send(method, id === 0 ? path : `${path}${id}/`, body);
    const answered = JSON.stringify(json).replace(/"(made|changed)":"20(2[1-9]|[3-9])[^"]*"/g, '"$1":"now"');
    return [
      status,
      answered,
      structuredClone(seen.map((each) => JSON.stringify(each))),
      await storedOf(model),
    ];
  }

  const CASES = Object.keys(HOOKS).flatMap((name) =>
    ['POST', 'PUT', 'PATCH'].flatMap((method) =>
      (['before', 'after'] as const).map((at) => [name, method, at] as const),
    ),
  );

  test.each(CASES)('is written as by TypeORM where a hook %s: %s, %s the write', async (name, method, at) => {
    const hook = HOOKS[name] ?? nothing;
    const slow = await observe(Slow, hook, { method, at });
    const quick = await observe(Quick, hook, { method, at });
    expect(quick).toEqual(slow);
  });

  test('is loaded by one statement and changed by another one', async () => {
    const { id } = (await send('POST', 'quick/', BODY)).json as { id: number };
    hooks.before = ({ entity }) => (entity.title = entity.title.toUpperCase());
    log.clear();
    const { json } = await send('PATCH', `quick/${id}/`, { title: 'new' });
    expect(json).toMatchObject({ title: 'NEW', version: 2 });
    const verbs = log.statements.map((sql) => sql.split(' ')[0]);
    // Behind the UPDATE, the version is read for `afterWrite`, and then the response.
    const behind = ['SELECT', 'SELECT'];
    expect(verbs).toEqual([verbs[0], 'SELECT', 'UPDATE', ...behind, 'COMMIT']);
  });
});
