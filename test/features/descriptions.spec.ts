// @tags http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Body, Injectable, UnauthorizedException } from '@nestjs/common';
import type { CanActivate, ExecutionContext, INestApplication } from '@nestjs/common';
import { IsIn, IsOptional, Length } from 'class-validator';
import {
  Action,
  allow,
  AllowAny,
  basic,
  CsvRenderer,
  deny,
  guard,
  hide,
  IdempotencyRecord,
  IsAuthenticated,
  PageNumberPagination,
  Restify,
  ResourceController,
  RestifyController,
  RestifyOpenApi,
  where,
} from 'nestjs-restify';
import type {
  AccessContext,
  Denial,
  Grant,
  IndexDescription,
  Permission,
  RouteDescription,
} from 'nestjs-restify';
import {
  Column,
  Entity,
  Index,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const DESCRIPTION = 'application/vnd.restify.description+json';
const JSON_TYPE = 'application/json';
const AS_DESCRIPTION = { accept: DESCRIPTION };
const AS_ANN = { authorization: `Basic ${Buffer.from('ann:pass').toString('base64')}` };

/** Anonymous callers see neither the mail address of authors nor the notes. */
class Authors implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    return actor ? allow() : allow({ rows: where('id', 'gt', 0), readable: ['id', 'name', 'posts'] });
  }
}

class Members implements Permission {
  decide({ actor, method }: AccessContext): Grant | Denial {
    return actor || method === 'OPTIONS' ? allow() : deny();
  }
}

@Restify({
  app: 'dsc',
  label: '{name} <{mail}>',
  permissions: [Authors],
  filterFields: ['name', 'mail', 'notes'],
})
@Entity('dsc_author')
class Author {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @Column() mail: string;
  @OneToMany(() => Post_, (post) => post.author) posts: Relation<Post_[]>;
  @OneToMany(() => Note, (note) => note.author) notes: Relation<Note[]>;
}

@Restify({ app: 'dsc', permissions: [Members], labels: { one: 'Note', many: 'Short notes' } })
@Entity('dsc_note')
class Note {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
  @ManyToOne(() => Author, (author) => author.notes, { onDelete: 'CASCADE' }) author: Relation<Author>;
}

@Restify({ app: 'dsc', description: 'Words that group posts.', label: 'word' })
@Entity('dsc_tag')
class Tag {
  @PrimaryGeneratedColumn() id: number;
  @Column() word: string;
}

@Restify({
  app: 'dsc',
  name: 'post',
  label: 'title',
  filterFields: {
    title: ['exact', 'icontains'],
    votes: ['exact', 'gte', 'in', 'isnull'],
    state: ['exact'],
    'author.mail': ['exact'],
    author: ['exact'],
  } as never,
  filterGroups: true,
  searchFields: ['title'],
  orderingFields: ['title', 'votes'],
  ordering: ['-votes', 'id'],
  pagination: new PageNumberPagination({ pageSize: 5, maxPageSize: 20, countParameter: 'count' }),
  renderers: [new CsvRenderer()],
  shape: true,
  expandable: ['author'],
  bulk: { max: 7 },
  conditional: true,
  idempotency: true,
})
@Entity('dsc_post')
class Post_ {
  @PrimaryGeneratedColumn() id: number;
  @Index('dsc_post_by_title') @Column() title: string;
  @Column({ type: 'int', nullable: true }) votes: number | null;
  @Column({ type: 'simple-enum', enum: ['draft', 'sent'], default: 'draft' }) state: string;
  @ManyToOne(() => Author, (author) => author.posts) author: Relation<Author>;
  @ManyToOne(() => Note, { nullable: true, onDelete: 'SET NULL' }) note: Relation<Note> | null;
  @ManyToMany(() => Tag) @JoinTable() tags: Relation<Tag[]>;
}

class PublishBody {
  @IsIn(['mail', 'print'])
  channel: string;

  @IsOptional()
  @Length(1, 20)
  remark?: string;
}

/** Recognizes the user `guarded` by a token. */
@Injectable()
class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context
      .switchToHttp()
      .getRequest<{ headers: { authorization?: string }; user?: object }>();
    if (request.headers.authorization !== 'Bearer token') throw new UnauthorizedException();
    request.user = { username: 'guarded' };
    return true;
  }
}

@Restify({ app: 'dsg', authentication: [TokenGuard] })
@Entity('dsg_item')
class GuardedItem {
  @PrimaryGeneratedColumn() id: number;
}

