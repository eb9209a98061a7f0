// @tags http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  BadRequestException,
  Controller,
  HttpCode,
  Inject,
  Injectable,
  Module,
  ParseIntPipe,
  Query,
  Req,
  Scope,
  UseGuards,
  UseInterceptors,
  ValidationPipe,
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
import { IsIn } from 'class-validator';
import {
  Action,
  allow,
  ChildPk,
  CurrentActor,
  deny,
  MANY_TO_MANY_LIST_ACTION,
  NestedAction,
  ONE_TO_MANY_LIST_ACTION,
  ParentPk,
  Pk,
  ResourceController,
  Restify,
  RestifyController,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission, Denial } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

type Body = Record<string, unknown>;

/** What ran, in its order; emptied before each test. */
const RAN: string[] = [];

@Injectable()
class NoDeleting implements Permission {
  decide({ method, actor }: AccessContext): Grant | Denial {
    return method === 'DELETE' || (method === 'PATCH' && actor !== null) ? deny() : allow();
  }
}

@Restify({ app: 'ovr', operations: ['list', 'create', 'retrieve'] })
@Entity('ovr_shelf')
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @OneToMany(() => Book, (book) => book.shelf)
  books: Relation<Book[]>;

  @ManyToMany(() => Tag)
  @JoinTable({
    name: 'ovr_shelf_tag',
    joinColumn: { name: 'shelfId' },
    inverseJoinColumn: { name: 'tagId' },
    synchronize: false,
  })
  tags: Relation<Tag[]>;
}

@Restify({ app: 'ovr' })
@Entity('ovr_tag')
class Tag {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;
}

@Restify({ app: 'ovr' })
@Entity('ovr_shelf_tag')
class Label {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Shelf, { nullable: false })
  shelf: Relation<Shelf>;

  @ManyToOne(() => Tag, { nullable: false })
  tag: Relation<Tag>;
}

@Restify({ app: 'ovr', permissions: [NoDeleting], filterFields: ['title'] })
@Entity('ovr_book')
class Book {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Shelf, (shelf) => shelf.books, { nullable: false })
  shelf: Relation<Shelf>;

  @Column({ length: 75 })
  title: string;

  @Column({ default: false })
  archived: boolean;
}

@Injectable()
class Notices {
  readonly word = 'kept';
}

@Injectable()
class ClassGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    RAN.push('class guard');
    return context.switchToHttp().getRequest<{ headers: Body }>().headers['x-refuse'] !== 'class';
  }
}

@Injectable()
class MethodGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    RAN.push('method guard');
    return context.switchToHttp().getRequest<{ headers: Body }>().headers['x-refuse'] !== 'method';
  }
}

@RestifyController(Book)
@UseGuards(ClassGuard)
class BookController extends ResourceController<Book> {
  constructor(private readonly notices: Notices) {
    super();
  }

  @UseGuards(MethodGuard)
  override async list(request: Body): Promise<object> {
    const books = (await super.list(request)) as Body[];
    return books.map((book) => ({ ...book, note: this.notices.word }));
  }

  override async create(
    @Req() request: { body: Body },
    @Query('times', new ParseIntPipe({ optional: true })) times?: number,
  ): Promise<object> {
    return (await super.create(request, {
      ...request.body,
      title: String(request.body.title).repeat(times ?? 1),
    })) as object;
  }

  override async retrieve(request: Body, pk: number): Promise<object> {
    if (pk === 99) return { from: 'elsewhere' };
    return { ...((await super.retrieve(request)) as object), pk };
  }

  override async update(request: { body: Body }): Promise<object> {
    return (await super.partialUpdate(request, request.body)) as object;
  }

  @HttpCode(202)
  override async partialUpdate(
    @Pk() pk: number,
    @ParentPk() parent: number,
    @ChildPk() child: string | undefined,
    @CurrentActor() actor: object | null,
    @Req() request: Body,
  ): Promise<object> {
    return { pk, parent, child: child ?? null, actor, ...((await super.partialUpdate(request)) as object) };
  }
}

@RestifyController(Shelf)
class ShelfController {
  @NestedAction(MANY_TO_MANY_LIST_ACTION, 'tags', { methods: ['POST'] })
  tags(): object {
    return { from: 'the shelf' };
  }
}

/** Of a request's scope, and a through model. */
@Injectable({ scope: Scope.REQUEST })
class Whose {
  constructor(@Inject(REQUEST) readonly request: { readonly url: string }) {}
}

@RestifyController(Label)
class LabelController extends ResourceController<Label> {
  constructor(private readonly whose: Whose) {
    super();
  }

