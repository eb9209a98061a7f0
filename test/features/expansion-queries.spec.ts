// @tags db http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  allow,
  CsvRenderer,
  deny,
  LimitOffsetPagination,
  NdjsonRenderer,
  PageNumberPagination,
  Restify,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type {
  AccessContext,
  Denial,
  FilterBackend,
  FilterContext,
  FilterResult,
  Grant,
  Permission,
} from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const ROLES = ['all', 'some', 'blind', 'none'] as const;

function roleOf({ request }: AccessContext): string {
  return (
    (request as { readonly headers: Readonly<Record<string, string>> } | undefined)?.headers['x-role'] ??
    'all'
  );
}

/** `some` sees comments with few votes, `blind` no votes, `none` no comments. */
class Comments implements Permission {
  decide(context: AccessContext): Grant | Denial {
    switch (roleOf(context)) {
      case 'some':
        return allow({ rows: where('votes', 'lt', 6) });
      case 'blind':
        return allow({ readable: ['id', 'text', 'post', 'author'] });
      case 'none':
        return deny();
      default:
        return allow();
    }
  }
}

/** `some` sees authors whose name is not secret; `blind` no names. */
class Authors implements Permission {
  decide(context: AccessContext): Grant | Denial {
    switch (roleOf(context)) {
      case 'some':
        return allow({ rows: where('name', 'ne', 'author 1') });
      case 'blind':
        return allow({ readable: ['id', 'posts'] });
      default:
        return allow();
    }
  }
}

/** Hides drafts unless they are asked for. */
class NoDrafts implements FilterBackend {
  filter({ parameters }: FilterContext): FilterResult {
    return parameters.get('drafts') === 'yes' ? {} : { rows: where('draft', false) };
  }

  parameters(): readonly string[] {
    return ['drafts'];
  }
}

@Restify({
  app: 'xq',
  permissions: [Authors],
  shape: true,
  expandable: ['posts.comments'],
  expansionQueries: true,
})
@Entity('xq_author')
class Author {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @OneToMany(() => Post, (post) => post.author) posts: Relation<Post>[];
}

@Restify({
  app: 'xq',
  shape: { maxChildren: 8 },
  expandable: ['comments.replies', 'author', 'tags.tag'],
  expansionQueries: true,
  renderers: [new CsvRenderer(), new NdjsonRenderer()],
  pagination: new PageNumberPagination({ pageSize: 20 }),
  filterFields: ['title'],
  bulk: { upsert: ['title'] },
})
@Entity('xq_post')
class Post {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @ManyToOne(() => Author, (author) => author.posts) author: Relation<Author>;
  @OneToMany(() => Comment, (comment) => comment.post) comments: Relation<Comment>[];
  @ManyToMany(() => Tag, (tag) => tag.posts) @JoinTable() tags: Relation<Tag>[];
}

@Restify({
  app: 'xq',
  permissions: [Comments],
  filterFields: {
    id: ['in'],
    votes: ['exact', 'gte', 'lt', 'in'],
    text: ['icontains'],
    'author.name': ['exact', 'ne'],
    'replies.votes': ['gte'],
  },
  searchFields: ['text', 'author.name'],
  orderingFields: ['votes', 'text', 'id', 'author.name'],
  ordering: ['text'],
  filterGroups: true,
})
@Entity('xq_comment')
class Comment {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) text: string;
  @Column() votes: number;
  @ManyToOne(() => Post, (post) => post.comments) post: Relation<Post>;
  @ManyToOne(() => Author) author: Relation<Author>;
  @ManyToOne(() => Comment, (comment) => comment.replies, { nullable: true })
  parent: Relation<Comment> | null;
  @OneToMany(() => Comment, (comment) => comment.parent) replies: Relation<Comment>[];
  @DeleteDateColumn({ select: false }) deleted: Date | null;
}

@Restify('xq')
@Entity('xq_tag')
class Tag {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @ManyToMany(() => Post, (post) => post.tags) posts: Relation<Post>[];
}

/** A strict model whose parameters have other names. */
@Restify({
  app: 'xq',
  strict: true,
  expandable: ['items'],
  expansionQueries: true,
  parameters: { limit: 'first', expand: 'embed' },
})
@Entity('xq_box')
class Box {
  @PrimaryGeneratedColumn() id: number;
  @OneToMany(() => Item, (item) => item.box) items: Relation<Item>[];
}

@Restify({
  app: 'xq',
  filterBackends: [NoDrafts],
  pagination: new LimitOffsetPagination(),
  ordering: ['-limit'],
})
@Entity('xq_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column() limit: number;
  @Column({ default: false }) draft: boolean;
  @ManyToOne(() => Box, (box) => box.items) box: Relation<Box>;
}

