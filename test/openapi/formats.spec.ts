// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CsvRenderer, NdjsonRenderer, Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { lintOpenApi } from '../support/lint-openapi.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { documentOf, parametersOf } from './document.js';
import type { PlainDocument } from './document.js';

@Restify({ app: 'forms', renderers: [new CsvRenderer(), new NdjsonRenderer()] })
@Entity()
class Formed {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

describe('forms beside JSON', () => {
  let started: StartedApp;
  let document: PlainDocument;
  beforeAll(async () => {
    started = await startApp({ entities: [Formed], restify: { errorFormat: 'problem' } });
    document = documentOf(started.app);
  });
  afterAll(() => started.close());

  test('are media types of what is read, and a parameter', () => {
    const [list, object] = [
      document.paths['/rest/v1/forms/formed'],
      document.paths['/rest/v1/forms/formed/{pk}'],
    ];
    for (const operation of [list?.get, object?.get]) {
      expect(Object.keys((operation?.responses['200'] as { content: object }).content)).toEqual([
        'application/json',
        'text/csv',
        'application/x-ndjson',
      ]);
      expect(operation && parametersOf(operation, 'query')).toMatchObject({
        format: { type: 'string', enum: ['json', 'csv', 'ndjson'] },
      });
      expect(operation?.responses).toHaveProperty('404');
    }
    expect(Object.keys((list?.post?.responses['201'] as { content: object }).content)).toEqual([
      'application/json',
    ]);
  });

  test('of errors are problem details where the prefix has that format', () => {
    expect(document.paths['/rest/v1/forms/formed']?.post?.responses['400']).toEqual({
      $ref: '#/components/responses/RestifyInvalidInputProblem',
    });
    expect(document.components.responses?.RestifyInvalidInputProblem).toMatchObject({
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/RestifyProblem' } } },
    });
    expect(
      Object.keys(document.components.responses ?? {}).filter((name) => !name.endsWith('Problem')),
    ).toEqual([]);
  });

  test('are what is answered', async () => {
    await started.client.post('/rest/v1/forms/formed/', { name: 'one' });
    for (const path of ['', '?format=csv', '1/?format=ndjson', '?format=none', '9/'])
      await started.client.get(`/rest/v1/forms/formed/${path}`);
    expect((await started.client.post('/rest/v1/forms/formed/', {})).status).toBe(400);
  });

  test("are valid by Redocly's recommended rules", async () => {
    expect(await lintOpenApi({ ...document, security: [] })).toEqual([]);
  });
});