  override async retrieve(
    @Req() request: Body,
    @ParentPk() parent: number,
    @ChildPk() child: string,
    @Pk() pk: number,
  ): Promise<object> {
    return {
      ...((await super.retrieve(request)) as object),
      parent,
      child: child,
      pk,
      url: this.whose.request.url,
    };
  }

  override async destroy(request: Body): Promise<object> {
    const gone = (await super.retrieve(request)) as object;
    await super.destroy(request);
    return { gone };
  }

  override async list(request: Body): Promise<object> {
    const first = (await super.list(request)) as unknown[];
    return { count: first.length, again: ((await super.list(request)) as unknown[]).length };
  }
}

function withActor(app: INestApplication): void {
  app.use((request: { headers: Body; user?: object }, _response: unknown, next: () => void) => {
    if (request.headers['x-user'] !== undefined) request.user = { id: 1 };
    next();
  });
}

beforeEach(() => {
  RAN.length = 0;
});

describe('methods that replace operations', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Shelf, Tag, Label, Book],
      controllers: [ShelfController, BookController, LabelController],
      providers: [Notices, Whose],
      configure: withActor,
    });
    await started.client.post('/rest/v1/ovr/shelf/', { name: 'top' });
    await started.client.post('/rest/v1/ovr/tag/', { name: 'red' });
    await started.client.post('/rest/v1/ovr/book/', { shelf: 1, title: 'A' });
    await started.client.post('/rest/v1/ovr/label/', { shelf: 1, tag: 1 });
  });
  afterAll(() => started.close());

  const get = (path: string, headers: Record<string, string> = {}) =>
    started.client.get(`/rest/v1/ovr/${path}`, { headers });

  test.each(['book/', 'shelf/1/books/'])(
    'wrap the list on every way in, behind the guards of class and method: %s',
    async (path) => {
      const answer = await get(path);
      expect([answer.status, answer.json]).toEqual([
        200,
        [{ id: 1, shelf: 1, title: 'A', archived: false, note: 'kept' }],
      ]);
      expect(RAN).toEqual(['class guard', 'method guard']);
      for (const refuse of ['class', 'method'])
        expect((await get(path, { 'x-refuse': refuse })).status).toBe(403);
      expect((await get(`${path}?title=B`)).json).toEqual([]);
      const head = await started.client.send('HEAD', `/rest/v1/ovr/${path}`);
      expect([head.status, head.text]).toEqual([200, '']);
      expect((await get(path, { accept: 'text/html' })).status).toBe(406);
    },
  );

  test('stand behind the parent of a nested URL', async () => {
    expect((await get('shelf/9/books/')).status).toBe(404);
    expect((await get('shelf/x/books/')).status).toBe(404);
  });

  test('leave OPTIONS, Allow and 405 as they are', async () => {
    const options = await started.client.send('OPTIONS', '/rest/v1/ovr/shelf/1/books/');
    expect([options.status, options.headers.allow, (options.json as Body).name]).toEqual([
      200,
      'GET, HEAD, OPTIONS',
      'Book List',
    ]);
    const post = await started.client.post('/rest/v1/ovr/shelf/1/books/', { title: 'x' });
    expect([post.status, post.json]).toEqual([405, { detail: 'Method "POST" not allowed.' }]);
    expect((await started.client.put('/rest/v1/ovr/book/', {})).status).toBe(405);
    expect((await get('book/', { 'x-refuse': 'class' })).headers.allow).toBe('GET, POST, HEAD, OPTIONS');
  });

  test('create what they make of the body, with 201 and its URL', async () => {
    const made = await started.client.post('/rest/v1/ovr/book/?times=2', { shelf: 1, title: 'B' });
    expect([made.status, made.json]).toEqual([201, { id: 2, shelf: 1, title: 'BB', archived: false }]);
    expect(made.headers.location).toBe(`http://127.0.0.1:${started.port}/rest/v1/ovr/book/2/`);
    const wrong = await started.client.post('/rest/v1/ovr/book/', { title: 'B' });
    expect([wrong.status, wrong.json]).toEqual([400, { shelf: ['This field is required.'] }]);
    expect((await started.client.post('/rest/v1/ovr/book/?times=x', { shelf: 1, title: 'B' })).status).toBe(
      400,
    );
  });

  test('receive the key of the object, and need not call the generated operation', async () => {
    expect((await get('book/1/')).json).toEqual({ id: 1, shelf: 1, title: 'A', archived: false, pk: 1 });
    expect((await get('book/99/')).json).toEqual({ from: 'elsewhere' });
    expect((await get('book/98/')).status).toBe(404);
    expect((await get('book/x/')).status).toBe(404);
  });

  test('may run another operation of the URL, which is admitted anew', async () => {
    expect((await started.client.put('/rest/v1/ovr/book/1/', { archived: true })).json).toEqual({
      id: 1,
      shelf: 1,
      title: 'A',
      archived: true,
    });
    // The permission gives this caller PUT and not PATCH.
    const refused = await started.client.put(
      '/rest/v1/ovr/book/1/',
      { archived: false },
      { headers: { 'x-user': '1' } },
    );
    expect(refused.status).toBe(403);
    expect((await get('book/1/')).json).toMatchObject({ archived: true });
    const deleted = await started.client.delete('/rest/v1/ovr/book/1/');
    expect(deleted.status).toBe(403);
  });

  test("take Nest's parameter decorators and @HttpCode", async () => {
    const changed = await started.client.patch('/rest/v1/ovr/book/1/', { archived: false });
    expect([changed.status, changed.json]).toEqual([
      202,
      { pk: 1, parent: 1, child: null, actor: null, id: 1, shelf: 1, title: 'A', archived: false },
    ]);
  });

  test('of a through model answer below both models, in a request of their own', async () => {
    expect((await get('label/')).json).toEqual({ count: 1, again: 1 });
    expect((await get('shelf/1/tags/')).json).toEqual({ count: 1, again: 1 });
    expect((await get('shelf/1/tags/1/')).json).toEqual({
      id: 1,
      shelf: 1,
      tag: 1,
      parent: 1,
      child: '1',
      pk: 1,
      url: '/rest/v1/ovr/shelf/1/tags/1/',
    });
    expect((await get('label/1/')).json).toEqual({
      id: 1,
      shelf: 1,
      tag: 1,
      parent: 1,
      pk: 1,
      url: '/rest/v1/ovr/label/1/',
    });
    // What a nested action of the parent names is its own.
    expect((await started.client.post('/rest/v1/ovr/shelf/1/tags/', { tag: 1 })).json).toEqual({
      from: 'the shelf',
    });
    expect((await started.client.send('PATCH', '/rest/v1/ovr/shelf/1/tags/')).status).toBe(405);
    expect((await started.client.send('OPTIONS', '/rest/v1/ovr/shelf/1/tags/')).headers.allow).toBe(
      'GET, POST, HEAD, OPTIONS',
    );
    const deleted = await started.client.delete('/rest/v1/ovr/shelf/1/tags/1/');
    expect([deleted.status, deleted.json]).toEqual([200, { gone: { id: 1, shelf: 1, tag: 1 } }]);
    expect((await get('label/1/')).status).toBe(404);
  });

  test('stand behind middleware that is bound to their class, which means all URLs of the model', async () => {
    @Module({ controllers: [ShelfController, BookController, LabelController], providers: [Notices, Whose] })
    class WithMiddleware implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        const mark = (
          _request: unknown,
          response: { setHeader(name: string, value: string): void },
          next: () => void,
        ): void => {
          response.setHeader('x-seen', 'yes');
          next();
        };
        consumer.apply(mark).forRoutes(BookController);
      }
    }
    const bound = await startApp({ entities: [Shelf, Tag, Label, Book], imports: [WithMiddleware] });
    const seen = async (path: string): Promise<unknown> =>
      (await bound.client.get(`/rest/v1/ovr/${path}`)).headers['x-seen'];
    expect([
      await seen('book/'),
      await seen('book'),
      await seen('book/1/'),
      await seen('book/1'),
      await seen('shelf/'),
      await seen('booking/'),
    ]).toEqual(['yes', 'yes', 'yes', 'yes', undefined, undefined]);
    await bound.close();
  });

  test('are an error outside of a request', async () => {
    await expect(new BookController(new Notices()).list({})).rejects.toThrow(
      'super.list(request) wants the request that is being answered',
    );
  });
});

