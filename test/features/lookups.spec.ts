// @tags db http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { basic } from 'nestjs-restify';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import { noFilter } from '../support/no-filter.js';
import type { StartedApp } from '../support/start-app.js';
import { Course, fillLookups, LOOKUP_MODELS } from './lookup-models.js';

function as(name: string): { headers: Record<string, string> } {
  return name === ''
    ? { headers: {} }
    : { headers: { authorization: `Basic ${Buffer.from(`${name}:pw`).toString('base64')}` } };
}

onEachDatabase('lookups that a model names', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: LOOKUP_MODELS,
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
    });
    await fillLookups(started.dataSource);
  });
  afterAll(() => started.close());

  const get = (path: string, who = ''): Promise<Answer> => started.client.get(`/rest/v1/${path}`, as(who));
  const ids = async (path: string, who = ''): Promise<unknown> => {
    const { status, json, text } = await get(path, who);
    return status === 200 ? (json as { id: number }[]).map(({ id }) => id) : [status, JSON.parse(text)];
  };
  const choices = (query: string, who = ''): Promise<unknown> => ids(`polls/choice/?${query}`, who);
  const questions = (query: string, who = ''): Promise<unknown> => ids(`polls/question/?${query}`, who);

  describe('of values', () => {
    test.each<[string, readonly number[]]>([
      ['votes__gt=4', [2, 4]],
      ['votes__gte=4&votes__lt=9', [2, 3, 6]],
      ['votes__lte=1', [1]],
      ['votes__exact=4', [3, 6]],
      ['votes__in=1,7,99', [1, 2]],
      ['votes__range=4,7', [2, 3, 6]],
      ['votes__isnull=true', [5]],
      ['votes__isnull=1', [5]],
      ['votes__isnull=0', [1, 2, 3, 4, 6]],
      ['votes__ne=4', [1, 2, 4, 5]],
      ['votes!=4', [1, 2, 4, 5]],
      ['votes!=', [1, 2, 3, 4, 5, 6]],
      ['votes%21=4', [1, 2, 4, 5]],
      ['question!=1', [3, 4, 5, 6]],
      ['question__isnull=true', [5, 6]],
      ['question__text!=first', [3, 4, 5, 6]],
      ['open!=true', [4]],
      ['open__in=false,0', [4]],
      ['text!=Ada', [2, 3, 4, 5, 6]],
    ])('?%s keeps the rows that it means', async (query, expected) => {
      expect(await choices(query)).toEqual(expected);
    });

    test.each<[string, readonly number[]]>([
      ['text__contains=ada', [2]],
      ['text__contains=Ada', [1]],
      ['text__icontains=ADA', [1, 2]],
      ['text__startswith=a', [2]],
      ['text__startswith=A', [1, 3]],
      ['text__istartswith=a', [1, 2, 3]],
      ['text__endswith=A', []],
      ['text__endswith=a', [1]],
      ['text__iendswith=A', [1]],
      ['text__iexact=ADA', [1]],
      ['text__contains=%25', [2]],
      ['text__contains=_', [3]],
      ['text__icontains=A_A', [3]],
      ['text__icontains=a%25', [2]],
      ['text__contains=%5C', [4]],
      ['text__icontains=K%5CS', [4]],
      ['text__startswith=back%5C', [4]],
      ['text__endswith=%5Cslash', [4]],
      ['text__contains=!', []],
      ['text__contains=%C3%96', [6]],
      ['text__contains=O', []],
      ['text__startswith=Ol', []],
    ])('?%s has no wildcards, and respects case except with the prefix i', async (query, expected) => {
      expect(await choices(query)).toEqual(expected);
    });

    test.each<[string, unknown]>([
      ['text__in=Ada,%C3%96l', [1, 6]],
      ['text__in=%22A_a,%20%5C%22b%5C%22%22,Ada', [1, 3]],
      ['text__in=%22back%5C%5Cslash%22', [4]],
      ['text__in=back%5Cslash', [4]],
      ['text__in=%22Ada', [400, { text__in: ['A quote is not closed.'] }]],
      ['text__in=%22Ada%22x', [400, { text__in: ['Write a comma behind a quoted value.'] }]],
      ['votes__in=%221%22,7', [1, 2]],
      ['votes__in=1,', [400, { votes__in: ['Enter a number.'] }]],
      ['votes__in=1,x', [400, { votes__in: ['Enter a number.'] }]],
      ['votes__range=1', [400, { votes__range: ['Enter two values with a comma between them.'] }]],
      ['votes__range=1,2,3', [400, { votes__range: ['Ensure there are no more than 2 values.'] }]],
      ['votes__isnull=perhaps', [400, { votes__isnull: ['Must be a valid boolean.'] }]],
      ['votes!=x', [400, { 'votes!': ['Enter a number.'] }]],
      ['votes=x&open=y', [400, { votes: ['Enter a number.'], open: ['Must be a valid boolean.'] }]],
      [`id__in=${'1,'.repeat(99)}2`, [1, 2]],
      [`id__in=${'1,'.repeat(100)}2`, [400, { id__in: ['Ensure there are no more than 100 values.'] }]],
    ])('?%s is a list, or an error', async (query, expected) => {
      expect(await choices(query)).toEqual(expected);
    });

    test('what the model does not name is 400 for a field that is shown, and else passed over', async () => {
      for (const query of [
        'text__regex=x',
        'open__contains=x',
        'votes__contains=1',
        'question__draft=true',
        'text__lt=B',
        'made__gte=2000-01-01',
        'id__gt=3',
      ])
        expect([query, await choices(query)]).toEqual([query, [400, noFilter(query)]]);
      expect(await choices('id!!=1')).toEqual([1, 2, 3, 4, 5, 6]);
    });
  });

  describe('over to-many relations mean some related row', () => {
    test.each<[string, readonly number[]]>([
      ['choices__votes=7', [1]],
      ['choices__votes__gte=4', [1, 2]],
      ['choices__votes__lt=4', [1]],
      ['choices__votes__in=1,9', [1, 2]],
      ['choices__votes!=7', [1, 2]],
      ['choices__text__icontains=ADA', [1]],
      ['choices=3', [2]],
      ['choices__in=1,2', [1]],
      ['choices=99999999999999999999', []],
      ['choices__isnull=true', [3]],
      ['choices__isnull=false', [1, 2]],
      ['tags=1', [1, 2]],
      ['tags=2', [1]],
      ['tags=3', []],
      ['tags__isnull=true', [3]],
      ['tags__word=blue', [1]],
      ['tags__word__in=blue,red', [1, 2]],
      ['tags__questions__text=first', [1, 2]],
      ['tags__word=red&choices__votes=9', [2]],
    ])('?%s', async (query, expected) => {
      expect(await questions(query)).toEqual(expected);
    });

    test('and all parameters over one relation mean the same row', async () => {
      expect(await questions('choices__votes=1&choices__text=Ada')).toEqual([1]);
      expect(await questions('choices__votes=7&choices__text=Ada')).toEqual([]);
      expect(await questions('choices__votes__gte=2&choices__votes__lt=7')).toEqual([2]);
      expect(await questions('filter=and(choices__votes=7,choices__text=Ada)')).toEqual([]);
      expect(await questions('choices__votes=7&filter=choices__text=Ada')).toEqual([]);
      expect(await questions('choices__votes=7&filter=or(choices__text=Ada)')).toEqual([1]);
      expect(await questions('choices=1&choices__votes=7')).toEqual([]);
    });

    test('behind forward relations, and in each other', async () => {
      expect(await choices('question__choices__votes__gte=9')).toEqual([3, 4]);
      expect(await choices('question__tags__word=blue')).toEqual([1, 2]);
      expect(await ids('polls/tag/?questions__choices__votes__gte=9')).toEqual([1]);
      expect(await ids('polls/tag/?questions__choices__votes__gte=5')).toEqual([1, 2]);
    });

    test('list an object once, however many related rows fit', async () => {
      expect(await questions('choices__votes__gte=0&tags__word__in=red,blue')).toEqual([1, 2]);
    });

    test('over a through model with columns of its own, and not over rows of it that are deleted softly', async () => {
      expect(await ids('edu/student/?courses__title=Art')).toEqual([1, 2]);
      expect(await ids('edu/student/?courses__title=Biology')).toEqual([]);
      expect(await ids('edu/student/?enrolments__grade__gte=3')).toEqual([1]);
      expect(await ids('edu/student/?enrolments__grade__gte=3&enrolments__course__title=Art')).toEqual([1]);
      expect(await ids('edu/student/?enrolments__course__title=Biology')).toEqual([]);
    });

    test('get the names of missing fields', async () => {
      expect(await questions('choices__votes=x&tags=y')).toEqual([
        400,
        { choices__votes: ['Enter a number.'], tags: ['Enter a number.'] },
      ]);
      expect(await questions('choices__isnull=2')).toEqual([
        400,
        { choices__isnull: ['Must be a valid boolean.'] },
      ]);
    });
  });

  test('over rows that are deleted softly find nothing', async () => {
    await started.dataSource.manager.softDelete(Course, { id: 1 });
    expect(await ids('edu/student/?courses__title=Art')).toEqual([]);
    expect(await ids('edu/student/?enrolments__course__title=Art')).toEqual([]);
    expect(await ids('edu/student/?enrolments__grade__gte=3')).toEqual([1]);
    await started.dataSource.manager.restore(Course, { id: 1 });
  });

  describe('on nested and through lists', () => {
    test('narrow what belongs to the parent', async () => {
      expect(await ids('polls/question/1/choices/?votes__gte=2')).toEqual([2]);
      expect(await ids('polls/question/1/choices/?votes!=1')).toEqual([2]);
      expect(await ids('polls/question/2/choices/?question__choices__votes__gte=9')).toEqual([3, 4]);
      expect(await ids('polls/question/1/tags/?tag!=1')).toEqual([2]);
      expect(await ids('polls/question/1/tags/?tag__word=red')).toEqual([1]);
      expect(await ids('polls/question/1/tags/?tag__questions__text=second')).toEqual([1]);
      expect(await ids('polls/question/1/tags/?filter=not(tag__word=red)')).toEqual([2]);
    });
  });

  describe('under the grants of the models that they lead to', () => {
    test('count rows that the caller may see', async () => {
      expect(await questions('choices__votes__gte=4', 'half')).toEqual([1]);
      expect(await choices('question__choices__votes__gte=9', 'half')).toEqual([]);
      expect(await choices('question__tags__word=blue', 'half')).toEqual([1, 2]);
      expect(await ids('polls/tag/?questions__choices__votes__gte=4', 'half')).toEqual([2]);
      expect(await ids('polls/tag/?questions__choices__votes__gte=5')).toEqual([1, 2]);
    });

    test('count links that the caller may see', async () => {
      expect(await questions('tags__word=red', 'half')).toEqual([]);
      expect(await questions('tags__word=blue', 'half')).toEqual([1]);
      expect(await questions('tags=1', 'half')).toEqual([]);
      expect(await questions('tags__isnull=true', 'half')).toEqual([3]);
    });

    test('do not reveal hidden rows by the absence of matches', async () => {
      expect(await questions('choices__isnull=true', 'half')).toEqual([3]);
      expect(await questions('filter=not(choices__votes=9)', 'half')).toEqual([1, 3]);
    });

    test.each<[string, readonly number[]]>([
      ['question__text!=first', [3, 5, 6]],
      ['question__text!=second', [1, 2, 3, 5, 6]],
      ['question__text!=another', [1, 2, 3, 5, 6]],
      ['question__text=second', []],
      ['question__text__in=first,second', [1, 2]],
      ['question__text__isnull=true', [3, 5, 6]],
      ['question__text__isnull=false', [1, 2]],
      ['question__choices__isnull=true', [3, 5, 6]],
      ['question__choices__isnull=false', [1, 2]],
      ['filter=not(question__text=second)', [1, 2, 3, 5, 6]],
      ['filter=not(question__text!=first)', [1, 2]],
      ['filter=or(question__text!=first,votes__gte=9)', [3, 5, 6]],
      ['filter=and(question__text!=first,not(question__text!=second))', []],
      ['named=%C3%96l', [6]],
      ['named=second', []],
      ['named=first,%C3%96l', [1, 2, 6]],
      ['filter=not(named=second)', [1, 2, 3, 5, 6]],
      ['strange=first', [3, 5, 6]],
      ['strange=second', [1, 2, 3, 5, 6]],
    ])('?%s takes a hidden related row for none, as an empty relation', async (query, expected) => {
      expect(await choices(query, 'half')).toEqual(expected);
    });

    test('do not exist over fields that the caller may not read, nor over models that refuse', async () => {
      for (const who of ['blind', 'out']) {
        for (const query of [
          'choices__votes=9',
          'choices__votes=x',
          'choices__votes__gte=9',
          'choices__votes!=1',
        ]) {
          expect([who, query, await questions(query, who)]).toEqual([who, query, [400, noFilter(query)]]);
        }
        const [hidden, unknown] = await Promise.all([
          get('polls/question/?filter=or(choices__votes=9)', who),
          get('polls/question/?filter=or(choices__vot3s=9)', who),
        ]);
        expect([hidden.status, hidden.text.replace('votes', 'vot3s')]).toEqual([
          unknown.status,
          unknown.text,
        ]);
      }
      expect(await questions('choices__text=Ada', 'blind')).toEqual([1]);
      expect(await questions('choices__text=nobody', 'out')).toEqual([400, noFilter('choices__text')]);
      expect(await questions('tags__word=blue', 'out')).toEqual([400, noFilter('tags__word=blue')]);
      expect(await questions('tags__word=blue', 'blind')).toEqual([1]);
      expect(await questions('tags__questions__text=third', 'blind')).toEqual([
        400,
        noFilter('tags__questions__text=third'),
      ]);
      expect(await choices('question__text=first', 'blind')).toEqual([400, noFilter('question__text=first')]);
      expect(await choices('votes=1', 'blind')).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await choices('question__choices__votes__gte=9', 'blind')).toEqual([
        400,
        noFilter('question__choices__votes__gte=9'),
      ]);
    });

    test('do not exist over a relation that the caller may not read', async () => {
      for (const query of [
        'choices__votes=9',
        'choices=1',
        'choices__isnull=true',
        'tags__word=blue',
        'tags=2',
        'tags=x',
      ])
        expect([query, await questions(query, 'lonely')]).toEqual([query, [1, 2, 3]]);
      for (const query of ['question__choices__votes__gte=9', 'question__tags__word=blue'])
        expect([query, await choices(query, 'lonely')]).toEqual([query, [400, noFilter(query)]]);
      expect(await choices('rival=7', 'lonely')).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await ids('polls/tag/?questions__choices__votes__gte=9', 'lonely')).toEqual([
        400,
        noFilter('questions__choices__votes__gte'),
      ]);
      expect(await ids('polls/question/1/tags/?tag__questions__text=second', 'lonely')).toEqual([1]);
    });

    test('on nested and through lists too', async () => {
      expect(await ids('polls/question/1/tags/?tag__questions__text=second', 'half')).toEqual([]);
      expect(await ids('polls/question/1/tags/?tag__questions__text=first', 'half')).toEqual([2]);
      expect(await ids('polls/question/1/tags/?tag__questions__text=third', 'blind')).toEqual([
        400,
        noFilter('tag__questions__text'),
      ]);
      expect(await ids('polls/question/1/choices/?question__choices__votes__gte=7', 'blind')).toEqual([
        400,
        noFilter('question__choices__votes__gte'),
      ]);
    });
  });
});
