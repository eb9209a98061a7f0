// @tags db http nest
import { Module } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { describe, expect, test } from '@jest/globals';
import {
  CursorPagination,
  IsAuthenticated,
  JsonServerPagination,
  LimitOffsetPagination,
  PageNumberPagination,
  restify,
  Restify,
  RestifyController,
  RestifyModule,
} from 'nestjs-restify';
import { Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import { declareUnchecked, entityOf, problemsOf } from './refused-start.js';

const Wrong = entityOf('SilentWrong');
declareUnchecked(Wrong, { app: 'silent', fields: ['nothing'] });

onEachDatabase('two prefixes on one data source', (database) => {
  test('show the wrong declaration, and no failure to close the data source', async () => {
    const restifyModules = ['rest/v1', 'rest/v2', 'rest/v3'].map((prefix) =>
      RestifyModule.forRoot(prefix, { unknownEntities: 'ignore' }),
    );
    expect(await problemsOf({ entities: [Wrong], database, restifyModules })).toEqual([
      expect.stringMatching(/^SilentWrong\.fields\[0\]: "nothing" is not a field/),
    ]);
  });
});

test('a second argument of @Restify is an error: its permissions would have no effect', async () => {
  const Two = entityOf('SilentTwo');
  const Three = entityOf('SilentThree');
  const options = { permissions: [IsAuthenticated] };
  (Restify as (...given: unknown[]) => (target: object) => void)('silent', options)(Two);
  (restify as (...given: unknown[]) => void)(Three, 'silent', options);
  const problem =
    "@Restify has one argument, and more are given. Write the app label among the options: @Restify({ app: 'blog', … }).";
  expect(await problemsOf({ entities: [Two, Three] })).toEqual([
    `SilentTwo: ${problem}`,
    `SilentThree: ${problem}`,
  ]);
});

describe('options that a pagination does not have', () => {
  const unchecked = (options: object): never => options as never;
  test.each([
    ['page_size', () => new PageNumberPagination(unchecked({ page_size: 2 })), 'pageSize'],
    ['default_limit', () => new LimitOffsetPagination(unchecked({ default_limit: 2 })), undefined],
    [
      'ordering',
      () => new CursorPagination(unchecked({ ordering: 'id', secret: 'x'.repeat(32) })),
      undefined,
    ],
    ['pagesize', () => new JsonServerPagination(unchecked({ pagesize: 2 })), 'pageSize'],
  ])('are errors: %s', async (name, make, meant) => {
    const Paged = entityOf(`SilentPaged${name.replace('_', '')}`);
    declareUnchecked(Paged, { app: 'silent', pagination: make() });
    expect(await problemsOf({ entities: [Paged] })).toEqual([
      expect.stringContaining(`.pagination.${name}: "${name}" is not an option of this pagination. `),
    ]);
    if (meant !== undefined)
      expect(await problemsOf({ entities: [Paged] })).toEqual([
        expect.stringContaining(`Did you mean "${meant}"?`),
      ]);
  });

  test('may be those of a subclass', async () => {
    class Own extends PageNumberPagination {
      constructor(options: { readonly first: number }) {
        super(unchecked(options));
      }
    }
    const Owned = entityOf('SilentOwned');
    declareUnchecked(Owned, { app: 'silent', pagination: new Own({ first: 1 }) });
    const started = await startApp({ entities: [Owned] });
    await started.close();
  });

  test('a cursor pagination without options lacks its secret', async () => {
    const Cursor = entityOf('SilentCursor');
    declareUnchecked(Cursor, {
      app: 'silent',
      pagination: new (CursorPagination as new () => CursorPagination)(),
    });
    expect(await problemsOf({ entities: [Cursor] })).toEqual([
      'SilentCursor.pagination.secret: cursors are encrypted with it, and it is missing. Give a random text, the same in all processes of the application: secret: process.env.CURSOR_SECRET.',
    ]);
  });
});

@Entity('silent_tag')
class Tag {
  @PrimaryGeneratedColumn()
  id: number;
}

@Entity('silent_post')
class Post {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Tag)
  @JoinTable()
  tags: Relation<Tag[]>;
}

test('wrong operations and limits of `through` are errors', async () => {
  restify(Tag, 'silent');
  declareUnchecked(Post, {
    app: 'silent',
    through: { tags: { operations: ['lst'], queryLimits: { values: 0, valuse: 1 } } },
  });
  expect([...(await problemsOf({ entities: [Post, Tag] }))].sort()).toEqual([
    'Post.through.tags.operations[0]: "lst" is not an operation. Did you mean "list"?',
    expect.stringMatching(/^Post\.through\.tags\.queryLimits\.values: 0 is not a limit\./),
    expect.stringMatching(/^Post\.through\.tags\.queryLimits\.valuse: "valuse" is not a limit\./),
  ]);
});

@Restify('silent')
@Entity('silent_room')
class Room {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify('silent')
@Entity('silent_house')
class House {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify('silent')
@Entity('silent_street')
class Street {
  @PrimaryGeneratedColumn()
  id: number;
}

@RestifyController(Room)
class RoomController {}

@Module({ controllers: [RoomController] })
class RoomModule {}

describe('a model whose path differs from that of the others', () => {
  const entities = [House, Street, Room];
  const moved = (path: string): string =>
    `${path}/rest/v1/silent/room/: its global prefix or version is another one than that of other models`;

  test('by RouterModule is an error', async () => {
    const imports = [RoomModule, RouterModule.register([{ path: 'admin', module: RoomModule }])];
    const [problem] = await problemsOf({ entities, imports });
    expect(problem).toContain(moved('/admin'));
  });

  test('by `exclude` of the global prefix is an error', async () => {
    const [problem] = await problemsOf({
      entities,
      imports: [RoomModule],
      configure: (app) => {
        app.setGlobalPrefix('api', { exclude: ['rest/v1/silent/room'] });
      },
    });
    expect(problem).toContain('rest/v1/silent/room/');
  });

  test('is not one whose global prefix all models have', async () => {
    const started = await startApp({
      entities,
      imports: [RoomModule],
      configure: (app) => {
        app.setGlobalPrefix('api');
      },
    });
    expect((await started.client.get('/api/rest/v1/silent/room/')).json).toEqual([]);
    await started.close();
  });
});
