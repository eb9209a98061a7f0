// @tags db
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { FieldFilter, OrderingFilter, Restify, SearchFilter } from 'nestjs-restify';
import {
  Column,
  Entity,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'press', exclude: ['secret'] })
@Entity('press_writer')
class Writer {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @Column({ type: 'int', nullable: true })
  rank: number | null;

  @Column({ default: '' })
  secret: string;

  @OneToMany(() => Article, (article) => article.writer)
  articles: Relation<Article[]>;
}

@Restify({ app: 'press', exclude: ['draft'], writeOnly: ['note'] })
@Entity('press_article')
class Article {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;

  @Column({ type: 'text' })
  body: string;

  @Column({ type: 'int', nullable: true })
  rating: number | null;

  @Column({ default: 'xylophone' })
  draft: string;

  @Column({ default: 'xylophone' })
  note: string;

  @Column({ default: 'xylophone', select: false })
  internal: string;

  @ManyToOne(() => Writer, (writer) => writer.articles, { nullable: true })
  writer: Relation<Writer> | null;
}

@Restify({
  app: 'press',
  searchFields: ['^headline', '=tag', 'writer.name'],
  orderingFields: ['rating', 'writer.name', 'writer.rank', 'writer'],
  ordering: ['-weight', 'headline'],
  exclude: ['weight'],
})
@Entity('press_column')
class Piece {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  headline: string;

  @Column({ default: '' })
  tag: string;

  @Column({ type: 'int', nullable: true })
  rating: number | null;

  @Column({ default: 0 })
  weight: number;

  @ManyToOne(() => Writer, { nullable: true })
  writer: Relation<Writer> | null;
}

@Restify('press')
@Entity('press_issue', { orderBy: { number: 'DESC', name: 'ASC' } })
class Issue {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  number: number;

  @Column()
  name: string;
}

const PRESS = [Writer, Article, Piece, Issue];

function expectOk(answer: Answer): readonly Record<string, unknown>[] {
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.stringMatching(/^\[/)]);
  return answer.json as Record<string, unknown>[];
}

