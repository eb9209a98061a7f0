// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { CursorPagination, LimitOffsetPagination, Restify } from 'nestjs-restify';
import type { Pagination } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'converted', label: 'name' })
@Entity('converted_owner')
class Owner {
  @PrimaryColumn() id: number;
  @Column() name: string;
}

abstract class Note {
  @PrimaryGeneratedColumn() id: number;
  @Column() rank: number;
  @Column({ type: 'simple-json', nullable: true }) meta: unknown;
  @Column({ type: Date, nullable: true }) seen: Date | null;
  @ManyToOne(() => Owner, { nullable: true }) owner: Relation<Owner> | null;
}

const orders = (pagination: Pagination | false): object => ({
  app: 'converted',
  orderingFields: ['rank', 'seen', 'owner.name'],
  shape: true,
  expandable: ['owner'],
  pagination,
});

@Restify(orders(new CursorPagination({ pageSize: 3, secret: 'x'.repeat(32) })))
@Entity('converted_by_cursor')
class ByCursor extends Note {}

@Restify(orders(new LimitOffsetPagination({ pageSize: 3 })))
@Entity('converted_by_offset')
class ByOffset extends Note {}

@Restify(orders(false))
@Entity('converted_whole')
class Whole extends Note {}

/** Written by the process, from records. */
@Restify({
  ...orders(new CursorPagination({ pageSize: 3, secret: 'x'.repeat(32) })),
  computed: { double: (note: object) => (note as Computed).rank * 2 },
})
@Entity('converted_computed')
class Computed extends Note {}

const MODELS = [ByCursor, ByOffset, Whole, Computed];
const ROWS = Array.from({ length: 10 }, (_, at) => ({
  rank: at % 3,
  meta: [null, { a: [at, 'ä"\u0001'], b: null }, [], 'text', 1.5][at % 5],
  seen: at % 4 === 0 ? null : new Date(Date.UTC(2020, 0, 1 + at)),
  owner: at % 3 === 0 ? null : { id: at % 2 },
}));

interface Read {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

class ReadLog extends StatementLog {
  readonly reads: Read[] = [];

  override logQuery(sql: string, parameters: readonly unknown[] = []): void {
    this.reads.push({ sql, parameters });
  }
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly Output?: readonly string[];
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

onEachDatabase('the pages of a list in an order without an index', (database) => {
  const log = new ReadLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: [Owner, ...MODELS],
      database,
      dataSource: { logging: true, logger: log },
    });
    await started.dataSource.getRepository(Owner).insert([0, 1].map((id) => ({ id, name: `o${1 - id}` })));
    for (const model of MODELS) await started.dataSource.getRepository<Note>(model).save(ROWS);
  });
  beforeEach(() => {
    log.reads.length = 0;
  });
  afterAll(() => started.close());

  const textOf = async (url: string): Promise<string> => {
    const { status, text } = await started.client.get(url.replace(/^http:\/\/[^/]*/, ''));
    expect([url, status]).toEqual([url, 200]);
    return text;
  };

  /** The text of the rows of each page, and the link to the next one. */
  const pageAt = async (url: string): Promise<{ readonly rows: string; readonly next: string | null }> => {
    const text = await textOf(url);
    if (text.startsWith('[')) return { rows: text.slice(1, -1), next: null };
    const [, rows = ''] = /"results":\[(.*)\]\}$/s.exec(text) ?? [];
    return { rows, next: (JSON.parse(text) as { readonly next: string | null }).next };
  };

  const compareNames = (one: string | undefined, other: string | undefined): number => {
    if (one === other) return 0;
    const nullsFirst = database.name !== 'postgres';
    if (one === undefined || other === undefined) return (one === undefined) === nullsFirst ? -1 : 1;
    return one < other ? -1 : 1;
  };
  const expectedIds = (ordering: string): readonly number[] => {
    const rows = ROWS.map((row, at) => ({ ...row, id: at + 1 }));
    const sorted = rows.sort((one, other) =>
      ordering.endsWith('rank')
        ? one.rank - other.rank || one.id - other.id
        : compareNames(
            one.owner ? `o${1 - one.owner.id}` : undefined,
            other.owner ? `o${1 - other.owner.id}` : undefined,
          ) || one.id - other.id,
    );
    const ids = sorted.map(({ id }) => id);
    return ordering.startsWith('-') ? ids.reverse() : ids;
  };

  test.each(
    ['bycursor', 'byoffset', 'whole', 'computed'].flatMap((model) =>
      ['', 'with=labels', 'expand=owner', 'fields=meta,id'].map((query) => [model, query] as const),
    ),
  )('%s?%s have the bytes of the objects', async (model, query) => {
    const path = `/rest/v1/converted/${model}/`;
    for (const ordering of ['rank', '-rank', 'owner__name', '-owner__name']) {
      const rows: string[] = [];
      for (let url: string | null = `${path}?${query}&ordering=${ordering}`; url !== null;) {
        const page: Awaited<ReturnType<typeof pageAt>> = await pageAt(url);
        rows.push(page.rows);
        url = page.next;
      }
      const objects: string[] = [];
      for (const id of expectedIds(ordering)) objects.push(await textOf(`${path}${String(id)}/?${query}`));
      expect([ordering, rows.join(',')]).toEqual([ordering, objects.join(',')]);
    }
  });

  if (database.name === 'postgres')
    test.each(['bycursor', 'byoffset', 'whole', 'computed'])(
      'convert the values of %s above the limit',
      async (model) => {
        await textOf(`/rest/v1/converted/${model}/?ordering=rank`);
        const read = log.reads.find(({ sql }) => sql.includes('converted_') && sql.includes('ORDER BY'));
        if (!read) throw new Error('No statement');
        const [record] = await started.dataSource.query<
          readonly Readonly<Record<string, readonly [{ readonly Plan: PlanNode }]>>[]
        >(`EXPLAIN (VERBOSE, FORMAT JSON) ${read.sql}`, [...read.parameters]);
        const plan = record?.['QUERY PLAN']?.[0].Plan;
        const limit = plan && nodesOf(plan).find((node) => node['Node Type'] === 'Limit');
        if (!limit) throw new Error('No limit');
        const below = nodesOf(limit).flatMap(({ Output }) => Output ?? []);
        expect(below.some((each) => each.includes('meta'))).toBe(true);
        expect(below.filter((each) => /::|to_char|CASE/.test(each))).toEqual([]);
      },
    );
});