@Injectable()
class Envelope implements NestInterceptor {
  constructor(private readonly notices: Notices) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    RAN.push(`before ${context.switchToHttp().getRequest<{ method: string }>().method}`);
    return next.handle().pipe(map((data: unknown) => ({ data: data ?? null, word: this.notices.word })));
  }
}

@Injectable()
class Upper implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    RAN.push(`pipe ${type} ${metatype?.name ?? 'none'}`);
    if (typeof value !== 'object' || value === null) return value;
    if ('broken' in value) throw new BadRequestException('The pipe says no.');
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        name,
        typeof each === 'string' ? each.toUpperCase() : (each as unknown),
      ]),
    );
  }
}

@Restify({ app: 'enh', interceptors: [Envelope], pipes: [Upper], filterFields: ['text'] })
@Entity('enh_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @IsIn(['ONE', 'TWO'])
  @Column({ length: 75 })
  text: string;

  @ManyToOne(() => Board, (board) => board.notes, { nullable: true })
  board: Relation<Board> | null;
}

@Restify({ app: 'enh', through: { marks: { interceptors: [Envelope], pipes: [Upper] } } })
@Entity('enh_board')
class Board {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @OneToMany(() => Note, (note) => note.board)
  notes: Relation<Note[]>;

  @ManyToMany(() => Mark)
  @JoinTable({ name: 'enh_board_mark' })
  marks: Relation<Mark[]>;
}

