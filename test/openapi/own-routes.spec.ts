// @tags http nest
import { afterEach, describe, expect, test } from '@jest/globals';
import { Body, Controller, Get, HttpCode, Post, Query, VersioningType } from '@nestjs/common';
import {
  ApiBody,
  ApiExcludeEndpoint,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiQuery,
} from '@nestjs/swagger';
import {
  Action,
  MANY_TO_MANY_LIST_ACTION,
  NestedAction,
  ResourceController,
  Restify,
  RestifyController,
  RestifyModule,
} from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { lintOpenApi } from '../support/lint-openapi.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';
import { documentOf, parametersOf } from './document.js';

@Restify('own')
@Entity()
class Song {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 50 })
  title: string;

  @ManyToMany(() => Singer, (singer) => singer.songs)
  @JoinTable()
  singers: Relation<Singer[]>;
}

@Restify('own')
@Entity()
class Singer {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @ManyToMany(() => Song, (song) => song.singers)
  songs: Relation<Song[]>;
}

class Rating {
  @ApiProperty({ minimum: 0, exclusiveMinimum: true, nullable: true, type: Number })
  stars: number | null;

  @ApiProperty({ nullable: true, type: () => Rating })
  before: Rating | null;
}

@RestifyController(Song)
class SongController extends ResourceController<Song> {
  @ApiOperation({ summary: 'One song, as it is sung' })
  override retrieve(request: object): Promise<unknown> {
    return super.retrieve(request);
  }

  @HttpCode(202)
  override create(request: object, @Body() body: Record<string, unknown>): Promise<unknown> {
    return super.create(request, body);
  }

  @ApiOkResponse({ description: 'Nothing but the title', schema: { type: 'string' } })
  override list(): Promise<unknown> {
    return Promise.resolve('title');
  }

  @ApiExcludeEndpoint()
  override destroy(request: object): Promise<unknown> {
    return super.destroy(request);
  }

  @Action({ detail: true, methods: ['POST'] })
  @ApiOperation({ summary: 'Rate a song', operationId: 'rate' })
  @ApiBody({ type: Rating })
  @ApiOkResponse({ description: 'The rating', type: Rating })
  @HttpCode(200)
  rate(): object {
    return { stars: 1, before: null };
  }

  @Action({ detail: false, path: 'newest' })
  @ApiQuery({ name: 'days', required: false, type: Number })
  newest(@Query('days') days: string): object {
    return { days };
  }

  @NestedAction(MANY_TO_MANY_LIST_ACTION, 'singers')
  singers(): object {
    return { msg: 'own' };
  }

  @Action({ detail: false, methods: ['POST'] })
  @ApiExcludeEndpoint()
  secretly(): void {
    return undefined;
  }
}

@Controller('plain')
class PlainController {
  @Get()
  @ApiOperation({ summary: 'A plain route' })
  @ApiOkResponse({ type: Rating })
  read(): object {
    return {};
  }

  @Post()
  @ApiOperation({ summary: 'Another one' })
  write(@Body() rating: Rating): object {
    return rating;
  }
}

