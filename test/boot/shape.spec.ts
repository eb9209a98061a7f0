// @tags nest
import { describe, expect, test } from '@jest/globals';
import type { CanActivate } from '@nestjs/common';
import { basic, CsvRenderer, LimitOffsetPagination, restify } from 'nestjs-restify';
import type { FilterBackend, FilterResult } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import { declareUnchecked, problemsOf } from './refused-start.js';

class Address {
  @ManyToOne(() => Unserved) owner: Relation<Unserved>;
  @Column({ default: '' }) street: string;
}

@Entity('shape_unserved')
class Unserved {
  @PrimaryGeneratedColumn() id: number;
}

@Entity('shape_poll')
class Poll {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @Column({ name: 'f' }) fields: number;
  @Column(() => Address) address: Address;
  @ManyToOne(() => Unserved) unserved: Relation<Unserved>;
  @OneToMany(() => Vote, (vote) => vote.poll) votes: Relation<Vote[]>;
  @ManyToMany(() => Tag, (tag) => tag.polls) @JoinTable() tags: Relation<Tag[]>;
}

@Entity('shape_vote')
class Vote {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Poll, (poll) => poll.votes) poll: Relation<Poll>;
}

@Entity('shape_tag')
class Tag {
  @PrimaryGeneratedColumn() id: number;
  @ManyToMany(() => Poll, (poll) => poll.tags) polls: Relation<Poll[]>;
}

class Closed implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

class ReadsOmit implements FilterBackend {
  filter(): FilterResult {
    return {};
  }
  parameters(): readonly string[] {
    return ['omit'];
  }
}

const entities = [Poll, Vote, Tag, Unserved];

async function problems({
  poll = {},
  vote = {},
  tag = {},
  restifyOptions = {},
}: {
  poll?: object;
  vote?: object;
  tag?: object;
  restifyOptions?: object;
}): Promise<readonly string[]> {
  declareUnchecked(Poll, { app: 'p', exclude: ['fields'], ...poll });
  declareUnchecked(Vote, { app: 'p', ...vote });
  declareUnchecked(Tag, { app: 'p', ...tag });
  return problemsOf({ entities, restify: restifyOptions });
}

describe('expandable refuses to start with', () => {
  test.each([
    [
      'what is no relation',
      { poll: { expandable: ['title', 'vote', 'address', 'address.owner'] } },
      [
        'Poll.expandable "title": "title" is not a relation that Poll shows. Known here: "votes", "tags".',
        'Poll.expandable "vote": "vote" is not a relation that Poll shows. Did you mean "votes"?',
        'Poll.expandable "address": "address" is not a relation that Poll shows. Known here: "votes", "tags".',
      ],
    ],
    [
      'what is none behind another',
      { vote: { expandable: ['poll.tags.tags'] } },
      [
        'Vote.expandable "poll.tags.tags": "tags" is not a relation that poll_tags shows. Did you mean "tag"?',
      ],
    ],
    [
      'a relation to what is not served',
      { poll: { expandable: ['unserved'] } },
      [
        'Poll.expandable "unserved": it leads to Unserved, which is not served. Put @Restify on Unserved, or take it out.',
      ],
    ],
    [
      'a relation that is left out',
      { poll: { exclude: ['fields', 'votes'], expandable: ['votes'] } },
      ['Poll.expandable "votes": "votes" is not a relation that Poll shows. Known here: "tags".'],
    ],
    [
      'more relations than three',
      { poll: { expandable: ['votes.poll.votes.poll'] } },
      [
        'Poll.expandable "votes.poll.votes.poll": it is deeper than 3 relations. Remove the last one: a client reads it by another request.',
      ],
    ],
    [
      'a model that nobody may read',
      { poll: { operations: ['create'] }, vote: { expandable: ['poll'] } },
      [
        'Vote.expandable "poll": Poll has no list and no retrieve among its operations. Add it to the operations of Poll, or take this out.',
      ],
    ],
    [
      'through objects that nobody may list',
      { poll: { expandable: ['tags'], through: { tags: { operations: ['create'] } } } },
      [
        'Poll.expandable "tags": poll_tags has no list among its operations. Add it to the operations of poll_tags, or take this out.',
      ],
    ],
    [
      'a model behind a guard that authenticates',
      { vote: { authentication: [Closed] }, poll: { expandable: ['votes'] } },
      [
        'Poll.expandable "votes": Vote has guards that do not run for Poll, and an expansion runs none. Say it by permissions of Vote, which hold here too, or give Poll the same guards.',
      ],
    ],
    [
      'a model behind a guard that another scheme may stand for',
      {
        tag: { exclude: ['polls'] },
        vote: { authentication: [Closed] },
        poll: {
          exclude: ['fields', 'tags'],
          expandable: ['votes'],
          authentication: [basic(() => null), Closed],
        },
      },
      [
        'Poll.expandable "votes": Vote has guards that do not run for Poll, and an expansion runs none. Say it by permissions of Vote, which hold here too, or give Poll the same guards.',
      ],
    ],
    [
      'a model behind guards of its own',
      { vote: { guards: [Closed] }, poll: { expandable: ['votes'] } },
      [
        'Poll.expandable "votes": Vote has guards that do not run for Poll, and an expansion runs none. Say it by permissions of Vote, which hold here too, or give Poll the same guards.',
      ],
    ],
    [
      'no list',
      { poll: { expandable: 'votes' } },
      [
        "Poll.expandable: this is not a list of relations. Write expandable: ['question', 'question.author'].",
      ],
    ],
    [
      'a number',
      { poll: { through: { tags: { expandable: [1] } } } },
      [
        "Poll.through.tags.expandable: this is not a list of relations. Write expandable: ['question', 'question.author'].",
      ],
    ],
    [
      'an empty name',
      { poll: { expandable: ['votes.'] } },
      ['Poll.expandable "votes.": "" is not a relation that Vote shows. Known here: "poll".'],
    ],
  ])('%s', async (_, given, lines) => {
    expect(await problems(given)).toEqual(lines);
  });
});

