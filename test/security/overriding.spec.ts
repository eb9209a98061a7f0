// @tags db nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  BadRequestException,
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Scope,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import type {
  ArgumentMetadata,
  CallHandler,
  CanActivate,
  ExecutionContext,
  INestApplication,
  MiddlewareConsumer,
  NestInterceptor,
  NestModule,
  PipeTransform,
  Type,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  Action,
  allow,
  AllowAny,
  deny,
  MANY_TO_MANY_LIST_ACTION,
  NestedAction,
  ResourceController,
  Restify,
  RestifyController,
  RestifyModule,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type {
  AccessContext,
  Grant,
  HookContext,
  Json,
  Permission,
  Denial,
  RowFilter,
  Write,
} from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { EMPTY, from, map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import { noFilter } from '../support/no-filter.js';
import type { StartedApp } from '../support/start-app.js';

type Body = Record<string, unknown>;

interface User {
  readonly id: number;
}

const ADA = { 'x-user': '1' };
const KAY = { 'x-user': '2' };

function asUser(app: INestApplication): void {
  app.use(
    (request: { headers: Record<string, string>; user?: User }, _response: unknown, next: () => void) => {
      if (request.headers['x-user']) request.user = { id: Number(request.headers['x-user']) };
      next();
    },
  );
}

/** Nobody without a name; never `archived` rows, and never the field `secret`. */
@Injectable()
class Known implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    if (actor === null) return deny();
    const fields = ['id', 'name', 'owner', 'shelf', 'notes', 'marks'];
    return allow({ rows: where('archived', false), readable: fields, writable: fields });
  }
}

@Restify('ovs')
@Entity('ovs_shelf')
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @OneToMany(() => Book, (book) => book.shelf)
  books: Relation<Book[]>;

  @ManyToMany(() => Mark)
  @JoinTable({
    name: 'ovs_label',
    joinColumn: { name: 'shelfId' },
    inverseJoinColumn: { name: 'markId' },
    synchronize: false,
  })
  marks: Relation<Mark[]>;
}

@Restify('ovs')
@Entity('ovs_mark')
class Mark {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;
}

/** A permission, a scope, hidden fields and methods that replace, all on one model. */
@Restify({ app: 'ovs', permissions: [Known], through: { marks: { permissions: [AllowAny] } } })
@Entity('ovs_book')
class Book {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  name: string;

  @Column()
  owner: number;

  @Column({ length: 20, default: '' })
  secret: string;

  @Column({ default: false })
  archived: boolean;

  @ManyToOne(() => Shelf, (shelf) => shelf.books, { nullable: true })
  shelf: Relation<Shelf> | null;

  @OneToMany(() => Note, (note) => note.book)
  notes: Relation<Note[]>;

  @ManyToMany(() => Mark)
  @JoinTable({ name: 'ovs_book_mark' })
  marks: Relation<Mark[]>;
}

@Restify({
  app: 'ovs',
  filterFields: ['book', 'book.name', 'book.secret'],
  searchFields: ['book.name', 'book.secret', 'text'],
  orderingFields: ['id', 'book.name', 'book.secret'],
})
@Entity('ovs_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  text: string;

  @ManyToOne(() => Book, (book) => book.notes, { nullable: false, onDelete: 'CASCADE' })
  book: Relation<Book>;
}

@Restify('ovs')
@Entity('ovs_label')
class Label {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Shelf, { nullable: false })
  shelf: Relation<Shelf>;

  @ManyToOne(() => Mark, { nullable: false })
  mark: Relation<Mark>;

  @Column({ default: 0 })
  owner: number;
}

@Entity('ovs_audit')
class Audit {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  name: string;
}

@Injectable()
class Door implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest<{ headers: Body }>().headers['x-door'] !== 'shut';
  }
}

/** Lets a test stop inside a hook. */
let inHook: (() => Promise<void> | void) | undefined;

@RestifyController(Book)
@UseGuards(Door)
class BookController extends ResourceController<Book> {
  constructor(private readonly resources: RestifyResources) {
    super();
  }

