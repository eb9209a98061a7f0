// @tags db http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import {
  CsvRenderer,
  IdempotencyRecord,
  ModelSerializer,
  NdjsonRenderer,
  ResourceController,
  Restify,
  RestifyController,
} from 'nestjs-restify';
import type {
  ParseContext,
  ParsedBody,
  RenderedRows,
  Renderer,
  RepresentContext,
  Representation,
  Row,
} from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Observable } from 'rxjs';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { StatementLog } from './statement-log.js';

/** Holds the event loop. */
function work(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}

/** What the application does by itself, in parts, and how many of them stand in one turn of the event loop. */
class Turns {
  private parts = 0;
  private most = 0;
  private running = false;

  note(): void {
    this.parts += 1;
    this.most = Math.max(this.most, this.parts);
  }

  /** The most parts of one turn, of all that `act` does. */
  async during(act: () => Promise<unknown>): Promise<number> {
    const turn = (): void => {
      this.parts = 0;
      if (this.running) setImmediate(turn);
    };
    this.most = 0;
    this.running = true;
    turn();
    await act();
    this.running = false;
    return this.most;
  }
}

const turns = new Turns();
/** Counts the pages of a list as they are read; objects related to a page are read with it, in statements that join its table. */
class PageLog extends StatementLog {
  override logQuery(query: string): void {
    super.logQuery(query);
    if (/ LIMIT \d{2,}/.test(query) && !/ JOIN "held_row" /.test(query)) turns.note();
  }
}

class AtOnce implements Renderer {
  readonly format = 'count';
  readonly mediaType = 'text/x-count';

  async *render({ pages }: RenderedRows): AsyncGenerator<string> {
    let count = 0;
    for await (const rows of pages) count += rows.length;
    yield String(count);
  }
}

class Around implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

@Restify({
  app: 'held',
  orderingFields: ['level'],
  renderers: [new CsvRenderer(), new NdjsonRenderer(), new AtOnce()],
  expandable: ['rack', 'parts'],
  shape: { maxObjects: 100_000 },
})
@Entity('held_row')
class Plain {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  level: number;

  @ManyToOne(() => Rack, (rack) => rack.rows)
  @JoinColumn({ name: 'rackId' })
  rack: Relation<Rack>;

  @OneToMany(() => Part, (part) => part.row)
  parts: Relation<Part[]>;
}

@Restify('held')
@Entity('held_part')
class Part {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Plain, (row) => row.parts)
  row: Relation<Plain>;
}

@Restify('held')
@Entity('held_rack')
class Rack {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToMany(() => Plain, (row) => row.rack)
  rows: Relation<Plain[]>;
}

@Restify({ app: 'held', computed: { double: (row: object) => (row as Computed).level * 2 } })
@Entity('held_row', { synchronize: false })
class Computed {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  level: number;
}

@Restify({ app: 'held', interceptors: [Around] })
@Entity('held_row', { synchronize: false })
class Surrounded {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  level: number;
}

@Restify('held')
@Entity('held_row', { synchronize: false })
class Replaced {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  level: number;
}

@RestifyController(Replaced)
class ReplacedController extends ResourceController<Replaced> {
  override async list(request: object): Promise<unknown> {
    return ((await super.list(request)) as readonly unknown[]).length;
  }
}

/** How long it takes over each object, in milliseconds. */
let [parsing, representing] = [0, 0];

class SlowSerializer extends ModelSerializer {
  override parse(body: Readonly<Record<string, unknown>>, context: ParseContext): ParsedBody {
    if (parsing > 0) {
      turns.note();
      work(parsing);
    }
    return super.parse(body, context);
  }

  override represent(row: Row, context: RepresentContext): Representation {
    if (representing > 0) {
      turns.note();
      work(representing);
    }
    return super.represent(row, context);
  }
}

@Restify({ app: 'held', serializer: SlowSerializer, bulk: true, idempotency: true })
@Entity('held_slow')
class Slow {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  level: number;
}

const ENTITIES = [IdempotencyRecord, Plain, Part, Rack, Computed, Surrounded, Replaced, Slow];
const ROWS = 12_000;