onEachDatabase('search', (database) => {
  const log = new StatementLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: PRESS, database, dataSource: { logging: true, logger: log } });
    const { dataSource } = started;
    await dataSource.getRepository(Writer).save([{ name: 'Woolf', secret: 'xylophone' }, { name: 'Joyce' }]);
    await dataSource.getRepository(Article).save([
      { title: 'Sea and sky', body: 'The BLUE whale', writer: { id: 1 } },
      { title: 'Blue sky', body: 'clouds, rain', rating: 3, writer: { id: 1 } },
      { title: '100% true', body: 'snake_case' },
      { title: "it's", body: 'say "hello world" now' },
      { title: 'snakeXcase', body: 'hello big world' },
      { title: String.raw`C:\temp`, body: 'wow!' },
      { title: 'Straße', body: 'ÉTÉ' },
    ]);
    await dataSource.getRepository(Piece).save([
      { headline: 'Red moon', tag: 'red', writer: { id: 1 } },
      { headline: 'Moon', tag: 'infrared', writer: { id: 2 } },
      { headline: 'No moon', tag: 'RED' },
      { headline: '%', tag: 're_' },
    ]);
  });
  afterAll(() => started.close());
  const ids = async (query: string, model = 'article'): Promise<readonly unknown[]> =>
    expectOk(await started.client.get(`/rest/v1/press/${model}/?${query}`)).map((row) => row.id);

  test.each([
    ['sky', [1, 2]],
    ['SKY', [1, 2]],
    ['blue', [1, 2]],
    ['blue+whale', [1]],
    ['blue%20%20whale', [1]],
    ['blue,whale', [1]],
    [',+,blue,,+whale,', [1]],
    ['blue%09whale', [1]],
    ['sea+rain', []],
    ['sky+rain', [2]],
    ['%22hello+world%22', [4]],
    ["'hello+world'", [4]],
    ['hello+world', [4, 5]],
    ['%22hello+world%22+now', [4]],
    ['%22hello,+world%22', []],
    ['%22clouds,+rain%22', [2]],
    ["it's", [4]],
    ['say+%22', [4]],
    ['%25', [3]],
    ['0%25', [3]],
    ['snake_case', [3]],
    ['e_c', [3]],
    ['%5C', [6]],
    ['c:%5Ctemp', [6]],
    ['!', [6]],
    ['.*', []],
    ['^sea', []],
    ['tra%C3%9Fe', [7]],
    ['', [1, 2, 3, 4, 5, 6, 7]],
    ['++,+', [1, 2, 3, 4, 5, 6, 7]],
    ['%22%22', [1, 2, 3, 4, 5, 6, 7]],
    ['zebra', []],
  ])('search=%s', async (text, expected) => {
    expect(await ids(`search=${text}`)).toEqual(expected);
  });

  test('looks into readable texts only: not into numbers, nor into hidden, write-only and select: false columns', async () => {
    expect(await ids('search=xylophone')).toEqual([]);
    expect(await ids('search=3')).toEqual([]);
    expect(await ids('search=xylophone', 'writer')).toEqual([]);
    expect(await ids('search=xylophone', 'piece')).toEqual([]);
  });

  test('is AND-ed with filters, and the last one of several counts', async () => {
    expect(await ids('search=sky&rating=3')).toEqual([2]);
    expect(await ids('search=nothing&search=whale')).toEqual([1]);
    expect(await ids('search=whale&search=')).toHaveLength(7);
    expect(await ids('SEARCH=whale')).toHaveLength(7);
  });

  test.each([
    ['red', [1, 3]],
    ['RED', [1, 3]],
    ['moon', [2]],
    ['infra', []],
    ['infrared', [2]],
    ['%25', [4]],
    ['_', []],
    ['re_', [4]],
    ['woolf', [1]],
    ['oo', [1]],
    ['red+woolf', [1]],
    ['red+joyce', []],
  ])(
    '?search=%s fits the start of one field, the whole of another, a part of a related one',
    async (text, expected) => {
      expect([...(await ids(`search=${text}`, 'piece'))].sort()).toEqual(expected);
    },
  );

  test.each([
    ['s+sk+SKY+sky+k+y', 'sky', 'article'],
    [`${'a+'.repeat(19)}whale`, 'whale', 'article'],
    ['red+RED', 'red', 'piece'],
  ])('?search=%s is sent to the database as %s, with the same rows', async (long, short, model) => {
    const found = await ids(`search=${short}`, model);
    log.clear();
    expect(await ids(`search=${long}`, model)).toEqual(found);
    const terms = log.statements.map((each) => each.match(/LIKE/g)?.length ?? 0);
    log.clear();
    await ids(`search=${short}`, model);
    expect(terms).toEqual(log.statements.map((each) => each.match(/LIKE/g)?.length ?? 0));
    expect(Math.max(...terms)).toBeGreaterThan(0);
  });

  test('a term inside of another one counts where a field is compared as a whole, or from its start', async () => {
    expect(await ids('search=oo+woolf', 'piece')).toEqual([1]);
    expect(await ids('search=red+infrared', 'piece')).toEqual([]);
    expect(await ids('search=fra+infrared', 'piece')).toEqual([]);
  });

  test('of more than 20 terms is refused', async () => {
    expect(await ids(`search=${'sky+'.repeat(20)}`)).toEqual([1, 2]);
    const { status, json } = await started.client.get(`/rest/v1/press/article/?search=${'sky+'.repeat(21)}`);
    expect([status, json]).toEqual([400, { search: ['Ensure there are no more than 20 terms.'] }]);
  });

  test('works on the list of a parent, and only narrows it', async () => {
    const { client } = started;
    expect(
      expectOk(await client.get('/rest/v1/press/writer/1/articles/?search=whale')).map((row) => row.id),
    ).toEqual([1]);
    expect(expectOk(await client.get('/rest/v1/press/writer/2/articles/?search=whale'))).toEqual([]);
  });
});

@Restify('press')
@Entity('press_anthology')
class Anthology {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToMany(() => Essay, (essay) => essay.anthology)
  essays: Relation<Essay[]>;
}

@Restify({ app: 'press', searchFields: ['$text', '@essay'] })
@Entity('press_essay')
class Essay {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  text: string;

  @Index({ fulltext: true })
  @Column({ type: 'text' })
  essay: string;

  @ManyToOne(() => Anthology, (anthology) => anthology.essays, { nullable: true })
  anthology: Relation<Anthology> | null;
}

@Restify({ app: 'press', searchFields: ['@essay'] })
@Entity('press_bare')
class BareEssay {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'text' })
  essay: string;
}