  override scope({ actor }: AccessContext): RowFilter | 'all' {
    return actor === null ? where('owner', 0) : where('owner', (actor as User).id);
  }

  override valuesOnCreate({ actor }: HookContext): Readonly<Record<string, Json>> {
    return { owner: (actor as User).id, secret: 'made' };
  }

  override async list(request: object): Promise<unknown> {
    return ((await super.list(request)) as Body[]).map((book) => ({ ...book, own: true }));
  }

  override async retrieve(request: object): Promise<unknown> {
    return { ...((await super.retrieve(request)) as Body), own: true };
  }

  override async beforeWrite({ entity, manager, actor }: Write<Book>): Promise<void> {
    if (entity.name === 'audit')
      for (let time = 0; time < 2; time++) await manager.insert(Audit, { name: 'same' });
    if (entity.name === 'nested') await this.resources.of(Mark).as(actor).create({ name: 'by a hook' });
    if (entity.name === 'reading')
      entity.secret = String((await this.resources.of(Mark).as(actor).list()).length);
  }

  override async afterWrite({ entity }: Write<Book>): Promise<void> {
    if (entity.name === 'wait') await inHook?.();
    if (entity.name === 'late') throw new Error('too late');
  }

  @Action({ detail: true, methods: ['GET', 'POST'] })
  open(): object {
    return { open: true };
  }
}

@Injectable({ scope: Scope.REQUEST })
class Whose {
  constructor(@Inject(REQUEST) readonly request: { readonly user?: User }) {}
}

/** Made for each request: what one caller waits for must not become another's. */
@RestifyController(Label)
class LabelController extends ResourceController<Label> {
  constructor(private readonly whose: Whose) {
    super();
  }

  override async scope(): Promise<RowFilter> {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return where('owner', this.whose.request.user?.id ?? 0);
  }

  override valuesOnCreate(): Readonly<Record<string, Json>> {
    return { owner: this.whose.request.user?.id ?? 0, shelf: 1 };
  }
}

const ENTITIES = [Shelf, Mark, Book, Note, Label, Audit];
const PLACE = {
  entities: ENTITIES,
  controllers: [BookController, LabelController] as Type[],
  providers: [Whose],
  configure: asUser,
};

const HIDDEN = { detail: 'Not found.' };

/** The books: 1 is Ada's, 2 is Kay's, 3 is Ada's and archived. */
async function fill({ dataSource }: StartedApp): Promise<void> {
  await dataSource.getRepository(Shelf).save([{ name: 'low' }, { name: 'high' }]);
  await dataSource.getRepository(Mark).save([{ name: 'red' }]);
  for (const book of [
    { name: "Ada's", owner: 1, secret: 'a-secret' },
    { name: "Kay's", owner: 2, secret: 'k-secret' },
    { name: 'old', owner: 1, archived: true },
  ])
    await dataSource.getRepository(Book).save({ ...book, shelf: { id: 1 }, marks: [{ id: 1 }] });
  for (const id of [1, 2, 3]) await dataSource.getRepository(Note).save({ text: `on ${id}`, book: { id } });
}

