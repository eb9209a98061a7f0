// @tags nest
import { describe, expect, test } from '@jest/globals';
import { AuthGuard } from '@nestjs/passport';
import { AllowAny, anyOf, basic, IsAdmin, IsAuthenticated, restify } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import { Entity, JoinTable, ManyToMany, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import { declareUnchecked, problemsOf } from './refused-start.js';

class Door {
  canActivate(): boolean {
    return true;
  }
}

type Options = Readonly<Record<string, unknown>>;

/** Entities of somebody else: declared here, and a junction of each kind between them. */
function entitiesWith(post: Options, tag: Options, declareJunction = false): readonly (new () => object)[] {
  @Entity('oj_post')
  class Post {
    @PrimaryGeneratedColumn() id: number;
    @ManyToMany(() => Tag, (other) => other.posts) @JoinTable({ name: 'oj_post_tags' }) tags: Relation<Tag[]>;
    @ManyToMany(() => Tag)
    @JoinTable({
      name: 'oj_reader',
      joinColumn: { name: 'post_id' },
      inverseJoinColumn: { name: 'tag_id' },
    })
    readers: Relation<Tag[]>;
  }

  @Entity('oj_tag')
  class Tag {
    @PrimaryGeneratedColumn() id: number;
    @ManyToMany(() => Post, (other) => other.tags) posts: Relation<Post[]>;
  }

  @Entity('oj_reader')
  class Reader {
    @PrimaryColumn({ name: 'post_id' }) post: number;
    @PrimaryColumn({ name: 'tag_id' }) tag: number;
  }
  declareUnchecked(Post, { app: 'oj', ...post });
  declareUnchecked(Tag, { app: 'oj', ...tag });
  if (declareJunction) restify(Reader, { app: 'oj', permissions: [IsAuthenticated] });
  return [Post, Tag, Reader];
}

const SCHEME = basic(() => null);

function open(relation: string, guarded: string, option: string, owner = 'Post'): string {
  return `${owner}.${relation}: anyone may list, add and remove its rows, although ${guarded} has ${option}. Write through: { ${relation}: { permissions: […] } } where ${owner} is declared, by @Restify or restify(${owner}, …), or RestifyModule.forRoot(prefix, { permissions: […] }); name [AllowAny] if this is intended.`;
}

class Tokens extends AuthGuard('oj-tokens') {}

function unreached(relation: string, model: string): string {
  return `Post.${relation}: its permissions depend on the caller, but the authentication of ${model} does not protect its rows. Write through: { ${relation}: { authentication: […] } } where Post is declared, by @Restify or restify(Post, …), or RestifyModule.forRoot(prefix, { authentication: […] }).`;
}

const SAID = { tags: { permissions: [IsAuthenticated] }, readers: { permissions: [IsAuthenticated] } };

describe('junctions without permissions', () => {
  test.each<
    [name: string, post: Options, tag: Options, restify: RestifyModuleOptions, problems: readonly string[]]
  >([
    [
      'where their owner has permissions',
      { permissions: [IsAdmin] },
      {},
      {},
      [open('tags', 'Post', 'permissions'), open('readers', 'Post', 'permissions')],
    ],
    [
      'where the other side has them',
      {},
      { permissions: [IsAdmin] },
      {},
      [open('tags', 'Tag', 'permissions'), open('readers', 'Tag', 'permissions')],
    ],
    [
      'where a side has authentication',
      { authentication: [SCHEME] },
      {},
      {},
      [open('tags', 'Post', 'authentication'), open('readers', 'Post', 'authentication')],
    ],
    [
      'where a side has guards',
      {},
      { guards: [Door] },
      {},
      [open('tags', 'Tag', 'guards'), open('readers', 'Tag', 'guards')],
    ],
    [
      'where one of them is said',
      { permissions: [IsAdmin], through: { readers: SAID.readers } },
      {},
      {},
      [open('tags', 'Post', 'permissions')],
    ],
    [
      'where something else is said of it',
      { permissions: [IsAdmin], through: { tags: { operations: ['list'] }, readers: SAID.readers } },
      {},
      {},
      [open('tags', 'Post', 'permissions')],
    ],
    [
      'where it is served from the other side alone',
      { permissions: [IsAdmin], exclude: ['tags', 'readers'] },
      {},
      {},
      [open('posts', 'Post', 'permissions', 'Tag')],
    ],
    [
      'whose permissions no authentication reaches',
      { authentication: [SCHEME], permissions: [IsAdmin], through: SAID },
      {},
      {},
      [unreached('tags', 'Post'), unreached('readers', 'Post')],
    ],
    [
      'whose permissions of the prefix no authentication reaches',
      {},
      { authentication: [SCHEME] },
      { permissions: [IsAuthenticated] },
      [unreached('tags', 'Tag'), unreached('readers', 'Tag')],
    ],
    [
      'whose permissions no AuthGuard reaches',
      { guards: [Tokens], permissions: [IsAdmin], through: SAID },
      {},
      {},
      ['tags', 'readers'].map((relation) =>
        unreached(relation, 'Post')
          .replace('authentication of', 'AuthGuard of')
          .replaceAll('authentication:', 'guards:'),
      ),
    ],
  ])('keep an application from starting %s', async (_name, post, tag, restify, problems) => {
    expect(await problemsOf({ entities: [...entitiesWith(post, tag)], restify })).toEqual(problems);
  });

  test.each<[name: string, post: Options, tag: Options, restify: RestifyModuleOptions]>([
    ['where nothing is protected', {}, {}, {}],
    ['said by the owner', { permissions: [IsAdmin], through: SAID }, {}, {}],
    [
      'said by either side',
      { permissions: [IsAdmin], through: { readers: SAID.readers } },
      { through: { posts: SAID.tags } },
      {},
    ],
    ['said by the prefix', { permissions: [IsAdmin] }, { guards: [Door] }, { permissions: [AllowAny] }],
    [
      'that are not served',
      { permissions: [IsAdmin], exclude: ['tags', 'readers'] },
      { exclude: ['posts'] },
      {},
    ],
    [
      'that ask, with an authentication of their own',
      {
        authentication: [SCHEME],
        through: {
          tags: { ...SAID.tags, authentication: [SCHEME] },
          readers: { ...SAID.readers, authentication: [] },
        },
      },
      {},
      {},
    ],
    [
      'that ask, with an authentication of the other side',
      {
        authentication: [SCHEME],
        permissions: [IsAdmin],
        through: { ...SAID, readers: { permissions: [AllowAny] } },
      },
      { through: { posts: { authentication: [SCHEME] } } },
      {},
    ],
    [
      'that ask, with an authentication of the prefix',
      { authentication: [SCHEME], permissions: [IsAdmin], through: SAID },
      {},
      { authentication: [SCHEME] },
    ],
    [
      'that ask nobody',
      {
        authentication: [SCHEME],
        through: { tags: { permissions: [anyOf(AllowAny, IsAdmin)] }, readers: { permissions: [] } },
      },
      {},
      {},
    ],
  ])('do not, %s', async (_name, post, tag, restify) => {
    const started = await startApp({ entities: [...entitiesWith(post, tag)], restify });
    await started.close();
  });

  test("are none where its entity is declared, also if it is not one's own", async () => {
    const started = await startApp({
      entities: [
        ...entitiesWith({ permissions: [IsAdmin], exclude: ['tags'] }, { exclude: ['posts'] }, true),
      ],
    });
    expect((await started.client.get('/rest/v1/oj/reader/')).status).toBe(403);
    await started.close();
  });
});

describe('models that are open because no permissions are named', () => {
  async function warningsOf(post: Options, restify: RestifyModuleOptions = {}): Promise<readonly string[]> {
    const warnings: string[] = [];
    const logger = {
      log: () => undefined,
      warn: (text: string) => warnings.push(text),
      error: () => undefined,
    };
    const started = await startApp({
      entities: [...entitiesWith({ exclude: ['tags', 'readers'], ...post }, { exclude: ['posts'] })],
      restify,
      nest: { logger },
    });
    await started.close();
    return warnings;
  }

  const warning = (names: string): string =>
    `RestifyModule.forRoot('rest/v1'): everybody may read and write ${names}, because no permissions are named. Name permissions for each, or for all in forRoot; name [AllowAny] if this is intended.`;

  test('are named in one warning', async () => {
    expect(await warningsOf({})).toEqual([warning('oj.post, oj.tag')]);
    expect(await warningsOf({ permissions: [IsAuthenticated], authentication: [] })).toEqual([
      warning('oj.tag'),
    ]);
    expect(await warningsOf({ permissions: [AllowAny] })).toEqual([warning('oj.tag')]);
    expect(await warningsOf({ guards: [Door] })).toEqual([warning('oj.tag')]);
    expect(await warningsOf({ authentication: [SCHEME] })).toEqual([warning('oj.post, oj.tag')]);
  });

  test('are not if the prefix has permissions', async () => {
    expect(await warningsOf({}, { permissions: [AllowAny] })).toEqual([]);
    expect(await warningsOf({}, { guards: [Door] })).toEqual([]);
  });
});