onEachDatabase('search by regular expression and full text', (database) => {
  if (database.name === 'sqlite') {
    test('is refused at boot, because this database has neither', async () => {
      const starting = startApp({ entities: [Essay, Anthology], database }).then((app) => app.close());
      await expect(starting).rejects.toThrow(/Essay\.searchFields\[0\].*[\s\S]*Essay\.searchFields\[1\]/);
    });
    return;
  }
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Essay, Anthology], database });
    await started.dataSource.getRepository(Essay).save([
      { text: 'alpha 12', essay: 'the quick brown foxes' },
      { text: 'Beta 345', essay: 'a lazy dog' },
      { text: 'gamma', essay: 'nothing here' },
    ]);
  });
  afterAll(() => started.close());
  const ids = async (text: string): Promise<readonly unknown[]> =>
    expectOk(await started.client.get(`/rest/v1/press/essay/?search=${encodeURIComponent(text)}`)).map(
      (row) => row.id,
    );

  test('a term is a regular expression for fields with the prefix $', async () => {
    expect(await ids('^a.*[0-9]')).toEqual([1]);
    expect(await ids('[0-9]{3}$')).toEqual([2]);
    expect(await ids('BETA|GAMMA')).toEqual([2, 3]);
  });

  test('a term is searched in the full-text index for fields with the prefix @', async () => {
    expect(await ids('quick')).toEqual([1]);
    expect(await ids('LAZY')).toEqual([2]);
    expect(await ids('qui')).toEqual([]);
  });

  test('a term that is no regular expression is 400, without details of the database', async () => {
    for (const term of ['(', '[', '*', '+a', '{2', 'a{99999}', '(?<', '\\', '[[:nope:]]', '(?P<x>']) {
      const answer = await started.client.get(
        `/rest/v1/press/essay/?search=${encodeURIComponent(`"${term}"`)}`,
      );
      expect({ term, status: answer.status, text: answer.text }).toEqual({
        term,
        status: answer.status === 200 ? 200 : 400,
        text: expect.not.stringMatching(/sql|syntax|pcre|query/i),
      });
    }
  });

  test('a term that is no regular expression is looked at behind the parent', async () => {
    await started.dataSource.getRepository(Anthology).insert({});
    const asked = async (path: string): Promise<number> =>
      (await started.client.get(`/rest/v1/press/anthology/${path}/essays/?search=${encodeURIComponent('[')}`))
        .status;
    expect([await asked('2'), await asked('1')]).toEqual([404, 400]);
  });

  test('full text without an index is refused at boot or served, and never breaks a search', async () => {
    const outcome = await startApp({ entities: [BareEssay], database }).then(
      async (app) => {
        const answer = await app.client.get('/rest/v1/press/bareessay/?search=quick');
        await app.close();
        return answer.status;
      },
      (error: unknown) => String(error),
    );
    expect([200, expect.stringContaining('BareEssay.searchFields[0]')]).toContainEqual(outcome);
  });
});