onEachDatabase('S7 permission with rows and fields, scope, and methods that replace', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ ...PLACE, database });
    await fill(started);
  });
  afterAll(() => started.close());
  beforeEach(() => {
    inHook = undefined;
  });

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = ADA) =>
    started.client.send(method, `/rest/v1/ovs/${path}`, body === undefined ? { headers } : { headers, body });
  const books = async () =>
    (await started.dataSource.getRepository(Book).find({ order: { id: 'ASC' } })).map(
      ({ id, name, owner }) => ({ id, name, owner }),
    );

  test.each([
    ['GET', 'book/'],
    ['GET', 'book'],
    ['HEAD', 'book/'],
    ['OPTIONS', 'book/'],
    ['POST', 'book/'],
    ['GET', 'book/1/'],
    ['HEAD', 'book/1'],
    ['PUT', 'book/1/'],
    ['PATCH', 'book/1/'],
    ['DELETE', 'book/1/'],
    ['GET', 'book/1/open/'],
    ['POST', 'book/1/open'],
    ['PROPFIND', 'book/1/'],
    ['PUT', 'book/1/open/'],
    ['GET', 'shelf/1/books/'],
    ['HEAD', 'shelf/1/books'],
    ['OPTIONS', 'shelf/1/books/'],
    ['POST', 'shelf/1/books/'],
  ])('an anonymous caller is denied: %s %s', async (method, path) => {
    const before = await books();
    const answer = await send(
      method,
      path,
      method === 'POST' || method === 'PUT' || method === 'PATCH' ? { name: 'x', owner: 1 } : undefined,
      {},
    );
    expect([answer.status, method === 'HEAD' ? undefined : answer.json]).toEqual([
      403,
      method === 'HEAD' ? undefined : { detail: 'You do not have permission to perform this action.' },
    ]);
    expect(await books()).toEqual(before);
  });

  test.each(['book/', 'book/1/', 'book/1/open/', 'shelf/1/books/'])(
    'the guard of the class stands before %s',
    async (path) => {
      expect((await send('GET', path, undefined, { ...ADA, 'x-door': 'shut' })).status).toBe(403);
      expect((await send('OPTIONS', path, undefined, { ...ADA, 'x-door': 'shut' })).status).toBe(403);
      expect((await send('GET', path)).status).toBe(200);
    },
  );

  test.each([
    'BOOK/',
    'Book/1/',
    'book/1/OPEN/',
    'book/1%2Fopen/',
    'book%2F1/',
    'book//1/',
    'book/1/open/x/',
    'book/./1/',
    'shelf/../book/',
    'book/1/;open/',
    'b%6fok/',
    'book/%31',
    'book/1/open%2F',
    'shelf/1/BOOKS/',
    'shelf/1//books/',
    'shelf/1/books/1/',
    'book/1\\open/',
  ])('an odd path has no route without a name, and none of other models with one: %s', async (path) => {
    const anonymous = await send('GET', path, undefined, {});
    expect([403, 404]).toContain(anonymous.status);
    const named = await send('GET', path);
    expect([200, 404]).toContain(named.status);
    expect(`${anonymous.text}${named.text}`).not.toMatch(/Kay|secret|old|"open":true/);
  });

  test.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])(
    '%s is a header like any other',
    async (name) => {
      expect((await send('POST', 'book/1/', {}, { ...ADA, [name]: 'DELETE' })).status).toBe(405);
      expect(
        (await send('GET', 'book/1/?_method=DELETE', undefined, { ...ADA, [name]: 'DELETE' })).status,
      ).toBe(200);
      expect(await books()).toHaveLength(3);
    },
  );

  test.each([
    ['book/', [1]],
    ['shelf/1/books/', [1]],
    ["book/?name=Kay's", []],
    ['book/?owner=2', []],
    ['book/?archived=true', [1]],
    ['book/?secret=k-secret', [1]],
    ['book/?search=Kay', []],
    ['book/?search=secret', []],
    ['book/?ordering=secret', [1]],
    ['book/?ordering=-archived,id', [1]],
    ["note/?book__name=Kay's", []],
    ["note/?book__name=Ada's", [1]],
    ['note/?book__name=old', []],
    ['note/?search=k-secret', []],
    ['note/?ordering=book__secret', [1, 2, 3]],
    ['note/?ordering=-book__name', [1, 2, 3]],
    ['book/1/notes/', [1]],
  ])('a list holds what is there for the caller: %s', async (path, ids) => {
    const answer = await send('GET', path);
    expect([answer.status, (answer.json as Body[]).map(({ id }) => id)]).toEqual([200, ids]);
    expect(answer.text).not.toMatch(/secret"|archived/);
  });

  test('the error of a filter that the caller may not use names no hidden field', async () => {
    const answer = await send('GET', 'note/?book__secret=k-secret');
    expect([answer.status, answer.json]).toEqual([400, noFilter('book__secret')]);
    expect(answer.text.replace('book__secret', '')).not.toMatch(/secret|archived/);
  });

  test.each([
    ['GET', 'book/2/', undefined],
    ['HEAD', 'book/2/', undefined],
    ['PUT', 'book/2/', { name: 'mine', shelf: 1 }],
    ['PATCH', 'book/2/', { name: 'mine' }],
    ['DELETE', 'book/2/', undefined],
    ['GET', 'book/3/', undefined],
    ['PATCH', 'book/3/', { name: 'mine' }],
    ['DELETE', 'book/3/', undefined],
    ['GET', 'book/2/open/', undefined],
    ['POST', 'book/3/open/', undefined],
    ['GET', 'book/2/notes/', undefined],
    ['GET', 'book/3/notes/', undefined],
    ['GET', 'book/2/marks/', undefined],
    ['GET', 'book/2/marks/1/', undefined],
    ['POST', 'book/2/marks/', { mark: 1 }],
    ['PATCH', 'book/2/marks/1/', { mark: 1 }],
    ['DELETE', 'book/3/marks/1/', undefined],
  ])('a row outside of the grant is missing for the caller: %s %s', async (method, path, body) => {
    const before = await books();
    const answer = await send(method, path, body);
    expect([answer.status, method === 'HEAD' ? HIDDEN : answer.json]).toEqual([404, HIDDEN]);
    expect(await books()).toEqual(before);
  });

  test.each([2, 3, 9])('nor is it a key: book %i', async (book) => {
    const message = { book: [`Invalid pk "${book}" - object does not exist.`] };
    expect((await send('POST', 'note/', { text: 'x', book })).json).toEqual(message);
    expect((await send('PATCH', 'note/1/', { book })).json).toEqual(message);
    expect((await send('GET', `note/?book=${book}`)).status).toBe(200);
  });

  test('neither bodies nor the URL set what the hook sets, and hidden fields stay hidden in the answer', async () => {
    const made = await send('POST', 'book/', {
      id: 77,
      name: 'new',
      owner: 2,
      secret: 'mine',
      archived: true,
      shelf: 1,
    });
    expect([made.status, made.json]).toMatchObject([201, { name: 'new', owner: 1 }]);
    expect(made.text).not.toMatch(/secret|archived/);
    const { id } = made.json as { id: number };
    expect(id).not.toBe(77);
    expect(await started.dataSource.getRepository(Book).findOneBy({ id })).toMatchObject({
      owner: 1,
      secret: 'made',
      archived: false,
    });
    // Away from the scope is 403, and nothing has changed.
    expect((await send('PATCH', `book/${id}/`, { owner: 2 })).status).toBe(403);
    expect(await started.dataSource.getRepository(Book).findOneBy({ id })).toMatchObject({ owner: 1 });
    expect((await send('DELETE', `book/${id}/`)).status).toBe(204);
    // The hook, and the body, name another parent than the URL does.
    const joined = await send('POST', 'shelf/2/marks/', { mark: 1, shelf: 1, owner: 2 });
    expect([joined.status, joined.json]).toMatchObject([201, { shelf: 2, owner: 1 }]);
    expect((await send('POST', 'label/', { mark: 1, shelf: 2, owner: 2 })).json).toMatchObject({
      shelf: 1,
      owner: 1,
    });
  });

  test('what the database refuses of a hook is no error of the body, and leaves nothing behind', async () => {
    const before = await books();
    const refused = await send('POST', 'book/', { name: 'audit', shelf: 1 });
    expect([refused.status, refused.json]).toEqual([500, { detail: 'A server error occurred.' }]);
    expect((await send('PATCH', 'book/1/', { name: 'audit' })).status).toBe(500);
    expect((await send('POST', 'book/', { name: 'late', shelf: 1 })).status).toBe(500);
    expect(await books()).toEqual(before);
    expect(await started.dataSource.getRepository(Audit).count()).toBe(0);
    // The body's own conflict still is one.
    expect((await send('POST', 'book/', { name: "Ada's" })).json).toEqual({
      name: ['This field must be unique.'],
    });
  });

  test('a hook that sends a request to its own application does not block it', async () => {
    const reading = await send('POST', 'book/', { name: 'reading' });
    expect(reading.status).toBe(201);
    await send('DELETE', `book/${(reading.json as Body).id as number}/`);
    const nested = await send('POST', 'book/', { name: 'nested' });
    expect(nested.status).toBe(database.name === 'sqlite' ? 500 : 201);
    expect((await send('GET', 'book/1/')).status).toBe(200);
    if (nested.status === 201) await send('DELETE', `book/${(nested.json as Body).id as number}/`);
  });

  test('what a hook has left running reads nothing of the transaction of another', async () => {
    const resources = started.app.get(RestifyResources);
    const names = async (): Promise<unknown[]> =>
      (await resources.of(Book).as({ id: 1 }).list()).map(({ name }) => name);
    let goOn: () => void = () => undefined;
    const left = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let seen: Promise<unknown[]> = Promise.resolve([]);
    inHook = () => {
      seen = left.then(names);
    };
    const first = await send('POST', 'book/', { name: 'wait' });
    const { id } = first.json as { id: number };
    await send('PATCH', `book/${id}/`, { name: 'waited' });
    inHook = async () => {
      goOn();
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw new Error('undone');
    };
    const second = await send('POST', 'book/', { name: 'wait' });
    expect(second.status).toBe(500);
    expect(await seen).not.toContain('wait');
    inHook = undefined;
    await send('DELETE', `book/${id}/`);
  });

  test('callers at once are not taken for each other, in a class that is made for each request', async () => {
    await started.dataSource.getRepository(Label).clear();
    await started.dataSource
      .getRepository(Label)
      .save([1, 2].map((owner) => ({ shelf: { id: 1 }, mark: { id: 1 }, owner })));
    const owners = await Promise.all(
      Array.from({ length: 20 }, async (_each, index) => {
        const answer = await send(
          'GET',
          index % 4 < 2 ? 'label/' : 'shelf/1/marks/',
          undefined,
          index % 2 === 0 ? ADA : KAY,
        );
        return (answer.json as Body[]).map(({ owner }) => owner);
      }),
    );
    expect(owners).toEqual(Array.from({ length: 20 }, (_each, index) => [index % 2 === 0 ? 1 : 2]));
  });
});

