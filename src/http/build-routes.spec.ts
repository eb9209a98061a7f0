import { describe, expect, test } from '@jest/globals';
import type { Column } from '../core/schema/column.js';
import type { Field } from '../core/schema/field.js';
import { QUERY_LIMITS } from '../core/schema/limits.js';
import { OPERATIONS } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import type { ManyToManyRelation, OneToManyRelation, ToManyRelation } from '../core/schema/relation.js';
import type { Resource } from '../core/schema/resource.js';
import type { Route } from '../core/schema/route.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import { buildApi } from './build-routes.js';
import { matchRoute } from './route-matcher.js';

const ID: Column = { id: 'id', path: 'id', type: { kind: 'integer', min: 0, max: 9 }, nullable: false };
const LOCKED = {
  label: '',
  readable: true,
  insertable: false,
  updatable: false,
  required: false,
  nullable: false,
};

function resourceOf(
  id: string,
  {
    operations = OPERATIONS,
    links = [],
  }: { operations?: readonly Operation[]; links?: readonly ToManyRelation[] } = {},
): Resource {
  const [app = '', model = ''] = id.split('.');
  const fields = links.map((relation): Field => ({ ...LOCKED, kind: 'link', name: relation.name, relation }));
  return {
    id,
    app,
    model,
    className: model,
    entity: model,
    registered: true,
    pagination: undefined,
    hasRelatedKeys: false,
    counts: undefined,
    aggregates: undefined,
    hasNestedWrites: false,
    renamed: new Map(),
    declares: { filters: false, ordering: false },
    renderers: [],
    fieldSelection: undefined,
    labelsParameter: undefined,
    objectLabel: undefined,
    referrers: [],
    rowReferrers: [],
    referredColumns: new Set(),
    conditional: undefined,
    bulk: undefined,
    cacheControl: undefined,
    idempotency: undefined,
    key: { columns: [ID] },
    identity: [ID],
    columns: new Map([[ID.id, ID]]),
    fields,
    fieldsByName: new Map(fields.map((field) => [field.name, field])),
    foreignKeyAliases: [],
    nested: links,
    relations: new Map(links.map((relation) => [relation.name, relation])),
    overlapping: [],
    operations: new Set(operations),
    filterTerms: new Map(),
    filterGroups: false,
    queryLimits: QUERY_LIMITS,
    searchFields: [],
    orderingFields: new Map(),
    orderingNulls: false,
    ordering: [],
    backends: [],
    serializer: new ModelSerializer(),
    grantsSomeFields: false,
    hasDefaultSerializer: true,
    permission: { kind: 'all-of', permissions: [] },
    schemes: [],
    guarded: false,
    refusalsThrottled: false,
    guards: [],
    lateGuards: [],
    interceptors: [],
    piping: undefined,
    hooks: {},
    recording: undefined,
    listenerRelations: [],
    throttle: undefined,
    counter: undefined,
    description: '',
    labels: undefined,
    returnDeleted: false,
    trash: undefined,
    mergePatch: false,
    respondsAfterCommit: false,
    queryMethod: false,
    strict: false,
    strictWrites: false,
  };
}

function children(name: string, target: Resource): OneToManyRelation {
  return { kind: 'one-to-many', name, target, on: [{ localColumn: ID, referencedColumn: ID }] };
}

function others(name: string, target: Resource, through: Resource): ManyToManyRelation {
  return {
    kind: 'many-to-many',
    name,
    target,
    through: { resource: through, parent: [], other: [] },
  };
}

const CHOICE = resourceOf('polls.choice');
const TAG = resourceOf('polls.tag');
const QUESTION_TAG = resourceOf('polls.question_tags');
const QUESTION = resourceOf('polls.question', {
  links: [children('choices', CHOICE), others('Tag_Set', TAG, QUESTION_TAG)],
});
const API = buildApi('rest/v1', [QUESTION, CHOICE, TAG]);