@Restify({ app: 'enh', pipes: [] })
@Entity('enh_mark')
class Mark {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @Column({ length: 75 })
  name: string;
}

@RestifyController(Note)
class NoteController {
  @Action({ detail: false })
  hello(@Query() query: Body): object {
    return { hello: query.to };
  }
}

@RestifyController(Mark)
@UseInterceptors(Envelope)
class MarkController {}

describe('interceptors and pipes', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Note, Board, Mark],
      controllers: [NoteController, MarkController],
      providers: [Notices, Envelope],
    });
    await started.client.post('/rest/v1/enh/board/', { name: 'b' });
  });
  afterAll(() => started.close());

  test('of a model stand around its operations, with what they inject', async () => {
    const made = await started.client.post('/rest/v1/enh/note/', { text: 'one', board: 1 });
    expect([made.status, made.json]).toEqual([201, { data: { id: 1, text: 'ONE', board: 1 }, word: 'kept' }]);
    expect(made.headers.location).toBe(`http://127.0.0.1:${started.port}/rest/v1/enh/note/1/`);
    expect(RAN).toEqual(['before POST', 'pipe body Note']);
    expect((await started.client.get('/rest/v1/enh/note/?text=one')).json).toEqual({
      data: [{ id: 1, text: 'ONE', board: 1 }],
      word: 'kept',
    });
    expect((await started.client.patch('/rest/v1/enh/note/1/', { text: 'two' })).json).toMatchObject({
      data: { text: 'TWO' },
    });
    const passing = await started.client.post('/rest/v1/enh/note/', { text: 'two' });
    expect(
      (
        await started.client.delete(
          `/rest/v1/enh/note/${((passing.json as Body).data as Body).id as number}/`,
        )
      ).json,
    ).toEqual({ data: null, word: 'kept' });
  });

  test('of a child run for the nested list, of a relation for its through objects, and for no other URL', async () => {
    expect((await started.client.get('/rest/v1/enh/board/1/notes/')).json).toEqual({
      data: [{ id: 1, text: 'TWO', board: 1 }],
      word: 'kept',
    });
    const mark = await started.client.post('/rest/v1/enh/mark/', { name: 'quiet' });
    const id = ((mark.json as Body).data as Body).id as string;
    expect(RAN.filter((each) => each.startsWith('pipe'))).toEqual(['pipe query Object']);
    RAN.length = 0;
    const pair = await started.client.post('/rest/v1/enh/board/1/marks/', { mark: id });
    expect([pair.status, pair.json]).toEqual([201, { data: { id, board: 1, mark: id }, word: 'kept' }]);
    expect(RAN).toEqual(['before POST', 'pipe body none']);
    expect((await started.client.get('/rest/v1/enh/board/')).json).toMatchObject([{ id: 1, name: 'b' }]);
  });

  test('see errors, and what they throw is answered', async () => {
    const answer = await started.client.post('/rest/v1/enh/note/', { broken: true });
    expect([answer.status, answer.json]).toEqual([400, { detail: 'The pipe says no.' }]);
    expect((await started.client.get('/rest/v1/enh/note/9/')).status).toBe(404);
    expect((await started.client.get('/rest/v1/enh/board/9/notes/')).status).toBe(404);
  });

  test('do not stand before 405, 406 and OPTIONS', async () => {
    expect((await started.client.put('/rest/v1/enh/note/', {})).status).toBe(405);
    expect(
      (await started.client.get('/rest/v1/enh/note/', { headers: { accept: 'text/html' } })).status,
    ).toBe(406);
    expect((await started.client.send('OPTIONS', '/rest/v1/enh/note/')).status).toBe(200);
    expect(RAN).toEqual([]);
  });

  test("of a model stand around the application's own actions too", async () => {
    expect((await started.client.get('/rest/v1/enh/note/hello/?to=you')).json).toEqual({
      data: { hello: 'YOU' },
      word: 'kept',
    });
  });

  test("of a controller's class stand around what is generated", async () => {
    const list = await started.client.get('/rest/v1/enh/mark/');
    expect([list.status, list.json]).toMatchObject([200, { data: [{ name: 'quiet' }], word: 'kept' }]);
    const made = await started.client.post('/rest/v1/enh/mark/', { name: 'loud' });
    expect([made.status, made.json]).toMatchObject([201, { data: { name: 'loud' } }]);
    expect(made.headers.location).toContain('/rest/v1/enh/mark/');
  });
});

