// @tags db http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { basic, Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { fillLookups, LOOKUP_MODELS } from './lookup-models.js';

@Restify({
  app: 'polls',
  filterFields: ['name'],
  filterGroups: true,
  strict: true,
  queryLimits: { groupTerms: 2, groupDepth: 1, groupLength: 40, values: 2, searchTerms: 1 },
})
@Entity('lookup_narrow')
class Narrow {
  @PrimaryColumn()
  id: number;

  @Column()
  name: string;
}

@Restify({ app: 'polls', filterFields: { id: ['in'] } })
@Entity('lookup_plain')
class Plain {
  @PrimaryColumn()
  id: number;
}

onEachDatabase('groups of filters', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [...LOOKUP_MODELS, Narrow, Plain],
      database,
      restify: { authentication: [basic((name) => ({ name }))], queryLimits: { values: 3 } },
    });
    await fillLookups(started.dataSource);
    await started.dataSource.getRepository(Narrow).save([
      { id: 1, name: 'a' },
      { id: 2, name: 'b' },
    ]);
    await started.dataSource.getRepository(Plain).save([{ id: 1 }, { id: 2 }]);
  });
  afterAll(() => started.close());

  const asked = async (path: string): Promise<unknown> => {
    const { status, json, text } = await started.client.get(`/rest/v1/polls/${path}`);
    return status === 200 ? (json as { id: number }[]).map(({ id }) => id) : [status, JSON.parse(text)];
  };
  const choices = (filter: string): Promise<unknown> => asked(`choice/?filter=${encodeURIComponent(filter)}`);
  const questions = (filter: string): Promise<unknown> =>
    asked(`question/?filter=${encodeURIComponent(filter)}`);

  test.each<[string, readonly number[]]>([
    ['votes=4', [3, 6]],
    ['or(votes=1,votes=9)', [1, 4]],
    ['or(votes__gte=7, text="Ada")', [1, 2, 4]],
    ['and(votes=4,question__isnull=true)', [6]],
    ['or(and(votes=4,question=2),and(votes=7,open=true))', [2, 3]],
    ['not(votes=4)', [1, 2, 4, 5]],
    ['not(or(votes=4,votes=1))', [2, 4, 5]],
    ['not(not(votes=4))', [3, 6]],
    ['and(votes!=4,not(votes__isnull=true))', [1, 2, 4]],
    ['or(text="A_a, \\"b\\"",text="back\\\\slash")', [3, 4]],
    ['or(id__in="1,2",id__in="\\"5\\"")', [1, 2, 5]],
    ['or(question__text=first,votes=9)', [1, 2, 4]],
    ['text=""', []],
    ['or(text__contains=%,text__contains=_)', [2, 3]],
  ])('filter=%s keeps the rows that it means', async (filter, expected) => {
    expect(await choices(filter)).toEqual(expected);
  });

  test.each<[string, readonly number[]]>([
    ['or(choices__votes=1,choices__votes=4)', [1, 2]],
    ['and(choices__votes=1,choices__votes=7)', []],
    ['and(or(choices__votes=1),or(choices__votes=7))', [1]],
    ['not(choices__votes=7)', [2, 3]],
    ['not(and(choices__votes=7,choices__text=Ada))', [1, 2, 3]],
    ['and(choices__votes=7,and(choices__text=Ada))', []],
    ['or(and(choices__votes=7,choices__text="ada%"),tags__isnull=true)', [1, 3]],
    ['or(choices__isnull=true,choices=3)', [2, 3]],
  ])('filter=%s applies and(…) to one related row', async (filter, expected) => {
    expect(await questions(filter)).toEqual(expected);
  });

  test('stand beside other parameters, all of which must hold', async () => {
    expect(await asked('choice/?votes=4&filter=or(id=3,id=1)')).toEqual([3]);
    expect(await asked('choice/?filter=or(id=3,id=1)&search=ada')).toEqual([1]);
    expect(await asked('choice/?filter=or(id=3,id=1)&ordering=-id')).toEqual([3, 1]);
    expect(await asked('choice/?filter=or(id=1)&filter=or(id=2,id=3)')).toEqual([2, 3]);
    expect(await asked('choice/?filter=&votes=4')).toEqual([3, 6]);
    expect(await asked('question/1/choices/?filter=or(votes=7,votes=9)')).toEqual([2]);
  });

  test.each<[string, string]>([
    ['or(votes=4', 'Position 11: Write "," or ")" here.'],
    ['votes=x', 'Position 1: votes: Enter a number.'],
    ['or(votes=1,open=perhaps)', 'Position 12: open: Must be a valid boolean.'],
    ['or(votes!=x)', 'Position 4: votes!: Enter a number.'],
    ['or(secret=deep)', 'Position 4: "secret" is no filter.'],
    ['or(nothing=deep)', 'Position 4: "nothing" is no filter.'],
    ['or(question__secret=deep)', 'Position 4: "question__secret" is no filter.'],
    ['or(filter=a)', 'Position 4: "filter" is no filter.'],
    ['or(search=a)', 'Position 4: "search" is no filter.'],
    ['or(ordering=a)', 'Position 4: "ordering" is no filter.'],
    ['or(__proto__=a)', 'Position 4: "__proto__" is no filter.'],
    ['id__in="1,2,3,4"', 'Position 1: id__in: Ensure there are no more than 3 values.'],
    [
      'not(not(not(not(not(votes=4)))))',
      'Position 17: Ensure groups stand no more than 4 deep in one another.',
    ],
    [`or(${'id=1,'.repeat(30)}id=2)`, 'Position 154: Ensure there are no more than 30 filters.'],
    [`text="${'x'.repeat(2000)}"`, 'Position 2001: Ensure the text has no more than 2000 characters.'],
  ])('filter=%s is 400, with the place', async (filter, message) => {
    expect(await choices(filter)).toEqual([400, { filter: [message] }]);
  });

  test('take a few steps over many alone, own filters counted', async () => {
    const related = (count: number): string =>
      `or(${Array<string>(count).fill('choices__votes=7').join(',')})`;
    expect(await questions(related(5))).toEqual([1]);
    expect(await questions(related(6))).toEqual([
      400,
      { filter: ['Position 89: Ensure there are no more than 5 steps over many.'] },
    ]);
    expect(
      await questions('or(tags__questions__text=first,not(tags__questions__text=first),tags=1)'),
    ).toEqual([1, 2, 3]);
    expect(
      await questions('or(tags__questions__text=first,not(tags__questions__text=first),and(tags=1,tags=2))'),
    ).toEqual([400, { filter: [expect.stringMatching(/no more than 5 steps over many/)] }]);
    expect(await choices('or(rival=1,rival=2,rival=3,rival=4,rival=5,rival=6)')).toEqual([
      400,
      { filter: [expect.stringMatching(/no more than 5 steps over many/)] },
    ]);
  });

  test('are reported together with the other problems', async () => {
    expect(await asked('choice/?votes=x&filter=or(')).toEqual([
      400,
      { votes: ['Enter a number.'], filter: ['Position 4: Write a filter with its value here, or a group.'] },
    ]);
  });

  test('have the limits of their model', async () => {
    const narrow = (filter: string): Promise<unknown> =>
      asked(`narrow/?filter=${encodeURIComponent(filter)}`);
    expect(await narrow('or(name=a,name=b)')).toEqual([1, 2]);
    expect(await narrow('or(name=a,name=b,name=c)')).toEqual([
      400,
      { filter: ['Position 18: Ensure there are no more than 2 filters.'] },
    ]);
    expect(await narrow('or(not(name=a))')).toEqual([
      400,
      { filter: ['Position 4: Ensure groups stand no more than 1 deep in one another.'] },
    ]);
    expect(await narrow(`name=${'x'.repeat(40)}`)).toEqual([
      400,
      { filter: ['Position 41: Ensure the text has no more than 40 characters.'] },
    ]);
    expect(await asked('narrow/?search=a')).toEqual([1]);
    expect(await asked('narrow/?search=a,b')).toEqual([
      400,
      { search: ['Ensure there are no more than 1 terms.'] },
    ]);
    expect(await asked('plain/?id__in=1,2,3')).toEqual([1, 2]);
    expect(await asked('plain/?id__in=1,2,3,4')).toEqual([
      400,
      { id__in: ['Ensure there are no more than 3 values.'] },
    ]);
  });

  describe('in a model that does not name them', () => {
    test('are no parameter', async () => {
      expect(await asked('plain/?filter=or(')).toEqual([1, 2]);
      expect(await asked('narrow/?filter=name=a')).toEqual([1]);
      expect(await asked('narrow/?filters=name=a')).toEqual([400, { filters: ['Unknown parameter.'] }]);
    });
  });
});