/** `kind key|child`, as the path was sent. */
function matched(path: string): string | undefined {
  const match = matchRoute(API, path);
  if (!match) return undefined;
  const { route, keySegment, childSegment } = match;
  return [route.kind, route.parent?.model ?? route.resource.model, keySegment, childSegment]
    .filter((part) => part !== undefined)
    .join(' ');
}

describe('a path', () => {
  test.each([
    ['polls/question', 'collection question'],
    ['polls/choice', 'collection choice'],
    ['polls/question/1', 'object question 1'],
    ['polls/question/abc', 'object question abc'],
    ['polls/question/a%2Fb', 'object question a%2Fb'],
    ['polls/question/1,2', 'object question 1,2'],
    ['polls/question/%00', 'object question %00'],
    ['polls/question/choices', 'object question choices'],
    ['polls/question/__proto__', 'object question __proto__'],
    ['polls/question/1/choices', 'one-to-many question 1'],
    ['polls/question/1/Tag_Set', 'through-list question 1'],
    ['polls/question/1/Tag_Set/2', 'through-object question 1 2'],
    ['polls/question/1/Tag_Set/a/b', 'through-object question 1 a/b'],
    ['polls/question/1/Tag_Set/a//b', 'through-object question 1 a//b'],
    ['polls/question/1/Tag_Set//b', 'through-object question 1 /b'],
    ['polls/question/1/Tag_Set/a%2Fb%20c', 'through-object question 1 a%2Fb%20c'],
    ['polls/question/%zz/Tag_Set/%', 'through-object question %zz %'],
  ])('%s leads to %s', (path, route) => {
    expect(matched(path)).toBe(route);
  });

  test.each([
    '',
    '/',
    'polls',
    'polls/',
    'polls/nothing',
    'nothing/question',
    'question',
    '/polls/question',
    'polls//question',
    'Polls/question',
    'polls/Question',
    'polls/question/',
    'polls/question//',
    'polls/question//choices',
    'polls/question/1/',
    'polls/question/1//',
    'polls%2Fquestion',
    'polls/question/1/Choices',
    'polls/question/1/tag_set',
    'polls/question/1/nothing',
    'polls/question/1/choices/',
    'polls/question/1/choices/2',
    'polls/question/1/choices/2/3',
    'polls/question/1/Tag_Set/',
    'polls/choice/1/choices',
    'polls/question_tags',
    'polls/question_tags/1',
    'polls/__proto__',
    '__proto__/constructor',
    'polls/question/1/__proto__',
    'polls/question/1/constructor',
    'polls/question/1/toString/1',
    '../polls/question',
    'polls/question?',
    '/'.repeat(100_000),
  ])('has no route: %#', (path) => {
    expect(matchRoute(API, path)).toBeUndefined();
  });
});

function summary({ kind, name, allow, resource, parent }: Route): string {
  return `${kind} ${name} [${allow}] ${parent ? `${parent.model} > ` : ''}${resource.model}`;
}

test('every URL has its route and its methods', () => {
  expect(API.routes.map(summary)).toEqual([
    'collection polls_question-list [GET, POST, HEAD, OPTIONS] question',
    'object polls_question-detail [GET, PUT, PATCH, DELETE, HEAD, OPTIONS] question',
    'one-to-many question-choices-list [GET, HEAD, OPTIONS] question > choice',
    'through-list question-tag_set-list [GET, POST, HEAD, OPTIONS] question > question_tags',
    'through-object question-tag_set-detail [GET, PUT, PATCH, DELETE, HEAD, OPTIONS] question > question_tags',
    'collection polls_choice-list [GET, POST, HEAD, OPTIONS] choice',
    'object polls_choice-detail [GET, PUT, PATCH, DELETE, HEAD, OPTIONS] choice',
    'collection polls_tag-list [GET, POST, HEAD, OPTIONS] tag',
    'object polls_tag-detail [GET, PUT, PATCH, DELETE, HEAD, OPTIONS] tag',
  ]);
});