describe('defaults of a prefix', () => {
  test('give interceptors and pipes to models that name none, and a ValidationPipe reads the class', async () => {
    @Restify('def')
    @Entity('def_word')
    class Word {
      @PrimaryGeneratedColumn()
      id: number;

      @IsIn(['yes', 'no'], { message: 'yes or no' })
      @Column({ length: 75 })
      text: string;
    }

    @Restify({ app: 'def', interceptors: [], pipes: [] })
    @Entity('def_bare')
    class Bare {
      @PrimaryGeneratedColumn()
      id: number;
    }

    @Injectable()
    class Validating extends ValidationPipe {
      constructor() {
        super({ transform: true, whitelist: false });
      }
    }
    const started = await startApp({
      entities: [Word, Bare],
      restify: { interceptors: [Envelope], pipes: [Validating] },
      providers: [Notices, Envelope],
    });
    try {
      expect((await started.client.post('/rest/v1/def/word/', { text: 'yes' })).json).toEqual({
        data: { id: 1, text: 'yes' },
        word: 'kept',
      });
      const refused = await started.client.post('/rest/v1/def/word/', { text: 'perhaps' });
      expect([refused.status, refused.json]).toEqual([400, { detail: 'yes or no' }]);
      expect((await started.client.post('/rest/v1/def/bare/', {})).json).toEqual({ id: 1 });
    } finally {
      await started.close();
    }
  });
});

describe('what refuses to start', () => {
  test.each<[name: string, controller: () => Type, problem: string]>([
    [
      'a method for an operation that is not there',
      () => {
        @RestifyController(Shelf)
        class Wrong extends ResourceController<Shelf> {
          override async destroy(): Promise<void> {
            await Promise.resolve();
          }
        }
        return Wrong;
      },
      "Wrong.destroy: it replaces an operation that Shelf does not have. Add 'destroy' to its operations, or give the method another name.",
    ],
    [
      'one that is an action too',
      () => {
        @RestifyController(Shelf)
        class Wrong extends ResourceController<Shelf> {
          @Action({ detail: false })
          override async list(): Promise<unknown> {
            return Promise.resolve({});
          }
        }
        return Wrong;
      },
      'Wrong.list: it replaces an operation by its name, and is an action by its decorator. Give the action another name, and its URL by path.',
    ],
    [
      'a nested action for a relation of another kind',
      () => {
        @RestifyController(Shelf)
        class Wrong extends ResourceController<Shelf> {
          @NestedAction(ONE_TO_MANY_LIST_ACTION, 'tags')
          tags(): object {
            return {};
          }
        }
        return Wrong;
      },
      'Wrong.tags: "tags" is many-to-many, and not one-to-many.',
    ],
  ])('%s', async (_name, controller, problem) => {
    await expect(
      startApp({
        entities: [Shelf, Tag, Label, Book],
        controllers: [ShelfController, BookController, LabelController, controller()],
        providers: [Notices, Whose],
      }),
    ).rejects.toThrow(problem);
  });

  test('an interceptor with dependencies that no module lists', async () => {
    await expect(
      startApp({
        entities: [Note, Board, Mark],
        controllers: [NoteController, MarkController],
        providers: [Notices],
      }),
    ).rejects.toThrow(
      'Envelope: no module lists it, and it has dependencies. Add Envelope to the providers of the module that has them.',
    );
  });

  test('a class that extends the base without being listed, as any other', async () => {
    @Restify('lone')
    @Entity('lone_thing')
    class Thing {
      @PrimaryGeneratedColumn()
      id: number;
    }
    @RestifyController(Thing)
    class ThingController extends ResourceController<Thing> {}
    await expect(startApp({ entities: [Thing] })).rejects.toThrow(
      'Add ThingController to the controllers of the module',
    );
    const started = await startApp({ entities: [Thing], controllers: [ThingController, plain()] });
    expect((await started.client.get('/rest/v1/lone/thing/')).json).toEqual([]);
    await started.close();
  });
});

function plain(): Type {
  @Controller('elsewhere')
  class Elsewhere {}
  return Elsewhere;
}