/** What an interceptor or a pipe is told to do stands in a header. */
@Injectable()
class Odd implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const how = String(context.switchToHttp().getRequest<{ headers: Body }>().headers['x-odd']);
    if (how === 'throw') throw new Error('odd');
    const answers: Readonly<Record<string, Observable<unknown>>> = {
      empty: EMPTY,
      several: from([{ n: 1 }, { n: 2 }]),
      function: of(() => 1),
      symbol: of(Symbol('odd')),
      bigint: of(1n),
      nothing: of(undefined),
      tojson: of({ toJSON: () => undefined }),
    };
    return answers[how] ?? next.handle();
  }
}

@Injectable()
class OddPipe implements PipeTransform {
  transform(value: Body, { type }: ArgumentMetadata): unknown {
    if ('bad' in value) throw new BadRequestException('bad');
    if (type === 'query') return { ...value, name: undefined };
    return 'list' in value ? [] : { ...value, shelf: undefined };
  }
}

@Injectable()
class X implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((value: unknown) => ({ x: value })));
  }
}

@Injectable()
class Y implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((value: unknown) => ({ y: value })));
  }
}

@Injectable()
class NoName implements PipeTransform {
  transform(value: Body): unknown {
    return 'name' in value ? { ...value, name: 'piped' } : value;
  }
}