/** Takes no parameters of expanded lists. */
@Restify({ app: 'xq', expandable: ['leaves'], strict: true })
@Entity('xq_tree')
class Tree {
  @PrimaryGeneratedColumn() id: number;
  @OneToMany(() => Leaf, (leaf) => leaf.tree) leaves: Relation<Leaf>[];
}

@Restify('xq')
@Entity('xq_leaf')
class Leaf {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Tree, (tree) => tree.leaves) tree: Relation<Tree>;
}

const POSTS = '/rest/v1/xq/post/';
const BOXES = '/rest/v1/xq/box/';

type Body = Readonly<Record<string, unknown>>;

/** Numbers that are the same in each run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

onEachDatabase('parameters of expanded lists', (database) => {
  let started: StartedApp;
  let log: StatementLog;

  beforeAll(async () => {
    log = new StatementLog();
    started = await startApp({
      database,
      entities: [Author, Post, Comment, Tag, Box, Item, Tree, Leaf],
      dataSource: { logging: true, logger: log },
    });
    const { manager } = started.dataSource;
    const next = randomNumbers(7);
    await manager.insert(Author, [{ name: 'author 1' }, { name: 'author 2' }, { name: 'Author 3' }]);
    await manager.insert(Tag, [{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    await manager.insert(
      Post,
      [1, 2, 3, 4].map((n) => ({ title: `post ${n}`, author: { id: 1 + (n % 3) } })),
    );
    for (const id of [1, 2, 3])
      await manager.save(Post, { id, tags: [{ id: 1 }, { id: 2 }, { id: 3 }].slice(0, id) });
    // Skewed: the first post has most of them, the last one none.
    for (let n = 0; n < 30; n++)
      await manager.insert(Comment, {
        text: `${'abc'[next(3)] ?? ''}${next(4)}`,
        votes: next(9),
        post: { id: n < 20 ? 1 : 2 + next(2) },
        author: { id: 1 + next(3) },
        parent: n > 5 && next(3) === 0 ? { id: 1 + next(5) } : null,
      });
    await manager.softDelete(Comment, { id: 4 });
    await manager.save(Box, [{ id: 1 }, { id: 2 }]);
    await manager.insert(
      Item,
      [1, 2, 3, 4, 5].map((n) => ({ limit: n, draft: n === 5, box: { id: n === 4 ? 2 : 1 } })),
    );
    await manager.save(Tree, [{ id: 1 }]);
    await manager.insert(Leaf, [{ tree: { id: 1 } }, { tree: { id: 1 } }]);
  });

  afterAll(() => started.close());

  async function read(path: string, role = 'all'): Promise<Body> {
    const answer = await started.client.get(path, { headers: { 'x-role': role } });
    return { status: answer.status, json: answer.json };
  }

  test('an expanded list is the nested list with the same parameters, up to the limit', async () => {
    const next = randomNumbers(11);
    const pick = <Some>(list: readonly Some[]): Some => list[next(list.length)] as Some;
    const choices: readonly (() => string)[] = [
      () => `votes__gte=${next(9)}`,
      () => `votes__lt=${next(9)}`,
      () => `votes__in=${next(9)},${next(9)},${next(9)}`,
      () => `votes__in=${next(9)}&@votes__in=${next(9)}`,
      () => `votes__gte=x`,
      () => `votes__gtee=1`,
      () => `text__icontains=${pick(['A', 'b', '1', '%25', ''])}`,
      () => `author__name=author+${next(3)}`,
      () => `author__name__ne=author+${next(3)}`,
      () => `replies__votes__gte=${next(9)}`,
      () => `filter=or(votes__gte=${next(9)},text__icontains=${pick(['a', 'b'])})`,
      () => `search=${pick(['a', 'b1', 'author', '2+a'])}`,
      () => `ordering=${pick(['votes', '-votes', 'text,-id', '-author__name', 'nothing'])}`,
      () => `unknown=${next(3)}`,
    ];
    let lists = 0;
    let cut = 0;
    let refused = 0;
    for (let n = 0; n < 150; n++) {
      const role = pick(ROLES);
      const chosen = [...new Set([next(14), next(14), next(14)].slice(0, next(4)))].map(
        (at) => choices[at]?.() ?? '',
      );
      const limit = next(3) > 0 ? 1 + next(7) : undefined;
      const own = chosen.map((each) => each.replace('@', '')).join('&');
      const within = chosen.map((each) => `&comments.${each.replace('@', 'comments.')}`).join('');
      const path = `${POSTS}?expand=comments&ordering=id${within}${limit === undefined ? '' : `&comments.limit=${limit}`}`;
      const { status, json } = await read(path, role);
      const where = `${role} ${path}`;
      const nested = [];
      for (const id of [1, 2, 3, 4]) nested.push(await read(`${POSTS}${id}/comments/?${own}`, role));
      const [first] = nested;
      if (role !== 'none' && first?.status === 400) {
        const expected = Object.fromEntries(
          Object.entries(first.json as object).map(([name, messages]) => [`comments.${name}`, messages]),
        );
        expect([where, status, json]).toEqual([where, 400, expected]);
        refused++;
        continue;
      }
      const { results } = json as { readonly results: readonly Body[] };
      for (const [index, post] of results.entries()) {
        const rows = nested[index]?.json as readonly unknown[];
        const isLink = role === 'none' || (limit === undefined && rows.length > 8);
        const isCut = !isLink && limit !== undefined && rows.length > limit;
        const shown = isLink ? `${POSTS}${index + 1}/comments/` : rows.slice(0, limit);
        expect([where, post.comments, post.comments_more]).toEqual([where, shown, isCut ? true : undefined]);
        if (!isLink) lists++;
        if (isCut) cut++;
      }
    }
    expect([lists > 150, cut > 50, refused > 10]).toEqual([true, true, true]);
  });

  test('the member that marks a cut list follows the list', async () => {
    const { text } = await started.client.get(
      `${POSTS}1/?expand=comments&fields=id,comments.id,title&comments.ordering=id&comments.limit=2`,
    );
    expect(text).toBe('{"id":1,"title":"post 1","comments":[{"id":1},{"id":2}],"comments_more":true}');
  });

  test('lists below lists have parameters of their own, in one statement for each relation, of its table alone', async () => {
    log.statements.length = 0;
    const path =
      '/rest/v1/xq/author/?expand=posts.comments&fields=posts.comments.votes,posts.id&ordering=id' +
      '&posts.ordering=-id&posts.limit=1&posts.comments.limit=2&posts.comments.ordering=-votes&posts.comments.votes__lt=9';
    const { json } = await read(path);
    const statements = log.statements.filter((each) => each.includes('row_number'));
    for (const [index, author] of (
      json as readonly { posts: readonly { id: number; comments: readonly Body[] }[] }[]
    ).entries()) {
      const posts = (await read(`/rest/v1/xq/author/${index + 1}/posts/?ordering=-id`)).json as {
        results: readonly { id: number }[];
      };
      const [post] = posts.results;
      const comments = (await read(`${POSTS}${post?.id ?? 0}/comments/?ordering=-votes&votes__lt=9`))
        .json as readonly { votes: number }[];
      expect(author.posts[0]?.id).toBe(post?.id);
      expect(author.posts[0]?.comments).toEqual(comments.slice(0, 2).map(({ votes }) => ({ votes })));
    }
    expect(statements).toHaveLength(2);
    expect(statements.filter((each) => each.includes(' JOIN '))).toEqual([]);
  });

  test('a many-to-many takes the parameters of its through objects', async () => {
    const { json } = await read(
      `${POSTS}3/?expand=tags&fields=tags&tags.ordering=-tag&tags.limit=2&tags.tag=1`,
    );
    expect(json).toMatchObject({ tags: [{ tag: 1 }] });
    const all = await read(`${POSTS}3/?expand=tags.tag&fields=tags.tag.name&tags.ordering=-tag&tags.limit=2`);
    expect(all.json).toEqual({ tags: [{ tag: { name: 'c' } }, { tag: { name: 'b' } }], tags_more: true });
  });

  describe('a limit', () => {
    test('above the maximum is the maximum', async () => {
      const { json } = await read(`${POSTS}1/?expand=comments&fields=comments.id&comments.limit=1000`);
      expect(json).toMatchObject({ comments: { length: 8 }, comments_more: true });
    });

    test.each([
      ['0', 'Ensure this value is greater than or equal to 1.'],
      ['-1', 'Ensure this value is greater than or equal to 1.'],
      ['many', 'A valid integer is required.'],
      ['1e1', 'A valid integer is required.'],
    ])('of %s is refused', async (text, message) => {
      expect(await read(`${POSTS}?expand=comments&comments.limit=${text}`)).toEqual({
        status: 400,
        json: { 'comments.limit': [message] },
      });
    });

    test('is refused in CSV, which has no place for the member, and not in NDJSON', async () => {
      const csv = await read(`${POSTS}?expand=comments&comments.limit=1&format=csv`);
      expect(csv).toEqual({
        status: 400,
        json: {
          'comments.limit': [
            'A list cannot be cut in CSV, which has no place to say so. Leave the limit out, or read JSON.',
          ],
        },
      });
      const lines = await started.client.get(
        `${POSTS}?expand=comments&comments.limit=1&format=ndjson&fields=id,comments.id&ordering=id&page_size=1`,
      );
      expect([lines.status, lines.text.split('\n')[0]]).toEqual([
        200,
        expect.stringMatching(/^\{"id":1,"comments":\[\{"id":\d+\}\],"comments_more":true\}$/),
      ]);
    });
  });

  test('hidden fields are neither filtered nor ordered by', async () => {
    const plain = await read(`${POSTS}1/?expand=comments&comments.limit=3`, 'blind');
    for (const parameter of ['votes__gte=8', 'ordering=-votes', 'votes=1', 'replies__votes__gte=1'])
      expect(
        await read(`${POSTS}1/?expand=comments&comments.limit=3&comments.${parameter}`, 'blind'),
      ).toEqual(plain);
    const searched = await read(
      `${POSTS}1/?expand=comments&comments.limit=3&comments.search=author`,
      'blind',
    );
    expect(searched.json).toMatchObject({ comments: [] });
  });

  test('without the expansion, or of no list, they are ignored', async () => {
    const plain = await read(`${POSTS}?ordering=id`);
    expect(await read(`${POSTS}?ordering=id&comments.limit=x&comments.votes__gtee=1`)).toEqual(plain);
    const expanded = await read(`${POSTS}?ordering=id&expand=author`);
    expect(await read(`${POSTS}?ordering=id&expand=author&author.limit=0&author.name=x`)).toEqual(expanded);
    const none = await read(`${POSTS}?ordering=id&expand=comments`, 'none');
    expect(
      await read(`${POSTS}?ordering=id&expand=comments&comments.limit=x&comments.replies.limit=x`, 'none'),
    ).toEqual(none);
  });

  test('links of pages keep them', async () => {
    const { json } = await read(
      `${POSTS}?page_size=1&expand=comments&comments.limit=1&comments.votes__gte=2`,
    );
    expect((json as { next: string }).next).toMatch(
      /\/post\/\?page_size=1&expand=comments&comments\.limit=1&comments\.votes__gte=2&page=2$/,
    );
  });

  test('the response to a write takes them', async () => {
    const { status, json } = await started.client.patch(
      `${POSTS}1/?expand=comments&fields=comments.id&comments.ordering=id&comments.limit=1`,
      { title: 'post 1' },
    );
    expect([status, json]).toEqual([200, { comments: [{ id: 1 }], comments_more: true }]);
  });

  test('the response to an upsert takes them, for an object that it changes', async () => {
    const { status, json } = await started.client.post(
      `${POSTS}?upsert=true&expand=comments&fields=comments.id&comments.ordering=id&comments.limit=1`,
      [{ title: 'post 1' }],
    );
    expect([status, json]).toEqual([200, [{ comments: [{ id: 1 }], comments_more: true }]]);
  });

  test('in code they are parameters of the list', async () => {
    const posts = started.app.get(RestifyResources).of(Post).as(null);
    const rows = await posts.list({
      expand: 'comments',
      fields: 'comments.id',
      'comments.ordering': 'id',
      'comments.limit': '1',
      ordering: 'id',
    });
    expect(JSON.parse(JSON.stringify(rows))).toMatchObject([
      { comments: [{ id: 1 }], comments_more: true },
      {},
      {},
      {},
    ]);
  });

  describe('in a strict model', () => {
    test('a renamed limit limits, and a field of its former name is no clash', async () => {
      expect((await read(`${BOXES}1/?embed=items&items.first=1`)).json).toMatchObject({
        items: [{ limit: 3 }],
        items_more: true,
      });
    });

    test('the parameters of backends of the list are known, and no others', async () => {
      expect((await read(`${BOXES}1/?embed=items&items.drafts=yes`)).json).toMatchObject({
        items: [{ limit: 5 }, { limit: 3 }, { limit: 2 }, { limit: 1 }],
      });
      expect(await read(`${BOXES}?embed=items&items.limit=1&items.offset=1&items.x=1`)).toEqual({
        status: 400,
        json: {
          'items.limit': ['Unknown parameter.'],
          'items.offset': ['Unknown parameter.'],
          'items.x': ['Unknown parameter.'],
        },
      });
      expect(await read(`${BOXES}?items.first=1`)).toEqual({
        status: 400,
        json: { 'items.first': ['Unknown parameter.'] },
      });
    });
  });

  test('a model without the option does not have these parameters', async () => {
    expect((await read('/rest/v1/xq/tree/?expand=leaves')).json).toMatchObject([{ leaves: { length: 2 } }]);
    expect(await read('/rest/v1/xq/tree/?expand=leaves&leaves.limit=1')).toEqual({
      status: 400,
      json: { 'leaves.limit': ['Unknown parameter.'] },
    });
  });

  test('the description names the limit', async () => {
    const options = await started.client.send('OPTIONS', POSTS);
    expect(options.json).toMatchObject({ shape: { expand: 'expand', limit: 'limit' } });
    expect((await started.client.send('OPTIONS', BOXES)).json).toMatchObject({ shape: { limit: 'first' } });
  });
});