onEachDatabase('ordering', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: PRESS, database });
    const { dataSource } = started;
    await dataSource
      .getRepository(Writer)
      .save([{ name: 'woolf', rank: 2 }, { name: 'joyce', rank: 1 }, { name: 'proust' }]);
    await dataSource.getRepository(Article).save([
      { title: 'b', body: 'x', rating: 2, writer: { id: 1 }, draft: '3', note: '3' },
      { title: 'a', body: 'y', rating: 1, writer: { id: 2 }, draft: '1', note: '1' },
      { title: 'b', body: 'y', rating: null, draft: '4', note: '4' },
      { title: 'a', body: 'x', rating: 2, writer: { id: 1 }, draft: '2', note: '2' },
    ]);
    await dataSource.getRepository(Piece).save([
      { headline: 'b', weight: 1, rating: 5, writer: { id: 1 } },
      { headline: 'a', weight: 1, rating: 5, writer: { id: 2 } },
      { headline: 'c', weight: 9, rating: 4, writer: { id: 3 } },
      { headline: 'd', weight: 0, rating: 5 },
      { headline: 'a', weight: 1, rating: null, writer: { id: 1 } },
    ]);
    await dataSource.getRepository(Issue).save([
      { number: 1, name: 'x' },
      { number: 3, name: 'z' },
      { number: 3, name: 'y' },
      { number: 3, name: 'y' },
    ]);
  });
  afterAll(() => started.close());
  const ids = async (query: string, model = 'article'): Promise<readonly unknown[]> =>
    expectOk(await started.client.get(`/rest/v1/press/${model}/?${query}`)).map((row) => row.id);
  const nullsFirst = database.name !== 'postgres';

  test.each([
    ['ordering=id', [1, 2, 3, 4]],
    ['ordering=-id', [4, 3, 2, 1]],
    ['ordering=title', [2, 4, 1, 3]],
    ['ordering=-title', [3, 1, 4, 2]],
    ['ordering=title,body', [4, 2, 1, 3]],
    ['ordering=title,-body', [2, 4, 3, 1]],
    ['ordering=-title,-id', [3, 1, 4, 2]],
    ['ordering=+title+,+-body+', [2, 4, 3, 1]],
    ['ordering=-title,title', [3, 1, 4, 2]],
    ['ordering=title,-title,-id', [4, 2, 3, 1]],
    ['ordering=-id,id', [4, 3, 2, 1]],
    ['ordering=nothing,-title', [3, 1, 4, 2]],
    ['ordering=nothing', [1, 2, 3, 4]],
    ['ordering=', [1, 2, 3, 4]],
    ['ordering=,,-id,,', [4, 3, 2, 1]],
    ['ordering=-', [1, 2, 3, 4]],
    ['ordering=--id', [1, 2, 3, 4]],
    ['ordering=-title&ordering=-id', [3, 1, 4, 2]],
    ['ORDERING=-id', [1, 2, 3, 4]],
    ['', [1, 2, 3, 4]],
  ])('?%s', async (query, expected) => {
    expect(await ids(query)).toEqual(expected);
  });

  test('nulls stand where this database puts them, ties go by key in the last direction', async () => {
    expect(await ids('ordering=rating')).toEqual(nullsFirst ? [3, 2, 1, 4] : [2, 1, 4, 3]);
    expect(await ids('ordering=-rating')).toEqual(nullsFirst ? [4, 1, 2, 3] : [3, 4, 1, 2]);
    expect(await ids('ordering=writer')).toEqual(nullsFirst ? [3, 1, 4, 2] : [1, 4, 2, 3]);
    expect(await ids('ordering=-writer')).toEqual(nullsFirst ? [2, 4, 1, 3] : [3, 2, 4, 1]);
  });

  test.each([
    'draft',
    '-draft',
    'note',
    '-note',
    'internal',
    'writer__name',
    'writer.name',
    'writer__secret',
    'writer_id',
    'writerId',
    'Title',
    'articles',
    'pk',
    'constructor',
    '__proto__',
  ])('ordering=%s names nothing that may be ordered by, and is dropped', async (name) => {
    expect(await ids(`ordering=${name}`)).toEqual([1, 2, 3, 4]);
    expect(await ids(`ordering=${name},-id`)).toEqual([4, 3, 2, 1]);
  });

  test("the model's own order holds without one, even by columns that no client may order by", async () => {
    expect(await ids('', 'piece')).toEqual([3, 2, 5, 1, 4]);
    expect(await ids('ordering=weight', 'piece')).toEqual([3, 2, 5, 1, 4]);
    expect(await ids('ordering=-headline', 'piece')).toEqual([3, 2, 5, 1, 4]);
    expect(await ids('ordering=-rating&rating=5', 'piece')).toEqual([4, 2, 1]);
    expect(await ids('ordering=id', 'piece')).toEqual([3, 2, 5, 1, 4]);
  });

  test('goes over relations that the model names', async () => {
    expect(await ids('ordering=writer__name', 'piece')).toEqual(
      nullsFirst ? [4, 2, 3, 1, 5] : [2, 3, 1, 5, 4],
    );
    expect(await ids('ordering=-writer__name', 'piece')).toEqual(
      nullsFirst ? [5, 1, 3, 2, 4] : [4, 5, 1, 3, 2],
    );
    expect(await ids('ordering=writer__rank,-rating', 'piece')).toEqual(
      nullsFirst ? [4, 3, 2, 1, 5] : [2, 5, 1, 4, 3],
    );
    expect(await ids('ordering=writer.name', 'piece')).toEqual([3, 2, 5, 1, 4]);
  });

  test("the entity's orderBy is the order where the model names none", async () => {
    expect(await ids('', 'issue')).toEqual([3, 4, 2, 1]);
    expect(await ids('ordering=number', 'issue')).toEqual([1, 2, 3, 4]);
    expect(await ids('ordering=nothing', 'issue')).toEqual([3, 4, 2, 1]);
  });

  test('works on the list of a parent', async () => {
    expect(
      expectOk(await started.client.get('/rest/v1/press/writer/1/articles/?ordering=title')).map(
        (row) => row.id,
      ),
    ).toEqual([4, 1]);
    expect(
      expectOk(await started.client.get('/rest/v1/press/writer/1/articles/?ordering=-id')).map(
        (row) => row.id,
      ),
    ).toEqual([4, 1]);
  });
});