describe('operations', () => {
  test.each<[operations: readonly Operation[], collection: string | undefined, object: string | undefined]>([
    [['list'], 'GET, HEAD, OPTIONS', undefined],
    [['create'], 'POST, OPTIONS', undefined],
    [['create', 'list'], 'GET, POST, HEAD, OPTIONS', undefined],
    [['retrieve'], undefined, 'GET, HEAD, OPTIONS'],
    [['destroy', 'retrieve'], undefined, 'GET, DELETE, HEAD, OPTIONS'],
    [['destroy'], undefined, 'DELETE, OPTIONS'],
    [['partialUpdate', 'update'], undefined, 'PUT, PATCH, OPTIONS'],
    [['destroy', 'partialUpdate', 'create'], 'POST, OPTIONS', 'PATCH, DELETE, OPTIONS'],
    [[], undefined, undefined],
  ])('%j leave the collection %j and the object %j', (operations, collection, object) => {
    const api = buildApi('', [resourceOf('a.b', { operations })]);
    expect([matchRoute(api, 'a/b')?.route.allow, matchRoute(api, 'a/b/1')?.route.allow]).toEqual([
      collection,
      object,
    ]);
  });

  test.each<[operations: readonly Operation[], list: string | undefined, object: string | undefined]>([
    [['list', 'create'], 'GET, POST, HEAD, OPTIONS', undefined],
    [['create', 'destroy'], 'POST, OPTIONS', 'DELETE, OPTIONS'],
    [[], undefined, undefined],
  ])(
    '%j of a through model leave its nested list %j and its nested object %j',
    (operations, list, object) => {
      const api = buildApi('', [
        resourceOf('a.b', { links: [others('tags', TAG, resourceOf('a.b_tags', { operations }))] }),
      ]);
      expect([
        matchRoute(api, 'a/b/1/tags')?.route.allow,
        matchRoute(api, 'a/b/1/tags/2')?.route.allow,
      ]).toEqual([list, object]);
    },
  );

  test.each<[operations: readonly Operation[], list: string | undefined]>([
    [OPERATIONS, 'GET, HEAD, OPTIONS'],
    [['list'], 'GET, HEAD, OPTIONS'],
    [['create', 'retrieve'], undefined],
  ])('%j of a child leave its nested list %j', (operations, list) => {
    const api = buildApi('', [
      resourceOf('a.b', { links: [children('cs', resourceOf('a.c', { operations }))] }),
    ]);
    expect(matchRoute(api, 'a/b/1/cs')?.route.allow).toBe(list);
  });

  test('that a model does not have leave its nested URLs accessible', () => {
    const api = buildApi('', [resourceOf('a.b', { operations: [], links: [children('cs', CHOICE)] })]);
    expect([
      matchRoute(api, 'a/b'),
      matchRoute(api, 'a/b/1'),
      matchRoute(api, 'a/b/1/cs')?.route.kind,
    ]).toEqual([undefined, undefined, 'one-to-many']);
  });
});

test('a method leads to its operation', () => {
  const operations = (path: string): unknown =>
    Object.fromEntries(matchRoute(API, path)?.route.operations ?? []);
  expect(operations('polls/question')).toEqual({ GET: 'list', POST: 'create' });
  expect(operations('polls/question/1')).toEqual({
    GET: 'retrieve',
    PUT: 'update',
    PATCH: 'partialUpdate',
    DELETE: 'destroy',
  });
  expect(operations('polls/question/1/choices')).toEqual({ GET: 'list' });
  expect(operations('polls/question/1/Tag_Set')).toEqual({ GET: 'list', POST: 'create' });
  expect(operations('polls/question/1/Tag_Set/2')).toEqual({
    GET: 'retrieve',
    PUT: 'update',
    PATCH: 'partialUpdate',
    DELETE: 'destroy',
  });
});

test('models of one name in two apps have URLs of their own', () => {
  const api = buildApi('', [resourceOf('a.item'), resourceOf('b.item')]);
  expect([
    matchRoute(api, 'a/item')?.route.resource.id,
    matchRoute(api, 'b/item')?.route.resource.id,
  ]).toEqual(['a.item', 'b.item']);
});