describe("routes of the application's own", () => {
  let started: StartedApp | undefined;
  afterEach(async () => {
    await started?.close();
    started = undefined;
  });

  const start = async (settings: Partial<AppSettings> = {}): Promise<StartedApp> => {
    started = await startApp({
      entities: [Song, Singer],
      controllers: [SongController, PlainController],
      undescribed: 'all',
      ...settings,
    });
    return started;
  };

  test("are in the document beside what is generated, which is valid by Redocly's recommended rules", async () => {
    const document = documentOf((await start()).app);
    expect(
      (await lintOpenApi({ ...document, security: [] })).filter(({ severity }) => severity === 'error'),
    ).toEqual([]);
    expect(Object.keys(document.paths['/plain'] ?? {})).toEqual(['get', 'post']);
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/',
        '/plain',
        '/rest/v1/own/song',
        '/rest/v1/own/singer/{pk}/songs/{childId}',
      ]),
    );
  });

  test('describe null as OpenAPI 3.1 does, for each version of the document', async () => {
    const { app } = await start();
    const expected = {
      stars: { type: ['number', 'null'], exclusiveMinimum: 0 },
      before: { anyOf: [{ allOf: [{ $ref: '#/components/schemas/Rating' }] }, { type: 'null' }] },
    };
    const of30 = documentOf(app);
    expect(of30.openapi).toBe('3.1.0');
    expect(of30.components.schemas?.Rating).toMatchObject({ properties: expected });
    expect(
      documentOf(app, (builder) => builder.setOpenAPIVersion('3.1.0')).components.schemas?.Rating,
    ).toMatchObject({ properties: { stars: expected.stars } });
  });

  test('a method that replaces an operation keeps its description, and that of its decorators', async () => {
    const { paths } = documentOf((await start()).app);
    const { '/rest/v1/own/song': song = {}, '/rest/v1/own/song/{pk}': one = {} } = paths;
    expect(one.get).toMatchObject({
      summary: 'One song, as it is sung',
      operationId: 'own_song_retrieve',
      responses: {
        200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/OwnSong' } } } },
      },
    });
    expect(song.get?.responses['200']).toEqual({
      description: 'Nothing but the title',
      content: { 'application/json': { schema: { type: 'string' } } },
    });
    expect(song.get?.responses).toHaveProperty('400');
    expect(song.post?.requestBody?.content['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/OwnSongCreate',
    });
    expect(Object.keys(song.post?.responses ?? {}).filter((status) => status.startsWith('2'))).toEqual([
      '202',
    ]);
    expect(Object.keys(one)).toEqual(['get', 'put', 'patch']);
  });

  test('an action is at its URL and methods only, as its decorators describe it', async () => {
    const { paths } = documentOf((await start()).app);
    expect(Object.keys(paths['/rest/v1/own/song/{pk}/rate'] ?? {})).toEqual(['post']);
    const rate = paths['/rest/v1/own/song/{pk}/rate']?.post;
    expect(rate).toMatchObject({
      operationId: 'rate',
      summary: 'Rate a song',
      requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Rating' } } } },
    });
    expect(Object.keys(rate?.responses ?? {})).toEqual([
      '200',
      '400',
      '403',
      '404',
      '406',
      '413',
      '415',
      '500',
      '503',
      'default',
    ]);
    expect(rate && parametersOf(rate, 'path')).toEqual({ pk: { type: 'integer', format: 'int64' } });
    const newest = paths['/rest/v1/own/song/newest']?.get;
    expect(newest && parametersOf(newest, 'query')).toEqual({ days: { type: 'number' } });
    expect(paths['/rest/v1/own/song/{pk}/singers']?.get).toMatchObject({
      operationId: 'own_song_singers_get',
      responses: { 200: { content: { 'application/json': { schema: {} } } } },
    });
    expect(Object.keys(paths['/rest/v1/own/song/{pk}/singers'] ?? {})).toEqual(['get', 'post']);
    expect(paths).not.toHaveProperty('/rest/v1/own/song/secretly');
  });

  test('a global prefix and a version are part of every path, and of the links in examples', async () => {
    const { app, client } = await start({
      undescribed: [],
      configure: (made) => {
        made.setGlobalPrefix('api');
        made.enableVersioning({ type: VersioningType.URI, defaultVersion: '2' });
      },
    });
    const { paths, components } = documentOf(app);
    expect(Object.keys(paths).every((path) => path.startsWith('/api/v2'))).toBe(true);
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/api/v2', '/api/v2/rest/v1/own/song/{pk}/rate']),
    );
    expect(JSON.stringify(components.schemas?.OwnSong)).toContain('/api/v2/rest/v1/own/song/1/singers/');
    expect((await client.get('/api/v2/rest/v1/own/singer/')).status).toBe(200);
  });

  test('several prefixes are described beside each other, and every operation has an id of its own', async () => {
    const { app } = await start({
      restifyModules: [RestifyModule.forRoot('one'), RestifyModule.forRoot('two', { strict: true })],
    });
    const document = documentOf(app);
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/one/own/song', '/two/own/song']));
    expect(document.paths['/two/own/song']?.get?.operationId).toBe('two_own_song_list');
    expect(
      (await lintOpenApi({ ...document, security: [] })).filter(({ severity }) => severity === 'error'),
    ).toEqual([]);
  });

  test("a route of the application's own wins over the index", async () => {
    @Controller()
    class HomeController {
      @Get()
      @ApiOperation({ summary: 'Home' })
      home(): string {
        return 'home';
      }
    }
    const { paths } = documentOf((await start({ controllers: [SongController, HomeController] })).app);
    expect(paths['/']?.get?.summary).toBe('Home');
  });

  test("the document's own security holds for models that name no scheme", async () => {
    const { app } = await start();
    const document = documentOf(app, (builder) => builder.addBearerAuth().addSecurityRequirements('bearer'));
    expect(document.paths['/rest/v1/own/singer']?.get).not.toHaveProperty('security');
    expect(document.components.securitySchemes).toHaveProperty('bearer');
  });
});