@Restify('ovt')
@Entity('ovt_thing')
class Thing {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @Column({ type: 'varchar', length: 20, nullable: true })
  shelf: string | null;
}

@RestifyController(Thing)
class ThingController extends ResourceController<Thing> {
  override async list(request: object): Promise<unknown> {
    return { own: (await super.list(request)) as unknown };
  }

  @Action({ detail: false })
  hello(): object {
    return { hello: true };
  }
}

const THINGS = { entities: [Thing], controllers: [ThingController] };

describe('interceptors and pipes that do odd things', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ ...THINGS, restify: { interceptors: [Odd], pipes: [OddPipe] } });
    await started.client.post('/rest/v1/ovt/thing/', { name: 'a' });
  });
  afterAll(() => started.close());

  const FAILED = '{"detail":"A server error occurred."}';

  test.each([
    ['empty', 204, ''],
    ['nothing', 204, ''],
    ['several', 200, '{"n":2}'],
    ['throw', 500, FAILED],
    ['bigint', 500, FAILED],
    ['function', 200, 'null'],
    ['symbol', 200, 'null'],
    ['tojson', 200, 'null'],
  ])(
    '%s is answered alike on what is generated, on what replaces it, and on an action',
    async (how, status, text) => {
      for (const path of ['thing/1/', 'thing/', 'thing/hello/']) {
        const answer = await started.client.get(`/rest/v1/ovt/${path}`, { headers: { 'x-odd': how } });
        expect([path, answer.status, answer.text]).toEqual([path, status, text]);
      }
    },
  );

  test('a value that a pipe leaves undefined is absent', async () => {
    const made = await started.client.post('/rest/v1/ovt/thing/', { name: 'b', shelf: 'x' });
    expect([made.status, made.json]).toEqual([201, { id: 2, name: 'b', shelf: null }]);
    await started.client.delete('/rest/v1/ovt/thing/2/');
    expect((await started.client.get('/rest/v1/ovt/thing/?name=nobody')).json).toEqual({
      own: [{ id: 1, name: 'a', shelf: null }],
    });
  });

  test('the 404 of an object precedes the error of a pipe, and a pipe must return an object', async () => {
    expect((await started.client.patch('/rest/v1/ovt/thing/77/', { bad: 1 })).status).toBe(404);
    expect((await started.client.patch('/rest/v1/ovt/thing/1/', { bad: 1 })).json).toEqual({ detail: 'bad' });
    expect((await started.client.patch('/rest/v1/ovt/thing/1/', { list: 1 })).status).toBe(500);
    expect(
      (
        await started.client.post(
          '/rest/v1/ovt/thing/',
          { bad: 1 },
          { headers: { 'content-type': 'text/plain' } },
        )
      ).status,
    ).toBe(415);
    expect(
      (await started.client.patch('/rest/v1/ovt/thing/1/', { bad: 1 }, { headers: { accept: 'text/html' } }))
        .status,
    ).toBe(406);
  });
});

