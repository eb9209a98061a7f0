// @tags db http
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  allow,
  CsvRenderer,
  LimitOffsetPagination,
  NdjsonRenderer,
  PageNumberPagination,
  Restify,
  where,
} from 'nestjs-restify';
import type {
  AccessContext,
  Grant,
  Page,
  PageResponse,
  PageRequest,
  Pagination,
  Permission,
  RenderedRows,
  Renderer,
  Representation,
} from 'nestjs-restify';
import type { CallHandler, NestInterceptor } from '@nestjs/common';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** A clerk sees open entries alone, and no amount. */
class ByRole implements Permission {
  decide({ actor }: AccessContext): Grant {
    return (actor as { name?: string } | null)?.name === 'clerk'
      ? allow({ rows: where('open', true), readable: ['id', 'text', 'open', 'book'] })
      : allow();
  }
}

/** Columns beside each other, as an application may want them. */
class PipeRenderer implements Renderer {
  readonly format = 'pipes';
  readonly mediaType = 'text/x-pipes';

  async *render({ pages, fields, model }: RenderedRows): AsyncGenerator<string> {
    yield `${model}: ${fields.join('|')}\n`;
    for await (const rows of pages)
      for (const row of rows) yield `${Object.values(row).map(String).join('|')}\n`;
  }
}

class Doubled implements NestInterceptor {
  intercept(_context: unknown, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(
        map((value: unknown) =>
          Array.isArray(value) ? [...(value as unknown[]), ...(value as unknown[])] : value,
        ),
      );
  }
}

const RENDERERS = [new CsvRenderer(), new NdjsonRenderer()];

@Restify({ app: 'forms', permissions: [ByRole], renderers: [...RENDERERS, new PipeRenderer()] })
@Entity('forms_entry')
class Entry {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'varchar', nullable: true })
  text: string | null;

  @Column({ type: 'decimal', precision: 8, scale: 2, default: 0 })
  amount: string;

  @Column({ default: true })
  open: boolean;

  @Column({ type: 'simple-json', nullable: true })
  data: unknown;

  @ManyToOne(() => Book, (book) => book.entries, { nullable: true })
  book: Relation<Book> | null;
}

@Restify({
  app: 'forms',
  renderers: RENDERERS,
  pagination: new PageNumberPagination({ pageSize: 2 }),
  through: { tags: { renderers: RENDERERS } },
})
@Entity('forms_book')
class Book {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @OneToMany(() => Entry, (entry) => entry.book)
  entries: Relation<Entry[]>;

  @ManyToMany(() => Tag)
  @JoinTable({ name: 'forms_book_tag' })
  tags: Relation<Tag[]>;
}

@Restify({
  app: 'forms',
  renderers: RENDERERS,
  pagination: new LimitOffsetPagination({ pageSize: 1, style: 'headers' }),
  strict: true,
  interceptors: [Doubled],
})
@Entity('forms_tag')
class Tag {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  word: string;
}

@Restify('forms')
@Entity('forms_plain')
class Plain {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'forms', renderers: [new CsvRenderer({ bom: true })] })
@Entity('forms_marked')
class Marked {
  @PrimaryGeneratedColumn()
  id: number;
}

const ENTRIES = '/rest/v1/forms/entry/';
const CLERK = { 'x-name': 'clerk' };
const CSV = 'text/csv; charset=utf-8; header=present';

function asActor(
  request: { headers: Readonly<Record<string, unknown>>; user?: unknown },
  _response: unknown,
  next: () => void,
): void {
  if (request.headers['x-name'] !== undefined) request.user = { name: request.headers['x-name'] };
  next();
}

