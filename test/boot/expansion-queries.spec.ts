// @tags nest
import { describe, expect, test } from '@jest/globals';
import type { FilterBackend, FilterResult } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import { declareUnchecked, problemsOf } from './refused-start.js';

@Entity('expansions_post')
class Post {
  @PrimaryGeneratedColumn() id: number;
  @Column({ nullable: true }) comments_more: number;
  @OneToMany(() => Comment, (comment) => comment.post) comments: Relation<Comment>[];
}

@Entity('expansions_comment')
class Comment {
  @PrimaryGeneratedColumn() id: number;
  @Column() limit: number;
  @ManyToOne(() => Post, (post) => post.comments) post: Relation<Post>;
}

class Dotted implements FilterBackend {
  filter(): FilterResult {
    return {};
  }

  parameters(): readonly string[] {
    return ['comments.state'];
  }
}

const LISTED = { app: 'x', exclude: ['comments_more'], expandable: ['comments'], expansionQueries: true };

describe('expansionQueries', () => {
  test.each([
    [
      'refuses a limit that is a filter of the list',
      LISTED,
      [
        `Post.expansionQueries "comments": "comments.limit" limits the list, and is a filter of Comment, too. Give the limit another name: parameters: { limit: '…' }.`,
      ],
    ],
    [
      'refuses a field with the name of the member that says that a list is cut',
      { ...LISTED, exclude: [], parameters: { limit: 'first' } },
      [
        'Post.expansionQueries "comments": "comments_more" says that the list is cut, and is a field of Post, too. Give the property another name, or exclude the field.',
      ],
    ],
    [
      'refuses a backend that reads a parameter of the list',
      { ...LISTED, filterBackends: [Dotted], parameters: { limit: 'first' } },
      [
        'Post.expansionQueries "comments": "comments.state" is a parameter of the list, and of a filter or the pagination of Post, too. Give the filter or the pagination another parameter.',
      ],
    ],
    [
      'refuses to be without effect',
      { app: 'x', expansionQueries: true },
      [
        'Post.expansionQueries: no list can be expanded, so that the option has no effect. Name a list in expandable, or remove the option.',
      ],
    ],
    [
      'is true or false',
      { app: 'x', expandable: ['comments'], expansionQueries: 'yes' },
      [
        `Post.expansionQueries: "yes" is neither true nor false. Write true or false; of an environment variable, process.env.NAME === 'true'.`,
      ],
    ],
  ])('%s', async (_title, options, expected) => {
    declareUnchecked(Post, options);
    declareUnchecked(Comment, { app: 'x' });
    expect(await problemsOf({ entities: [Post, Comment] })).toEqual(expected);
  });

  test('of a prefix holds where a list can be expanded, and its limit has another name', async () => {
    declareUnchecked(Post, { app: 'x', exclude: ['comments_more'], expandable: ['comments'] });
    declareUnchecked(Comment, { app: 'x' });
    const entities = [Post, Comment];
    expect(await problemsOf({ entities, restify: { expansionQueries: true } })).toHaveLength(1);
    const started = await startApp({
      entities,
      restify: { expansionQueries: true, parameters: { limit: 'first' } },
    });
    await started.close();
  });
});