/** Refuses the user that it finds. */
@Injectable()
class SuspendingGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context
      .switchToHttp()
      .getRequest<{ headers: Record<string, string | undefined>; user?: object }>();
    const { authorization, 'x-suspended': suspended } = request.headers;
    if (authorization !== 'Bearer suspended' && suspended === undefined) throw new UnauthorizedException();
    request.user = { username: 'suspended' };
    return false;
  }
}

/** Fails whether or not there are credentials. */
@Injectable()
class BrokenGuard implements CanActivate {
  canActivate(): boolean {
    throw new Error('away');
  }
}

@Injectable()
class ClosedDoor implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

/** Exists for one user. */
class RootOnly implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    return (actor as { username?: string } | null)?.username === 'root' ? allow() : hide();
  }
}

class Failing implements Permission {
  decide(): Grant {
    throw new Error('away');
  }
}

@Restify({ app: 'dsi', description: 'Hidden', permissions: [RootOnly] })
@Entity('dsi_hidden')
class HiddenFile {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'dsi', description: 'Members', permissions: [IsAuthenticated] })
@Entity('dsi_members')
class MembersFile {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'dsi', description: 'Open', permissions: [AllowAny] })
@Entity('dsi_open')
class OpenFile {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'dsi', description: 'Door', permissions: [AllowAny], guards: [ClosedDoor] })
@Entity('dsi_door')
class DoorFile {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'dsi', description: 'Failing', permissions: [Failing] })
@Entity('dsi_failing')
class FailingFile {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({
  app: 'dsi',
  description: 'Suspended',
  permissions: [IsAuthenticated],
  authentication: [guard(SuspendingGuard, 'Bearer')],
})
@Entity('dsi_suspended')
class SuspendedFile {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({
  app: 'dsi',
  description: 'Broken',
  permissions: [IsAuthenticated],
  authentication: [guard(BrokenGuard, { header: 'X-Key' })],
})
@Entity('dsi_broken')
class BrokenFile {
  @PrimaryGeneratedColumn() id: number;
}

/** Knows nobody by the credentials of the other models. */
@Restify({
  app: 'dsi',
  description: 'Key',
  permissions: [IsAuthenticated],
  authentication: [basic(() => null, { challenge: 'XBasic' })],
})
@Entity('dsi_key')
class KeyFile {
  @PrimaryGeneratedColumn() id: number;
}

@RestifyController(Post_)
class PostController extends ResourceController<Post_> {
  @Action({ path: 'recent', detail: false }) recent(): unknown {
    return [];
  }
  @Action({ path: 'publish', detail: true, methods: ['POST'], permissions: [IsAuthenticated] })
  publish(@Body() body: PublishBody): unknown {
    return { done: true, ...body };
  }
  override list(): Promise<unknown> {
    return Promise.resolve([{ own: true }]);
  }
}

describe('descriptions', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Author, Note, Tag, Post_, IdempotencyRecord],
      controllers: [PostController],
      restify: {
        authentication: [basic((name, password) => (password === 'pass' ? { username: name } : null))],
      },
      configure: (app: INestApplication) => {
        app.enableCors();
      },
    });
  });
  afterAll(() => started.close());

  const describeUrl = async (path: string, headers = {}): Promise<RouteDescription> => {
    const { status, json } = await started.client.get(path, { headers: { ...AS_DESCRIPTION, ...headers } });
    expect(status).toBe(200);
    return json as RouteDescription;
  };

  test('a GET of the media type has the description, also where CORS responds to OPTIONS', async () => {
    const { status, headers, json } = await started.client.get('/rest/v1/dsc/tag/', {
      headers: AS_DESCRIPTION,
    });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe(DESCRIPTION);
    expect(headers.vary).toContain('Accept');
    expect(json).toMatchObject({ name: 'Tag List', kind: 'collection', label: '{word}', key: ['id'] });
  });

  test('the description of a list has its query parameters', async () => {
    expect(await describeUrl('/rest/v1/dsc/post/', AS_ANN)).toMatchObject({
      name: 'Post_ List',
      kind: 'collection',
      label: '{title}',
      key: ['id'],
      objects: '/rest/v1/dsc/post/',
      fields: {
        id: { kind: 'integer', label: 'ID', nullable: false },
        votes: { kind: 'integer', nullable: true },
        state: { kind: 'enum', choices: [{ value: 'draft' }, { value: 'sent' }] },
        author: { kind: 'to-one' },
        tags: { kind: 'link' },
      },
      groups: 'filter',
      ordering: { parameter: 'ordering', fields: ['title', 'votes'], default: ['-votes'] },
      search: { parameter: 'search' },
      pagination: {
        kind: 'page-number',
        position: 'page',
        size: 'page_size',
        page_size: 5,
        max_page_size: 20,
        count: 'count',
        rows: 'results',
      },
      nested: [{ name: 'tags', label: 'Tags', through: true }],
      custom: [
        { name: 'recent', object: false, methods: ['GET'] },
        { name: 'publish', object: true, methods: ['POST'] },
      ],
      bulk: { methods: ['POST', 'PATCH', 'DELETE'], max: 7, keys: 'keys' },
      conditional: { require: false },
      idempotency: { header: 'Idempotency-Key' },
      shape: { fields: 'fields', omit: 'omit', expand: 'expand' },
      with: 'with',
      formats: { parameter: 'format', names: { csv: 'text/csv' } },
    });
  });

  test('the methods are those that the caller may use', async () => {
    expect((await describeUrl('/rest/v1/dsc/post/', AS_ANN)).methods).toEqual([
      'GET',
      'POST',
      'PATCH',
      'DELETE',
    ]);
    expect((await describeUrl('/rest/v1/dsc/post/1/', AS_ANN)).methods).toEqual([
      'GET',
      'PUT',
      'PATCH',
      'DELETE',
    ]);
    expect((await describeUrl('/rest/v1/dsc/note/1/')).methods).toEqual([]);
  });

  test('a deletion names what goes with it, without models that the caller may not view', async () => {
    expect((await describeUrl('/rest/v1/dsc/author/1/', AS_ANN)).deletion).toEqual({
      cascade: ['dsc.note'],
      change: [],
      restrict: ['dsc.post'],
      labels: { 'dsc.note': 'Short notes' },
    });
    expect((await describeUrl('/rest/v1/dsc/author/1/')).deletion).toEqual({
      cascade: [],
      change: [],
      restrict: ['dsc.post'],
    });
    expect((await describeUrl('/rest/v1/dsc/note/1/', AS_ANN)).deletion).toEqual({
      cascade: [],
      change: ['dsc.post'],
      restrict: [],
    });
    expect((await describeUrl('/rest/v1/dsc/author/', AS_ANN)).deletion).toBeUndefined();
    expect((await describeUrl('/rest/v1/dsc/note/1/')).deletion).toBeUndefined();
  });

  test('filters have a name, a field, a lookup and a type', async () => {
    const { filters } = await describeUrl('/rest/v1/dsc/post/', AS_ANN);
    expect(filters).toEqual(
      expect.arrayContaining([
        { name: 'title', field: 'title', lookup: 'exact', type: 'string', list: false },
        { name: 'title__icontains', field: 'title', lookup: 'icontains', type: 'string', list: false },
        { name: 'votes__in', field: 'votes', lookup: 'in', type: 'integer', list: true },
        { name: 'votes__isnull', field: 'votes', lookup: 'isnull', type: 'boolean', list: false },
        { name: 'author__mail', field: 'author__mail', lookup: 'exact', type: 'string', list: false },
      ]),
    );
    expect(filters.find(({ name }) => name === 'state')?.choices).toEqual([
      { value: 'draft', display_name: 'draft' },
      { value: 'sent', display_name: 'sent' },
    ]);
    expect(filters.some(({ name }) => name.endsWith('__exact'))).toBe(false);
  });

  test('what a caller may not use is absent', async () => {
    const anonymous = await describeUrl('/rest/v1/dsc/post/');
    expect(anonymous.filters.map(({ name }) => name)).not.toContain('author__mail');
    expect(anonymous.relations).toEqual({ author: { url: '/rest/v1/dsc/author/', label: null } });
    expect(anonymous.custom.map(({ name }) => name)).toEqual(['recent']);
    const ann = await describeUrl('/rest/v1/dsc/post/', AS_ANN);
    expect(ann.relations).toEqual({
      author: { url: '/rest/v1/dsc/author/', label: '{name} <{mail}>' },
      note: { url: '/rest/v1/dsc/note/', label: null },
    });
  });

  test('fields, labels and nested lists follow the grants', async () => {
    const anonymous = await describeUrl('/rest/v1/dsc/author/');
    expect(Object.keys(anonymous.fields)).toEqual(['id', 'name', 'posts']);
    expect(anonymous.label).toBeUndefined();
    expect(anonymous.nested.map(({ name }) => name)).toEqual(['posts']);
    expect(anonymous.filters.map(({ name }) => name)).toEqual(['name']);
    const ann = await describeUrl('/rest/v1/dsc/author/', AS_ANN);
    expect(ann.label).toBe('{name} <{mail}>');
    expect(ann.nested.map(({ name }) => name)).toEqual(['posts', 'notes']);
    // A to-many relation is described where a filter compares its keys.
    expect(anonymous.relations).toEqual({});
    expect(ann.relations).toEqual({ notes: { url: '/rest/v1/dsc/note/', label: null } });
  });

  test('a caller who may not read a model sees none of its fields', async () => {
    expect(await describeUrl('/rest/v1/dsc/note/')).toMatchObject({
      name: 'Note List',
      fields: {},
      filters: [],
      nested: [],
      relations: {},
    });
  });

  test('an object and a nested list are described without reading rows', async () => {
    expect(await describeUrl('/rest/v1/dsc/post/99/', AS_ANN)).toMatchObject({
      name: 'Post_ Instance',
      kind: 'object',
      objects: '/rest/v1/dsc/post/',
      filters: [],
    });
    expect(await describeUrl('/rest/v1/dsc/author/99/posts/', AS_ANN)).toMatchObject({
      kind: 'one-to-many',
      objects: '/rest/v1/dsc/post/',
    });
    expect(await describeUrl('/rest/v1/dsc/post/99/tags/', AS_ANN)).toMatchObject({
      kind: 'through-list',
      objects: '/rest/v1/dsc/post/99/tags/',
    });
  });

  test('an action has the fields of the body that it declares, for callers who may call it', async () => {
    expect((await describeUrl('/rest/v1/dsc/post/1/')).custom).toEqual([
      { name: 'recent', object: false, methods: ['GET'] },
    ]);
    expect((await describeUrl('/rest/v1/dsc/post/1/', AS_ANN)).custom).toEqual([
      { name: 'recent', object: false, methods: ['GET'] },
      {
        name: 'publish',
        object: true,
        methods: ['POST'],
        body: {
          channel: {
            type: 'choice',
            required: true,
            read_only: false,
            label: 'Channel',
            choices: [
              { value: 'mail', display_name: 'mail' },
              { value: 'print', display_name: 'print' },
            ],
          },
          remark: {
            type: 'string',
            required: false,
            read_only: false,
            label: 'Remark',
            min_length: 1,
            max_length: 20,
          },
        },
      },
    ]);
  });

  test('a one-to-many list has the field of its objects for the parent, and the URL for creates', async () => {
    expect((await describeUrl('/rest/v1/dsc/author/1/posts/')).parent).toEqual({
      field: 'author',
      create: '/rest/v1/dsc/post/',
    });
    expect((await describeUrl('/rest/v1/dsc/author/1/notes/', AS_ANN)).parent).toEqual({
      field: 'author',
      create: '/rest/v1/dsc/note/',
    });
    expect((await describeUrl('/rest/v1/dsc/author/1/notes/')).parent).toBeUndefined();
    expect((await describeUrl('/rest/v1/dsc/post/')).parent).toBeUndefined();
  });

  test('orders that an index serves are named, and fields that a PATCH of many objects may change', async () => {
    const { ordering, bulk } = await describeUrl('/rest/v1/dsc/post/', AS_ANN);
    expect(ordering?.indexed).toEqual(['title']);
    expect(Object.keys(bulk?.change ?? {})).toEqual(['title', 'votes', 'state', 'author', 'note']);
    expect(Object.values(bulk?.change ?? {}).some(({ required }) => required)).toBe(false);
  });

  test('OPTIONS has the same document', async () => {
    const fresh = await startApp({
      entities: [Author, Note, Tag, Post_, IdempotencyRecord],
      controllers: [PostController],
    });
    try {
      for (const path of ['post/', 'author/1/posts/', 'tag/1/', 'post/1/tags/']) {
        const { json } = await fresh.client.send('OPTIONS', `/rest/v1/dsc/${path}`);
        const named = await fresh.client.get(`/rest/v1/dsc/${path}`, { headers: AS_DESCRIPTION });
        expect(named.json).toEqual(json);
      }
    } finally {
      await fresh.close();
    }
  });

  test('a method of the application does not run for a description', async () => {
    expect((await started.client.get('/rest/v1/dsc/post/')).json).toEqual([{ own: true }]);
    expect((await describeUrl('/rest/v1/dsc/post/')).name).toBe('Post_ List');
  });

  test('an action of the application is never replaced by a description', async () => {
    const { status, json } = await started.client.get('/rest/v1/dsc/post/recent/', {
      headers: AS_DESCRIPTION,
    });
    expect([status, json]).toEqual([406, expect.anything()]);
  });

  test('the media type has to be named: other types are not acceptable', async () => {
    const accepts = ['text/csv', 'application/vnd.other+json', `${DESCRIPTION}evil`, `${DESCRIPTION};q=0`];
    for (const accept of accepts)
      for (const path of ['/', '/rest/v1/dsc/tag/'])
        expect((await started.client.get(path, { headers: { accept } })).status).toBe(406);
  });

  test.each([
    ['description', DESCRIPTION.toUpperCase()],
    ['description', `  ${DESCRIPTION};charset=utf-8`],
    ['description', `text/html, ${DESCRIPTION}`],
    ['description', `application/json;q=0.5, ${DESCRIPTION};q=0.9`],
    ['description', `${DESCRIPTION}, */*`],
    ['description', `text/csv;q=0.5, ${DESCRIPTION};q=0.6`],
    ['data', `${DESCRIPTION};q=0, application/json`],
    ['data', `${DESCRIPTION}evil, application/json`],
    ['data', `${DESCRIPTION}, application/json`],
    ['data', `application/json, ${DESCRIPTION};q=0.9`],
    ['data', `application/json;q=0.5, application/*`],
    ['data', `application/json;q=0.5, */*`],
    ['data', `${DESCRIPTION};q=0.2, */*`],
  ])('the highest quality decides: %s for %s', async (kind, accept) => {
    for (const path of ['/', '/rest/v1/dsc/tag/1/', '/rest/v1/dsc/author/']) {
      const { status, headers } = await started.client.get(path, { headers: { accept } });
      if (path.endsWith('1/') && kind === 'data') expect(status).toBe(404);
      else expect([path, headers['content-type']]).toEqual([path, kind === 'data' ? JSON_TYPE : DESCRIPTION]);
    }
  });

  test('wrong credentials and unknown URLs are errors, as for any request', async () => {
    const wrong = { authorization: `Basic ${Buffer.from('ann:wrong').toString('base64')}` };
    const send = (path: string, headers = {}): Promise<{ status: number }> =>
      started.client.get(path, { headers: { ...AS_DESCRIPTION, ...headers } });
    expect((await send('/rest/v1/dsc/tag/', wrong)).status).toBe(401);
    expect((await send('/rest/v1/dsc/nothing/')).status).toBe(404);
  });

  test('the caller of an index is also known by a guard that authenticates', async () => {
    const guarded = await startApp({ entities: [GuardedItem], providers: [TokenGuard], undescribed: 'all' });
    try {
      const callerBy = async (authorization?: string): Promise<unknown> => {
        const headers = { ...AS_DESCRIPTION, ...(authorization === undefined ? {} : { authorization }) };
        return ((await guarded.client.get('/', { headers })).json as { caller: unknown }).caller;
      };
      expect(await callerBy('Bearer token')).toEqual({
        authenticated: true,
        label: 'guarded',
        refused: false,
      });
      const anonymous = { authenticated: false, label: null };
      expect(await callerBy('Bearer wrong')).toEqual({ ...anonymous, refused: true });
      expect(await callerBy()).toEqual({ ...anonymous, refused: false });
    } finally {
      await guarded.close();
    }
  });

  describe('of an index whose models differ', () => {
    let mixed: StartedApp;
    beforeAll(async () => {
      mixed = await startApp({
        entities: [
          HiddenFile,
          MembersFile,
          OpenFile,
          DoorFile,
          FailingFile,
          SuspendedFile,
          BrokenFile,
          KeyFile,
        ],
        providers: [SuspendingGuard, BrokenGuard, ClosedDoor],
        restify: { authentication: [basic((name, word) => (word === 'pass' ? { username: name } : null))] },
        undescribed: 'all',
      });
    });
    afterAll(() => mixed.close());

    const indexFor = async (headers = {}): Promise<IndexDescription> => {
      const { status, json } = await mixed.client.get('/', { headers: { ...AS_DESCRIPTION, ...headers } });
      expect(status).toBe(200);
      return json as IndexDescription;
    };
    const textsFor = async (headers = {}): Promise<readonly string[]> =>
      (await indexFor(headers)).models.map(({ description }) => description).filter((text) => text !== '');

    test('a text is shown to callers whom OPTIONS of the list admits', async () => {
      expect(await textsFor()).toEqual(['Open']);
      expect(await textsFor(AS_ANN)).toEqual(['Members', 'Open']);
      const root = { authorization: `Basic ${Buffer.from('root:pass').toString('base64')}` };
      expect(await textsFor(root)).toEqual(['Hidden', 'Members', 'Open']);
      // A scheme of other models: the caller is anonymous there.
      expect(await textsFor({ authorization: 'Bearer suspended' })).toEqual(['Open']);
      for (const headers of [{}, AS_ANN, root]) {
        const { models } = await indexFor(headers);
        for (const { url, description } of models) {
          const { status } = await mixed.client.send('OPTIONS', url, { headers });
          if (status !== 200) expect([url, description]).toEqual([url, '']);
        }
      }
    });

    test('every model keeps its name and its URL, also in the JSON', async () => {
      expect((await indexFor()).models.map(({ model }) => model)).toEqual([
        'brokenfile',
        'doorfile',
        'failingfile',
        'hiddenfile',
        'keyfile',
        'membersfile',
        'openfile',
        'suspendedfile',
      ]);
      const { json } = await mixed.client.get('/');
      expect(Object.keys(json as object)).toHaveLength(8);
    });

    test('a user whom a guard refuses is not authenticated', async () => {
      const anonymous = { authenticated: false, label: null };
      expect((await indexFor({ authorization: 'Bearer suspended' })).caller).toEqual({
        ...anonymous,
        refused: true,
      });
      expect((await indexFor({ 'x-suspended': 'yes' })).caller).toEqual({ ...anonymous, refused: false });
    });

    test('a scheme that fails makes the index 503 only for callers who present its credentials', async () => {
      expect((await indexFor()).caller).toEqual({ authenticated: false, label: null, refused: false });
      expect((await indexFor(AS_ANN)).caller).toEqual({ authenticated: true, label: 'ann', refused: false });
      const { status } = await mixed.client.get('/', { headers: { ...AS_DESCRIPTION, 'x-key': 'any' } });
      expect(status).toBe(503);
    });
  });

  describe('of the index', () => {
    const describeIndex = async (headers = {}): Promise<unknown> =>
      (await started.client.get('/', { headers: { ...AS_DESCRIPTION, ...headers } })).json;

    test('it lists the models', async () => {
      expect(await describeIndex()).toMatchObject({
        name: 'Index',
        models: [
          { app: 'dsc', model: 'author', label: 'Author', description: '', url: '/rest/v1/dsc/author/' },
          { app: 'dsc', model: 'note', label: 'Short notes', url: '/rest/v1/dsc/note/' },
          { app: 'dsc', model: 'post', label: 'Post_', url: '/rest/v1/dsc/post/' },
          { app: 'dsc', model: 'tag', description: 'Words that group posts.', url: '/rest/v1/dsc/tag/' },
        ],
      });
    });

    test('a model has the description that it declares, also in OpenAPI', async () => {
      const described = async (model: string): Promise<unknown> =>
        (await started.client.get(`/rest/v1/dsc/${model}/`, { headers: { ...AS_DESCRIPTION, ...AS_ANN } }))
          .json;
      expect(await described('tag')).toMatchObject({
        name: 'Tag List',
        description: 'Words that group posts.',
      });
      expect(await described('author')).toMatchObject({ name: 'Author List', description: '' });
      const { tags } = started.app
        .get(RestifyOpenApi)
        .extend({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: {} }) as unknown as {
        readonly tags: readonly object[];
      };
      expect(tags).toContainEqual({ name: 'dsc.tag', description: 'Words that group posts.' });
      expect(tags).toContainEqual({ name: 'dsc.author', description: 'Author, of dsc' });
    });

    test('it names the caller', async () => {
      const wrong = { authorization: `Basic ${Buffer.from('ann:wrong').toString('base64')}` };
      const anonymous = { authenticated: false, label: null };
      expect(await describeIndex()).toMatchObject({ caller: { ...anonymous, refused: false } });
      expect(await describeIndex(AS_ANN)).toMatchObject({
        caller: { authenticated: true, label: 'ann', refused: false },
      });
      expect(await describeIndex(wrong)).toMatchObject({ caller: { ...anonymous, refused: true } });
      // No scheme reads a token.
      expect(await describeIndex({ Authorization: 'Bearer token' })).toMatchObject({
        caller: { ...anonymous, refused: false },
      });
    });
  });
});