onEachDatabase('other forms than JSON', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      database,
      entities: [Entry, Book, Tag, Plain, Marked],
      configure: (app) => app.use(asActor),
    });
    const { client } = started;
    for (const name of ['one', 'two', 'three']) await client.post('/rest/v1/forms/book/', { name });
    for (const word of ['red', 'blue']) await client.post('/rest/v1/forms/tag/', { word });
    await client.post('/rest/v1/forms/book/1/tags/', { tag: 2 });
    await client.post(ENTRIES, { text: 'say "hi", now', amount: '-5.00', book: 1, data: { a: [1, null] } });
    await client.post(ENTRIES, { text: '=HYPERLINK("http://evil")', amount: '1.50', open: false });
    await client.post(ENTRIES, { text: null, book: 1 });
  });
  afterAll(() => started.close());

  test('a list as CSV begins with a byte order mark by option of the renderer', async () => {
    const listed = await started.client.get('/rest/v1/forms/marked/', { headers: { accept: 'text/csv' } });
    expect(listed.text).toBe('\ufeffid\r\n');
    await started.client.post('/rest/v1/forms/marked/', {});
    const { text } = await started.client.get('/rest/v1/forms/marked/?format=csv');
    expect(text).toBe('\ufeffid\r\n1\r\n');
  });

  test('a list as CSV: a line of names, a line a row, quotes doubled, and nothing that a spreadsheet runs', async () => {
    const { status, headers, text } = await started.client.get(ENTRIES, { headers: { accept: 'text/csv' } });
    expect([status, headers['content-type'], headers['content-disposition'], headers.vary]).toEqual([
      200,
      CSV,
      'attachment; filename="entry.csv"',
      'Accept, Cookie',
    ]);
    expect(text.split('\r\n')).toEqual([
      'id,text,amount,open,data,book',
      '1,"say ""hi"", now",-5.00,true,"{""a"":[1,null]}",1',
      `2,"'=HYPERLINK(""http://evil"")",1.50,false,,`,
      '3,,0.00,true,,1',
      '',
    ]);
  });

  test('a list as NDJSON: the rows of the plain list, a line each', async () => {
    const plain = await started.client.get(ENTRIES);
    const { status, headers, text } = await started.client.get(`${ENTRIES}?format=ndjson`);
    expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    expect(text).toBe((plain.json as readonly unknown[]).map((row) => `${JSON.stringify(row)}\n`).join(''));
  });

  test('texts and JSON that look like the end of a row stay in their row', async () => {
    const text = '},{"id":9},\n{"id":10}';
    const data = [{ id: 9 }, { id: 10, text: '},{"id":11' }];
    const { json } = await started.client.post(ENTRIES, { text, data });
    const { id } = json as { id: number };
    const listed = await started.client.get(`${ENTRIES}?format=ndjson`);
    const rows = listed.text.trimEnd().split('\n');
    expect(JSON.parse(rows.at(-1) ?? '')).toEqual({ id, text, amount: '0.00', open: true, data, book: null });
    const plain = await started.client.get(ENTRIES);
    expect(`[${rows.join(',')}]`).toBe(plain.text);
    const csv = await started.client.get(`${ENTRIES}?format=csv`);
    const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`;
    expect(csv.text.endsWith(`${id},${quoted(text)},0.00,true,${quoted(JSON.stringify(data))},\r\n`)).toBe(
      true,
    );
    await started.client.delete(`${ENTRIES}${id}/`);
  });

  test('one object, and what does not exist', async () => {
    expect((await started.client.get(`${ENTRIES}3/?format=csv`)).text).toBe(
      'id,text,amount,open,data,book\r\n3,,0.00,true,,1\r\n',
    );
    const missing = await started.client.get(`${ENTRIES}99/?format=csv`);
    expect([missing.status, missing.json, missing.headers['content-type']]).toEqual([
      404,
      { detail: 'Not found.' },
      'application/json',
    ]);
  });

  test('what a caller may not see is in no form', async () => {
    const csv = await started.client.get(`${ENTRIES}?format=csv`, { headers: CLERK });
    expect(csv.text).toBe('id,text,open,book\r\n1,"say ""hi"", now",true,1\r\n3,,true,1\r\n');
    expect((await started.client.get(`${ENTRIES}2/?format=ndjson`, { headers: CLERK })).status).toBe(404);
    expect((await started.client.get(`${ENTRIES}?format=pipes&amount=1.50`, { headers: CLERK })).text).toBe(
      'entry: id|text|open|book\n1|say "hi", now|true|1\n3|null|true|1\n',
    );
  });

  test('filters, search and order hold, and an empty list is its line of names', async () => {
    expect(
      (await started.client.get(`${ENTRIES}?ordering=-id&open=true&format=ndjson`)).text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => (JSON.parse(line) as { id: number }).id),
    ).toEqual([3, 1]);
    expect((await started.client.get(`${ENTRIES}?search=nothing&format=csv`)).text).toBe(
      'id,text,amount,open,data,book\r\n',
    );
    expect((await started.client.get(`${ENTRIES}?search=nothing&format=ndjson`)).text).toBe('');
    const wrong = await started.client.get(`${ENTRIES}?open=maybe&format=csv`);
    expect([wrong.status, wrong.headers['content-type']]).toEqual([400, 'application/json']);
  });

  test("nested lists are in the child's forms, lists of through objects in the through model's", async () => {
    expect(
      (await started.client.get('/rest/v1/forms/book/1/entries/?format=ndjson')).text.trim().split('\n'),
    ).toHaveLength(2);
    expect((await started.client.get('/rest/v1/forms/book/9/entries/?format=csv')).status).toBe(404);
    expect((await started.client.get('/rest/v1/forms/book/1/tags/?format=csv')).text).toBe(
      'id,book,tag\r\n2,1,2\r\n',
    );
    expect((await started.client.get('/rest/v1/forms/book/1/tags/2/?format=csv')).text).toBe(
      'id,book,tag\r\n2,1,2\r\n',
    );
  });

  test('contain the rows of a page, without its envelope; page links in headers are kept', async () => {
    const books = await started.client.get('/rest/v1/forms/book/?format=csv&page=2');
    expect(books.text).toBe(
      'id,name,entries,tags\r\n3,three,/rest/v1/forms/book/3/entries/,/rest/v1/forms/book/3/tags/\r\n',
    );
    const tags = await started.client.get('/rest/v1/forms/tag/?format=ndjson');
    expect(tags.headers.link).toMatch(/format=ndjson&limit=1&offset=1>; rel="next"/);
    expect((await started.client.get('/rest/v1/forms/book/?format=csv&page=9')).status).toBe(404);
  });

  test('interceptors run before rendering, and strict models accept the parameter', async () => {
    expect((await started.client.get('/rest/v1/forms/tag/?format=csv')).text).toBe(
      'id,word\r\n1,red\r\n1,red\r\n',
    );
    expect((await started.client.get('/rest/v1/forms/tag/1/?format=csv')).text).toBe('id,word\r\n1,red\r\n');
    expect((await started.client.get('/rest/v1/forms/tag/?format=csv&fromat=x')).json).toEqual({
      fromat: ['Unknown parameter.'],
    });
  });

  test('HEAD has the same media type, and no body', async () => {
    const { status, headers, text } = await started.client.send('HEAD', `${ENTRIES}?format=csv`);
    expect([status, headers['content-type'], text]).toEqual([200, CSV, '']);
  });
});

describe('what interceptors make of an answer, in another form', () => {
  let made: (value: unknown) => unknown = (value) => value;
  class Made implements NestInterceptor {
    intercept(_context: unknown, next: CallHandler): Observable<unknown> {
      return next.handle().pipe(map((value: unknown) => made(value)));
    }
  }
  /** An envelope of other names than DRF's. */
  class Items implements Pagination {
    parameters(): readonly string[] {
      return [];
    }
    page(): PageRequest {
      return { window: { kind: 'offset', limit: 2, offset: 0 } };
    }
    present({ more }: Page): PageResponse {
      return { envelope: { members: { more }, rows: 'items' } };
    }
  }
  @Restify({ app: 'forms', renderers: RENDERERS, interceptors: [Made], pagination: new Items() })
  @Entity('forms_exam')
  class Exam {
    @PrimaryGeneratedColumn()
    id: number;

    @Column({ type: 'simple-json' })
    results: unknown;
  }
  const EXAMS = '/rest/v1/forms/exam/';
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Exam] });
    await started.dataSource
      .getRepository(Exam)
      .save([{ results: [{ mark: 1 }, { mark: 2 }] }, { results: [] }]);
  });
  afterAll(() => started.close());
  beforeEach(() => {
    made = (value) => value;
  });

  test('the rows stand where the pagination has put them', async () => {
    expect((await started.client.get(`${EXAMS}?format=ndjson`)).text).toBe(
      '{"id":1,"results":[{"mark":1},{"mark":2}]}\n{"id":2,"results":[]}\n',
    );
  });

  test('an object with a field of such a name is one row', async () => {
    expect((await started.client.get(`${EXAMS}1/?format=csv`)).text).toBe(
      'id,results\r\n1,"[{""mark"":1},{""mark"":2}]"\r\n',
    );
  });

  test.each<[value: unknown, text: string]>([
    [null, 'null'],
    [5, '5'],
    ['=1', '"=1"'],
    [false, 'false'],
    [[1, null], '[1,null]'],
    [[[1]], '[[1]]'],
  ])('%j is no row, and is sent as JSON', async (value, sent) => {
    made = () => value;
    for (const path of [`${EXAMS}?format=csv`, `${EXAMS}1/?format=ndjson`]) {
      const { status, headers, text } = await started.client.get(path);
      expect([status, headers['content-type'], headers['content-disposition'], text]).toEqual([
        200,
        'application/json',
        undefined,
        sent,
      ]);
    }
  });

  test('other rows are rendered, and nothing is no content', async () => {
    made = () => [{ a: 1 }];
    expect((await started.client.get(`${EXAMS}?format=csv`)).text).toBe('a\r\n1\r\n');
    made = () => [];
    expect((await started.client.get(`${EXAMS}?format=csv`)).text).toBe('id,results\r\n');
    made = () => undefined;
    expect((await started.client.get(`${EXAMS}?format=csv`)).status).toBe(204);
  });
});

describe('which form an answer takes', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Entry, Book, Tag, Plain] });
  });
  afterAll(() => started.close());

  test.each([
    [undefined, 'application/json'],
    [',', 'application/json'],
    [' , ,', 'application/json'],
    ['*/*', 'application/json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
    ['text/csv, application/json', 'application/json'],
    ['text/csv, */*', CSV],
    ['text/csv, application/json;q=0.9', CSV],
    ['text/*', CSV],
    ['application/x-ndjson;q=0.5, text/csv;q=0.4', 'application/x-ndjson'],
    ['application/*', 'application/json'],
    ['application/json;q=0, application/*', 'application/x-ndjson'],
    ['text/csv;q=0, text/*', 'text/x-pipes'],
    ['TEXT/CSV', CSV],
  ])('Accept: %s', async (accept, type) => {
    const { headers, status } = await started.client.get(
      ENTRIES,
      accept === undefined ? {} : { headers: { accept } },
    );
    expect([status, headers['content-type']]).toEqual([200, type]);
  });

  test.each(['text/html', 'application/json;q=0', 'text/csv;q=0'])('406 for %s', async (accept) => {
    expect((await started.client.get(ENTRIES, { headers: { accept } })).status).toBe(406);
  });

  test('a format by name wins over Accept, and one that there is not is 404', async () => {
    expect(
      (await started.client.get(`${ENTRIES}?format=json`, { headers: { accept: 'text/csv' } })).headers[
        'content-type'
      ],
    ).toBe('application/json');
    for (const format of ['xml', 'CSV', '__proto__', 'constructor'])
      expect([format, (await started.client.get(`${ENTRIES}?format=${format}`)).status]).toEqual([
        format,
        404,
      ]);
    expect((await started.client.get(`${ENTRIES}?format=`)).headers['content-type']).toBe('application/json');
    expect((await started.client.get(`${ENTRIES}?format=csv&x=%zz`)).status).toBe(400);
  });

  test('what is written is answered as JSON, whatever else may be read', async () => {
    const { client } = started;
    expect((await client.post(`${ENTRIES}?format=csv`, { text: 'a' })).headers['content-type']).toBe(
      'application/json',
    );
    expect((await client.post(ENTRIES, { text: 'a' }, { headers: { accept: 'text/csv' } })).status).toBe(406);
    expect((await client.delete(`${ENTRIES}1/?format=csv`)).status).toBe(204);
  });

  test('a model without renderers has neither the format nor the parameter', async () => {
    expect((await started.client.get('/rest/v1/forms/plain/?format=csv')).text).toBe('[]');
    expect(
      (await started.client.get('/rest/v1/forms/plain/', { headers: { accept: 'text/csv' } })).status,
    ).toBe(406);
  });

  test('OPTIONS lists them for operations that read', async () => {
    const renders = async (path: string): Promise<unknown> =>
      ((await started.client.send('OPTIONS', path)).json as { renders: unknown }).renders;
    expect(await renders(ENTRIES)).toEqual([
      'application/json',
      'text/csv',
      'application/x-ndjson',
      'text/x-pipes',
    ]);
    expect(await renders('/rest/v1/forms/plain/')).toEqual(['application/json']);
  });
});

describe('a long list in another form', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Entry, Book, Tag] });
    const rows = Array.from({ length: 2500 }, (_, index) => ({
      text: `t${index}`,
      amount: '1.00',
      open: true,
    }));
    for (let at = 0; at < rows.length; at += 500)
      await started.dataSource
        .createQueryBuilder()
        .insert()
        .into(Entry)
        .values(rows.slice(at, at + 500))
        .updateEntity(false)
        .execute();
  });
  afterAll(() => started.close());

  test('comes in pieces, with each row once', async () => {
    const csv = await started.client.get(`${ENTRIES}?format=csv`);
    expect([csv.headers['transfer-encoding'], csv.headers['content-length']]).toEqual(['chunked', undefined]);
    const lines = csv.text.trim().split('\r\n');
    expect(new Set(lines.slice(1).map((line) => line.split(',')[0])).size).toBe(2500);
    const ndjson = await started.client.get(`${ENTRIES}?format=ndjson`);
    expect(
      ndjson.text
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { text: string }).text),
    ).toEqual(lines.slice(1).map((line) => line.split(',')[1]));
  });
});

onEachDatabase('lists in other formats', (database) => {
  test('have the statements of the list as JSON', async () => {
    const log = new StatementLog();
    const started = await startApp({
      database,
      entities: [Entry, Book, Tag],
      compare: false,
      dataSource: { logging: true, logger: log },
    });
    const statementsOf = async (path: string): Promise<readonly string[]> => {
      log.clear();
      await started.client.get(path);
      return [...log.statements];
    };
    const plain = await statementsOf(ENTRIES);
    expect(plain).toHaveLength(1);
    expect(await statementsOf(`${ENTRIES}?format=ndjson`)).toEqual(plain);
    expect(await statementsOf(`${ENTRIES}?format=csv`)).toEqual(plain);
    await started.close();
  });
});

describe('cells that a spreadsheet would run', () => {
  async function cellOf(value: unknown): Promise<string> {
    const rows = {
      model: 'x',
      fields: ['a'],
      pages: [[{ a: value }]] as unknown as AsyncIterable<readonly Representation[]>,
    };
    let text = '';
    for await (const piece of new CsvRenderer().render(rows)) text += piece;
    return text.split('\r\n')[1] ?? '';
  }

  test.each([
    ['=1+1', `'=1+1`],
    ['+1+1', `'+1+1`],
    ['-1+1', `'-1+1`],
    ['@SUM(A1)', `'@SUM(A1)`],
    ['\t=1', `"'\t=1"`],
    ['a;=1+1', '"a;=1+1"'],
    ['a\t=1+1', '"a\t=1+1"'],
    ['\r=1', `"'\r=1"`],
    ['  =1', `'  =1`],
    ['\uff1d1', `'\uff1d1`],
    ['-5', '-5'],
    ['-5.25', '-5.25'],
    [-5, '-5'],
    ['a=1', 'a=1'],
    ['', ''],
    [['=1'], `"[""=1""]"`],
  ])('%j is %j', async (value, cell) => {
    expect(await cellOf(value)).toBe(cell);
  });
});
