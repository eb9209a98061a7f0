// @tags db http
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, deny, Restify, where } from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission } from 'nestjs-restify';
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

/** `some` sees open comments, `blind` no texts, `none` no comments. */
class Comments implements Permission {
  decide({ request }: AccessContext): Grant | Denial {
    const role = (request as { readonly headers: Readonly<Record<string, string>> }).headers['x-role'];
    switch (role) {
      case 'some':
        return allow({ rows: where('secret', false) });
      case 'blind':
        return allow({ readable: ['id', 'post'] });
      case 'none':
        return deny();
      default:
        return allow();
    }
  }
}

/** `unlinked` does not see that a post has comments. */
class Posts implements Permission {
  decide({ request }: AccessContext): Grant {
    const role = (request as { readonly headers: Readonly<Record<string, string>> }).headers['x-role'];
    return role === 'unlinked' ? allow({ readable: ['id', 'title'] }) : allow();
  }
}

@Restify({
  app: 'sl',
  permissions: [Posts],
  searchFields: ['title', 'comments.text', '^comments.mood', '=tags.name'],
  through: { tags: { permissions: [Posts] } },
})
@Entity('sl_post')
class Post {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) title: string;
  @OneToMany(() => Comment, (comment) => comment.post) comments: Relation<Comment>[];
  @ManyToMany(() => Tag, (tag) => tag.posts) @JoinTable() tags: Relation<Tag>[];
}

@Restify({ app: 'sl', permissions: [Comments] })
@Entity('sl_comment')
class Comment {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) text: string;
  @Column({ length: 20, default: '' }) mood: string;
  @Column({ default: false }) secret: boolean;
  @ManyToOne(() => Post, (post) => post.comments) post: Relation<Post>;
  @DeleteDateColumn({ select: false, precision: 3 }) deleted: Date | null;
}

@Restify('sl')
@Entity('sl_tag')
class Tag {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @ManyToMany(() => Post, (post) => post.tags) posts: Relation<Post>[];
}

onEachDatabase('a search over lists', (database) => {
  let started: StartedApp;
  let log: StatementLog;

  beforeAll(async () => {
    log = new StatementLog();
    started = await startApp({
      database,
      entities: [Post, Comment, Tag],
      dataSource: { logging: true, logger: log },
    });
    const { manager } = started.dataSource;
    for (const title of ['apple', 'pear', 'plum']) await manager.insert(Post, { title });
    await manager.save(Tag, [
      { id: 1, name: 'fruit' },
      { id: 2, name: 'dry' },
    ]);
    await manager.save(Post, { id: 3, tags: [{ id: 1 }, { id: 2 }] });
    await manager.insert(Comment, [
      { text: 'very red', mood: 'glad', post: { id: 1 } },
      { text: 'Red and round', post: { id: 1 } },
      { text: 'hidden treasure', secret: true, post: { id: 2 } },
      { text: 'gone', post: { id: 2 } },
      { text: 'green', mood: 'sad', post: { id: 2 } },
    ]);
    await manager.softDelete(Comment, { text: 'gone' });
  });

  afterAll(() => started.close());

  async function found(search: string, role = 'all'): Promise<unknown> {
    const { status, json } = await started.client.get(
      `/rest/v1/sl/post/?ordering=id&search=${encodeURIComponent(search)}`,
      { headers: { 'x-role': role } },
    );
    return status === 200 ? (json as readonly { readonly id: number }[]).map(({ id }) => id) : json;
  }

  test.each<readonly [search: string, ids: readonly number[]]>([
    ['red', [1]],
    ['RED', [1]],
    ['e', [1, 2]],
    ['apple round', [1]],
    ['very round', [1]],
    ['gla', [1]],
    ['lad', []],
    ['fruit', [3]],
    ['frui', []],
    ['dry plum', [3]],
    ['gone', []],
    ['treasure', [2]],
    ['"very red"', [1]],
    ['%', []],
    ["' OR 1=1 --", []],
    ['', [1, 2, 3]],
  ])('for %j finds %j, each once', async (search, ids) => {
    expect(await found(search)).toEqual(ids);
  });

  test('searches only what the caller may read', async () => {
    expect(await found('treasure', 'some')).toEqual([]);
    expect(await found('green', 'some')).toEqual([2]);
    for (const role of ['blind', 'none', 'unlinked']) {
      for (const search of ['red', 'treasure', 'glad', 'sad']) expect(await found(search, role)).toEqual([]);
      expect(await found('apple', role)).toEqual([1]);
    }
    expect(await found('fruit', 'unlinked')).toEqual([]);
  });

  test('searches the fields of one list by one EXISTS for each term', async () => {
    log.statements.length = 0;
    await found('red round');
    const [statement = ''] = log.statements.filter((each) => each.includes('sl_comment'));
    // Comments and tags, for each of two terms.
    expect(statement.match(/EXISTS \(/g)).toHaveLength(4);
  });

  test('is offered by OPTIONS', async () => {
    const { json } = await started.client.send('OPTIONS', '/rest/v1/sl/post/');
    expect(json).toMatchObject({ search: { parameter: 'search' } });
  });
});