@Injectable()
class RoleFilter extends FieldFilter {}

@Restify('club')
@Entity('club_member')
class Member {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @ManyToMany(() => Club, (club) => club.members)
  clubs: Relation<Club[]>;
}

@Restify({ app: 'club', filterBackends: [] })
@Entity('club_club')
class Club {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @ManyToMany(() => Member, (member) => member.clubs)
  @JoinTable({
    name: 'club_membership',
    joinColumn: { name: 'club_id' },
    inverseJoinColumn: { name: 'member_id' },
    synchronize: false,
  })
  members: Relation<Member[]>;
}

@Restify({
  app: 'club',
  filterBackends: [RoleFilter, SearchFilter, OrderingFilter],
  filterFields: { role: ['exact', 'ne'], 'member.name': ['exact'] },
  searchFields: ['member.name'],
  orderingFields: ['member.name', 'role'],
  ordering: ['-role'],
})
@Entity('club_membership')
class Membership {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: 'guest' })
  role: string;

  @ManyToOne(() => Club, { nullable: false })
  @JoinColumn({ name: 'club_id' })
  club: Relation<Club>;

  @ManyToOne(() => Member, { nullable: false })
  @JoinColumn({ name: 'member_id' })
  member: Relation<Member>;
}

onEachDatabase('the lists of through objects', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Member, Club, Membership], database });
    const { dataSource } = started;
    await dataSource.getRepository(Member).save([{ name: 'Zoe' }, { name: 'Ann' }, { name: 'Mia' }]);
    await dataSource.getRepository(Club).save([{ name: 'Chess' }, { name: 'Go' }]);
    await dataSource.getRepository(Membership).save([
      { club: { id: 1 }, member: { id: 1 }, role: 'guest' },
      { club: { id: 1 }, member: { id: 2 }, role: 'owner' },
      { club: { id: 1 }, member: { id: 3 }, role: 'guest' },
      { club: { id: 2 }, member: { id: 2 }, role: 'guest' },
    ]);
  });
  afterAll(() => started.close());
  const ids = async (path: string): Promise<readonly unknown[]> =>
    expectOk(await started.client.get(`/rest/v1/club/${path}`)).map((row) => row.id);

  test.each([
    ['club/1/members/', [2, 3, 1]],
    ['club/1/members/?role=guest', [3, 1]],
    ['club/1/members/?role__ne=guest', [2]],
    ['club/1/members/?member__name=Ann', [2]],
    ['club/2/members/?member__name=Zoe', []],
    ['club/1/members/?member=1', [2, 3, 1]],
    ['club/1/members/?search=m', [3]],
    ['club/1/members/?ordering=member__name', [2, 3, 1]],
    ['club/1/members/?ordering=-member__name', [1, 3, 2]],
    ['club/1/members/?ordering=id', [2, 3, 1]],
    ['member/2/clubs/', [2, 4]],
    ['member/2/clubs/?role=guest', [4]],
    ['member/1/clubs/?role=owner', []],
    ['membership/?role=guest&ordering=-member__name', [1, 3, 4]],
  ])("%s follows the through model's backends", async (path, expected) => {
    expect(await ids(path)).toEqual(expected);
  });

  test('a model without backends takes no parameter', async () => {
    expect(await ids('club/?name=Go&search=Go&ordering=-id')).toEqual([1, 2]);
  });
});

describe('a backend that is left out', () => {
  @Restify({ app: 'part', filterBackends: [OrderingFilter] })
  @Entity('part_ordered')
  class Ordered {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    name: string;
  }

  test('reads nothing, and leaves its parameter to be ignored', async () => {
    const started = await startApp({ entities: [Ordered] });
    await started.dataSource.getRepository(Ordered).save([{ name: 'a' }, { name: 'b' }]);
    const answer = await started.client.get('/rest/v1/part/ordered/?name=a&search=a&ordering=-name');
    await started.close();
    expect(expectOk(answer).map((row) => row.id)).toEqual([2, 1]);
  });
});