describe('several places that serve one class', () => {
  test('each prefix has its own interceptors and pipes, on methods of the class too', async () => {
    const started = await startApp({
      ...THINGS,
      restifyModules: [
        RestifyModule.forRoot('one', { interceptors: [X] }),
        RestifyModule.forRoot('two', { interceptors: [Y], pipes: [NoName] }),
        RestifyModule.forRoot('three'),
      ],
    });
    try {
      await started.client.post('/one/ovt/thing/', { name: 'a' });
      const thing = { id: 1, name: 'a', shelf: null };
      const read = async (path: string): Promise<unknown> => (await started.client.get(path)).json;
      expect([
        await read('/one/ovt/thing/1/'),
        await read('/two/ovt/thing/1/'),
        await read('/three/ovt/thing/1/'),
      ]).toEqual([{ x: thing }, { y: thing }, thing]);
      expect([
        await read('/one/ovt/thing/hello/'),
        await read('/two/ovt/thing/hello/'),
        await read('/three/ovt/thing/hello/'),
      ]).toEqual([{ x: { hello: true } }, { y: { hello: true } }, { hello: true }]);
      expect([
        await read('/one/ovt/thing/?name=a'),
        await read('/two/ovt/thing/?name=a'),
        await read('/three/ovt/thing/?name=a'),
      ]).toEqual([{ x: { own: [thing] } }, { y: { own: [] } }, { own: [thing] }]);
    } finally {
      await started.close();
    }
  });

  test('a second application in one process serves its own paths, and nothing else', async () => {
    @Controller('own')
    class Own {
      @Get()
      own(): object {
        return { own: true };
      }
    }
    @RestifyController(Other)
    class OtherController extends ThingController {}
    const settings = { entities: [Thing, Other, Leaf], controllers: [ThingController, OtherController, Own] };
    const applications = [
      await startApp(settings),
      await startApp(settings),
      await startApp({ ...settings, prefix: 'else' }),
    ];
    try {
      for (const [index, { client }] of applications.entries()) {
        const base = index === 2 ? '/else' : '/rest/v1';
        const got = async (path: string): Promise<unknown> => {
          const { status, json } = await client.get(path);
          return [status, json];
        };
        expect(await got('/own')).toEqual([200, { own: true }]);
        expect(await got('/nothing')).toMatchObject([404, { message: 'Cannot GET /nothing' }]);
        expect(await got('/')).toMatchObject([200, {}]);
        expect(await got(`${base}/ovt/thing/`)).toEqual([200, { own: [] }]);
        expect(await got(`${base}/ovt/other/`)).toEqual([200, { own: [] }]);
        expect(await got(`${base}/ovt/other/hello/`)).toEqual([200, { hello: true }]);
        expect(await got(`${base}/ovt/other/1/x/y/`)).toEqual([404, { detail: 'Not found.' }]);
        expect((await client.post(`${base}/ovt/thing/`, { name: 'a' })).status).toBe(201);
        expect((await client.delete(`${base}/ovt/thing/1/`)).status).toBe(204);
      }
    } finally {
      for (const each of applications) await each.close();
    }
  });

  test('middleware that is bound to the class stands before every form of its URLs, below a global prefix', async () => {
    @Module({ controllers: [ThingController] })
    class Bound implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        const refuse = (
          _request: unknown,
          response: { statusCode: number; end(text: string): void },
        ): void => {
          response.statusCode = 418;
          response.end('{}');
        };
        consumer.apply(refuse).forRoutes(ThingController);
      }
    }
    const started = await startApp({
      entities: [Thing],
      imports: [Bound],
      configure: (app) => app.setGlobalPrefix('api'),
    });
    try {
      for (const path of [
        'thing',
        'thing/',
        'thing/1',
        'thing/1/',
        'thing/hello',
        'thing/hello/',
        'thing/?name=a',
        'thing/1?x=/../',
      ])
        expect([path, (await started.client.get(`/api/rest/v1/ovt/${path}`)).status]).toEqual([path, 418]);
      for (const path of ['THING/', 'th%69ng/', 'thing%2F1', '/thing/'])
        expect([404, 418]).toContain((await started.client.get(`/api/rest/v1/ovt/${path}`)).status);
      expect(
        (await started.client.get(`http://127.0.0.1:${started.port}/api/rest/v1/ovt/thing/`)).status,
      ).toBe(418);
      expect((await started.client.send('HEAD', '/api/rest/v1/ovt/thing/')).status).toBe(418);
    } finally {
      await started.close();
    }
  });
});

