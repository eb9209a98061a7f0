// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify, RestifyOpenApi } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { lintOpenApi } from '../support/lint-openapi.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { documentOf, resolveParameters } from './document.js';

@Restify({ app: 'shared', filterFields: { name: ['exact'] }, orderingFields: ['name'], searchFields: [] })
@Entity('shared_owner')
class Owner {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @OneToMany(() => Item, (item) => item.owner)
  items: Relation<Item[]>;
}

@Restify({
  app: 'shared',
  filterFields: { name: ['exact'], size: ['gte'] },
  orderingFields: [],
  searchFields: [],
})
@Entity('shared_item')
class Item {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @Column()
  size: number;

  @ManyToOne(() => Owner, (owner) => owner.items)
  owner: Relation<Owner>;
}

interface SharedDocument {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly parameters: readonly object[] }>>>
  >;
  readonly components: { readonly parameters: Readonly<Record<string, object>> };
}

const GIVEN = { openapi: '3.1.0', info: { title: 'Shared', version: '1' } };

describe('parameters of several operations', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Owner, Item] });
  });
  afterAll(() => started.close());

  function extended(given: object = {}): SharedDocument {
    return started.app
      .get(RestifyOpenApi)
      .extend({ ...GIVEN, paths: {}, ...given }) as unknown as SharedDocument;
  }

  test('are components: named after the model if no other has them, else after themselves', () => {
    const { paths, components } = extended();
    expect(paths['/rest/v1/shared/item']?.get?.parameters).toEqual([
      { $ref: '#/components/parameters/QueryName' },
      { $ref: '#/components/parameters/QuerySizeGte' },
    ]);
    expect(paths['/rest/v1/shared/item/{pk}']?.put?.parameters).toEqual([
      { $ref: '#/components/parameters/SharedItemPathPk' },
    ]);
    expect(Object.keys(components.parameters).sort()).toEqual([
      'QueryName',
      'QuerySizeGte',
      'SharedItemPathPk',
      'SharedOwnerPathPk',
    ]);
    expect(components.parameters.SharedItemPathPk).toMatchObject({ name: 'pk', in: 'path', required: true });
  });

  test('of one operation are in it', () => {
    const { parameters = [] } = extended().paths['/rest/v1/shared/owner']?.get ?? {};
    expect(parameters).toEqual([
      { $ref: '#/components/parameters/QueryName' },
      expect.objectContaining({ name: 'ordering', in: 'query' }),
    ]);
  });

  test('keep the names of parameters that the application has', () => {
    const own = { name: 'own', in: 'query', schema: {} };
    const { components, paths } = extended({ components: { parameters: { queryname: own } } });
    expect(components.parameters.queryname).toEqual(own);
    expect(paths['/rest/v1/shared/item']?.get?.parameters[0]).toEqual({
      $ref: '#/components/parameters/QueryName2',
    });
  });

  test('are those of the operations, as the linter accepts them', async () => {
    const document = extended();
    const problems = await lintOpenApi({ ...document, security: [] });
    expect(problems.filter(({ ruleId }) => /ref|param|unused|struct/.test(ruleId))).toEqual([]);
    expect(JSON.stringify(resolveParameters(document).paths)).not.toContain('/components/parameters/');
    expect(resolveParameters(document).paths).toEqual(documentOf(started.app).paths);
  });
});

describe('the document as bytes', () => {
  const MODELS = 60;
  let started: StartedApp;
  beforeAll(async () => {
    const entities = Array.from({ length: MODELS }, (_, at) => {
      // eslint-disable-next-line @typescript-eslint/no-extraneous-class -- its columns are declared in a loop
      const model = class {};
      Object.defineProperty(model, 'name', { value: `Part${at}` });
      PrimaryGeneratedColumn()(model.prototype, 'id');
      for (const name of ['name', 'note', 'title']) Column({ type: 'varchar' })(model.prototype, name);
      Entity(`part_${at}`)(model);
      Restify('bytes')(model);
      return model;
    });
    started = await startApp({ entities });
  });
  afterAll(() => started.close());

  test('is the JSON of the extended document, built once, in several turns of the event loop', async () => {
    const openApi = started.app.get(RestifyOpenApi);
    let created = 0;
    const create = (): typeof GIVEN & { readonly paths: object } => {
      created++;
      return { ...GIVEN, paths: {} };
    };
    const json = openApi.jsonOf(create);
    expect(created).toBe(0);
    // Each part of the work takes a millisecond of this clock, so that the number of turns does not depend on the machine.
    let clock = performance.now();
    Object.defineProperty(performance, 'now', { value: () => clock++, configurable: true });
    const bytes = json();
    const isBuilt = bytes.then(() => true);
    const nextTurn = (): Promise<boolean> => new Promise((resolve) => setImmediate(resolve, false));
    let turns = 0;
    while (!(await Promise.race([isBuilt, nextTurn()]))) turns++;
    Reflect.deleteProperty(performance, 'now');
    expect(turns).toBeGreaterThan(2);
    expect((await bytes).toString()).toBe(JSON.stringify(openApi.extend({ ...GIVEN, paths: {} })));
    expect(await json()).toBe(await bytes);
    expect(created).toBe(1);
  });

  test('is built again after an error', async () => {
    let attempts = 0;
    const json = started.app.get(RestifyOpenApi).jsonOf(() => {
      attempts++;
      if (attempts === 1) throw new Error('not yet');
      return { ...GIVEN, paths: {} };
    });
    await expect(json()).rejects.toThrow('not yet');
    expect(JSON.parse((await json()).toString())).toMatchObject({ openapi: '3.1.0' });
  });
});