describe('on a database that answers at once', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: ENTITIES,
      controllers: [ReplacedController],
      dataSource: { logging: true, logger: new PageLog() },
    });
    const { dataSource } = started;
    await dataSource.getRepository(Rack).insert({ id: 1 });
    const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})`;
    await dataSource.query(`${numbers} INSERT INTO held_row (level, "rackId") SELECT i % 7, 1 FROM n`);
    await dataSource.query(`${numbers} INSERT INTO held_part ("rowId") SELECT i FROM n`);
  });
  afterAll(() => started.close());

  const list = '/rest/v1/held/plain/';
  test.each<[name: string, path: string]>([
    ['JSON that the database writes', list],
    ['another order', `${list}?ordering=-level`],
    ['CSV', `${list}?format=csv`],
    ['NDJSON', `${list}?format=ndjson`],
    ["a renderer of the application's own, which reads all rows first", `${list}?format=count`],
    ['a nested list', '/rest/v1/held/rack/1/rows/'],
    ['rows of entities', '/rest/v1/held/computed/'],
    ['a list that interceptors are given whole', '/rest/v1/held/surrounded/'],
    ['a list that a method of the application is given whole', '/rest/v1/held/replaced/'],
    ['rows with their related objects', `${list}?expand=rack,parts`],
  ])('a long list is read page by page, with a turn of the event loop between: %s', async (_name, path) => {
    let text = '';
    const most = await turns.during(async () => {
      const answer = await started.client.get(path);
      expect(answer.status).toBe(200);
      ({ text } = answer);
    });
    expect(text.length).toBeGreaterThanOrEqual(String(ROWS).length);
    // The turn that is counted here begins before or behind the one that the page waits for.
    expect(most).toBeLessThanOrEqual(2);
  });

  test('however many clients read, one page is read in a turn', async () => {
    const readers = 8;
    const most = await turns.during(() =>
      Promise.all(Array.from({ length: readers }, () => started.client.get(`${list}?ordering=-id`))),
    );
    // The first page of each is read when it asks.
    expect(most).toBeLessThanOrEqual(readers + 2);
    expect(
      await turns.during(() =>
        Promise.all(Array.from({ length: readers }, () => started.client.get(`${list}?format=count`))),
      ),
    ).toBeLessThanOrEqual(readers + 2);
  });
});

onEachDatabase('objects that take their time', (database) => {
  const log = new StatementLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: ENTITIES,
      controllers: [ReplacedController],
      database,
      dataSource: { logging: true, logger: log },
    });
  });
  afterAll(() => started.close());

  // Three of two milliseconds are more than five, and the turn that is counted begins before or behind theirs; all would be thirty.
  const MOST = 12;
  const items = Array.from({ length: 30 }, (_, level) => ({ level }));

  test('are made of the bodies of a bulk write with turns of the event loop between, represented and answered anew too', async () => {
    const headers = { 'Idempotency-Key': `held-${database.name}` };
    const post = async (): Promise<void> => {
      const { status, json } = await started.client.post('/rest/v1/held/slow/', items, { headers });
      expect([status, (json as unknown[]).length]).toEqual([201, items.length]);
    };
    parsing = 2;
    expect(await turns.during(post)).toBeLessThanOrEqual(MOST);
    expect(
      await turns.during(async () => {
        const { status } = await started.client.patch(
          '/rest/v1/held/slow/',
          (await started.dataSource.getRepository(Slow).find()).map(({ id }) => ({ id, level: 5 })),
        );
        expect(status).toBe(200);
      }),
    ).toBeLessThanOrEqual(MOST);
    [parsing, representing] = [0, 2];
    expect(
      await turns.during(async () => {
        const { status } = await started.client.patch('/rest/v1/held/slow/?level=5', { level: 6 });
        expect(status).toBe(200);
      }),
    ).toBeLessThanOrEqual(MOST);
    representing = 0;
  });

  test('are read in shorter pages', async () => {
    const { dataSource, client } = started;
    const repository = dataSource.getRepository(Slow);
    await repository.clear();
    for (let at = 0; at < 3500; at += 500)
      await repository.insert(Array.from({ length: 500 }, () => ({ level: at })));
    representing = 0.1;
    const limits = async (): Promise<readonly number[]> => {
      log.clear();
      const { status, json } = await client.get('/rest/v1/held/slow/');
      expect([status, (json as unknown[]).length]).toEqual([200, 3500]);
      return log.statements.flatMap((each) =>
        /held_slow/.test(each) ? Number(/ LIMIT (\d+)/.exec(each)?.[1] ?? []) : [],
      );
    };
    const first = await limits();
    expect(first[0]).toBe(1000);
    // A machine that is busy with other work makes the times of pages what they are not.
    let shortest = Math.min(...first);
    for (let lists = 0; lists < 10 && shortest > 125; lists += 1) shortest = Math.min(...(await limits()));
    expect(shortest).toBeLessThanOrEqual(125);
    representing = 0;
    for (let lists = 0; lists < 10 && Math.max(...(await limits())) < 500; lists += 1);
    expect(Math.max(...(await limits()))).toBeGreaterThan(shortest);
  });
});