@Restify('ovt')
@Entity('ovt_other')
class Other {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToMany(() => Leaf, (leaf) => leaf.other)
  action: Relation<Leaf[]>;
}

@Restify('ovt')
@Entity('ovt_leaf')
class Leaf {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Other, (other) => other.action, { nullable: true })
  other: Relation<Other> | null;
}

describe('a class that is written in an odd way', () => {
  test.each<[string, (leaf: Type) => Type, string]>([
    [
      'accessors',
      (leaf) => {
        class Wrong extends ResourceController {}
        Object.defineProperty(Wrong.prototype, 'scope', { get: () => () => 'all', configurable: true });
        RestifyController(leaf)(Wrong);
        return Wrong;
      },
      'Wrong.scope: it is a property, and what replaces or hooks into an operation is a method. Write scope(…) { … }.',
    ],
    [
      'a hook whose name is misspelt',
      (leaf) => {
        class Wrong extends ResourceController {
          beforeWrites(): void {}
        }
        RestifyController(leaf)(Wrong);
        return Wrong;
      },
      'Wrong.beforeWrites: it is not a hook, and is never called. Did you mean "beforeWrite"? Otherwise rename the method.',
    ],
    [
      'properties of the instance',
      (leaf) => {
        class Wrong extends ResourceController {
          constructor() {
            super();
            Object.assign(this, { list: () => [], valuesOnCreate: () => ({}) });
          }
        }
        RestifyController(leaf)(Wrong);
        return Wrong;
      },
      'Wrong.list: it is a property, and what replaces or hooks into an operation is a method. Write list(…) { … }.',
    ],
  ])('with %s does not start', async (_name, controllerOf, problem) => {
    // A model of its own each time: two classes that join one are refused for that.
    @Restify('ovu')
    @Entity('ovu_twin')
    class Twin {
      @PrimaryGeneratedColumn()
      id: number;
    }
    await expect(startApp({ entities: [Twin], controllers: [controllerOf(Twin)] })).rejects.toThrow(problem);
  });

  test('or listed in two modules, does not start', async () => {
    @Module({ controllers: [ThingController] })
    class One {}
    @Module({ controllers: [ThingController] })
    class Two {}
    await expect(startApp({ entities: [Thing], imports: [One, Two] })).rejects.toThrow(
      'ThingController: 2 modules list it. List it in the controllers of the one that has its dependencies.',
    );
  });

  test.each([undefined, null, true, '1=1'])('with a scope that returns %j is empty', async (nothing) => {
    @Restify('ovu')
    @Entity('ovu_page')
    class Page {
      @PrimaryGeneratedColumn()
      id: number;
    }
    @RestifyController(Page)
    class PageController extends ResourceController<Page> {
      override scope({ actor }: AccessContext): RowFilter {
        return (actor === null ? nothing : where('id', 1)) as unknown as RowFilter;
      }
    }
    const started = await startApp({ entities: [Page], controllers: [PageController], configure: asUser });
    try {
      await started.dataSource.getRepository(Page).save([{}, {}]);
      expect((await started.client.get('/rest/v1/ovu/page/')).status).toBe(500);
      expect((await started.client.get('/rest/v1/ovu/page/2/')).status).toBe(500);
      expect((await started.client.get('/rest/v1/ovu/page/', { headers: ADA })).json).toEqual([{ id: 1 }]);
    } finally {
      await started.close();
    }
  });

  test('that does not extend the base keeps its helpers to itself, whatever their names, and wraps what is generated', async () => {
    @Restify('ovu')
    @Entity('ovu_branch')
    class Branch {
      @PrimaryGeneratedColumn()
      id: number;

      @ManyToMany(() => Twig)
      @JoinTable()
      action: Relation<Twig[]>;
    }
    @Restify('ovu')
    @Entity('ovu_twig')
    class Twig {
      @PrimaryGeneratedColumn()
      id: number;
    }
    const destroyed: unknown[] = [];
    @RestifyController(Branch)
    @UseInterceptors(X)
    class BranchController {
      destroy(...all: unknown[]): object {
        destroyed.push(all);
        return { from: 'a helper' };
      }

      @Action({ detail: false, path: 'list' })
      retrieve(): object {
        return { from: 'an action' };
      }

      @NestedAction(MANY_TO_MANY_LIST_ACTION, 'action', { methods: ['GET'] })
      collection_get(): object {
        return { from: 'nested' };
      }
    }
    const started = await startApp({ entities: [Branch, Twig], controllers: [BranchController] });
    try {
      await started.client.post('/rest/v1/ovu/branch/', {});
      const got = async (path: string): Promise<unknown> =>
        (await started.client.get(`/rest/v1/ovu/${path}`)).json;
      expect(await got('branch/')).toMatchObject({ x: [{ id: 1 }] });
      expect(await got('branch/1/')).toMatchObject({ x: { id: 1 } });
      expect(await got('branch/list/')).toEqual({ x: { from: 'an action' } });
      expect(await got('branch/1/action/')).toEqual({ x: { from: 'nested' } });
      expect((await started.client.delete('/rest/v1/ovu/branch/1/')).json).toEqual({});
      expect(await got('branch/')).toEqual({ x: [] });
      expect(destroyed).toEqual([]);
    } finally {
      await started.close();
    }
  });
});
