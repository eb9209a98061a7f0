// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FieldFilter, FilterSet, OrderingFilter, Restify, where } from 'nestjs-restify';
import type { FilterParameters } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { lintOpenApi } from '../support/lint-openapi.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { documentOf, parametersOf } from './document.js';

class PopularFilters extends FilterSet {
  readonly filters: FilterParameters = {
    popular: { type: 'boolean', rows: (yes) => where('votes', yes ? 'gte' : 'lt', 100) },
  };
}

@Restify({
  app: 'asked',
  filterBackends: [FieldFilter, OrderingFilter, PopularFilters],
  filterFields: { votes: ['ne'], 'answers.size': ['gte'] },
  filters: {
    near: { type: 'integer', list: true, reads: ['votes'], rows: (all) => where('votes', 'in', [...all]) },
    mood: { type: 'choice', choices: ['good', 'bad'], reads: ['votes'], rows: () => where('votes', 1) },
  },
  filterGroups: true,
  orderingFields: ['votes'],
  orderingNulls: true,
  queryLimits: { values: 7 },
})
@Entity()
class Asked {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ nullable: true })
  votes: number;

  @OneToMany(() => Answered, (answered) => answered.asked)
  answers: Relation<Answered[]>;
}

@Restify('asked')
@Entity()
class Answered {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  size: number;

  @ManyToOne(() => Asked, (asked) => asked.answers)
  asked: Relation<Asked>;
}

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({ entities: [Asked, Answered] });
});
afterAll(() => started.close());

test("lookups over many, filters of one's own, groups and nulls in orders are described as they are taken", async () => {
  const document = documentOf(started.app);
  const list = document.paths['/rest/v1/asked/asked']?.get;
  const integer = { type: 'integer', format: 'int64' };
  expect(list && parametersOf(list, 'query')).toEqual({
    votes__ne: integer,
    answers__size__gte: integer,
    near: { type: 'array', items: integer, maxItems: 7 },
    mood: { type: 'string', enum: ['good', 'bad'] },
    filter: { type: 'string', maxLength: 2000 },
    ordering: {
      type: 'array',
      items: {
        type: 'string',
        enum: [
          'votes',
          'votes.nullsfirst',
          'votes.nullslast',
          '-votes',
          '-votes.nullsfirst',
          '-votes.nullslast',
        ],
      },
    },
    popular: { type: 'boolean' },
  });
  expect((await lintOpenApi(document)).filter(({ severity }) => severity === 'error')).toEqual([]);
  for (const query of [
    'votes__ne=3',
    'answers__size__gte=1',
    'near=1,2',
    'mood=sad',
    'filter=or(votes__ne=1,not(near=3))',
    'ordering=-votes.nullslast',
    'popular=true',
  ])
    expect((await started.client.get(`/rest/v1/asked/asked/?${query}`)).status).toBe(
      query === 'mood=sad' ? 400 : 200,
    );
});