describe('a shape refuses to start with', () => {
  test.each([
    [
      'the parameter of a filter backend',
      { poll: { shape: true, filterBackends: [ReadsOmit] } },
      [
        'Poll.shape: its query parameter "omit" is already used for something else. Give the shape another parameter.',
      ],
    ],
    [
      'the parameter of a pagination',
      {
        poll: {
          shape: { expandParameter: 'limit' },
          expandable: ['votes'],
          pagination: new LimitOffsetPagination(),
        },
      },
      [
        'Poll.shape: its query parameter "limit" is already used for something else. Give the shape another parameter.',
      ],
    ],
    [
      'the parameter of renderers',
      { poll: { shape: { omitParameter: 'format' }, renderers: [new CsvRenderer()] } },
      [
        'Poll.shape: its query parameter "format" is already used for something else. Give the shape another parameter.',
      ],
    ],
    [
      'one name for two parameters',
      { poll: { shape: { omitParameter: 'fields' } } },
      [
        'Poll.shape: its query parameter "fields" is already used for something else. Give the shape another parameter.',
      ],
    ],
    [
      'an empty name',
      { restifyOptions: { shape: { fieldsParameter: '' } } },
      [
        'RestifyModule.forRoot(\'rest/v1\').shape.fieldsParameter: "" is not a valid name of a query parameter. Give a text that is not empty.',
      ],
    ],
    [
      'bounds that are none',
      { poll: { shape: { maxChildren: 0, maxObjects: 1.5 } } },
      [
        'Poll.shape.maxChildren: 0 is not a valid number of objects. Give a whole number above 0.',
        'Poll.shape.maxObjects: 1.5 is not a valid number of objects. Give a whole number above 0.',
      ],
    ],
    [
      'an option that there is not',
      { poll: { shape: { depth: 2 } } },
      [
        'Poll.shape.depth: "depth" is not an option of a shape. Known here: "fieldsParameter", "omitParameter", "expandParameter", "maxChildren", "maxObjects".',
      ],
    ],
    [
      'what is none',
      { poll: { shape: 'yes' } },
      [
        "Poll.shape: this is not a shape. Write true, false, or an object: { fieldsParameter: 'only', maxChildren: 20 }.",
      ],
    ],
    [
      'null, beside a relation to expand',
      { poll: { shape: null, expandable: ['votes'] } },
      [
        "Poll.shape: this is not a shape. Write true, false, or an object: { fieldsParameter: 'only', maxChildren: 20 }.",
      ],
    ],
  ])('%s', async (_, given, lines) => {
    expect(await problems(given)).toEqual(lines);
  });
});

test('a model has the shape of its prefix, option by option its own, or none', async () => {
  restify(Poll, { app: 'p', exclude: ['unserved', 'address'], shape: false, expandable: ['votes'] });
  restify(Vote, { app: 'p', shape: { omitParameter: 'without' } });
  restify(Tag, { app: 'p' });
  const started = await startApp({
    entities,
    restify: { shape: { fieldsParameter: 'only', expandParameter: 'with' }, guards: [] },
  });
  try {
    const unserved = await started.dataSource.getRepository(Unserved).save({});
    const poll = await started.dataSource
      .getRepository(Poll)
      .save({ title: 'a', fields: 1, unserved, address: { owner: unserved, street: '' } });
    await started.dataSource.getRepository(Vote).save({ poll });
    const text = async (path: string): Promise<string> =>
      (await started.client.get(`/rest/v1/p/${path}`)).text;
    expect(await text('poll/1/?only=id&with=votes')).toBe(
      '{"id":1,"title":"a","fields":1,"votes":[{"id":1,"poll":1}],"tags":"/rest/v1/p/poll/1/tags/"}',
    );
    expect(await text('vote/1/?only=id,poll&without=id&omit=poll&fields=id')).toBe('{"poll":1}');
  } finally {
    await started.close();
  }
});
