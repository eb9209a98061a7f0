// @tags nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { OpenApiOptions } from 'nestjs-restify';
import { apiDocument } from '../../sample-app/src/api-document.js';
import { AppModule } from '../../sample-app/src/app.module.js';
import { lintOpenApi } from '../support/lint-openapi.js';
import { resolveParameters } from './document.js';

describe('the document of the sample application', () => {
  let app: INestApplication;
  const before = process.env.DATABASE_URL;
  beforeAll(async () => {
    process.env.DATABASE_URL = 'sqlite::memory:';
    app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
  });
  afterAll(async () => {
    if (before === undefined) delete process.env.DATABASE_URL;
    else process.env.DATABASE_URL = before;
    await app.close();
  });

  test("is valid OpenAPI 3.1 without a finding of Redocly's recommended rules", async () => {
    const document = apiDocument(app);
    expect(document.openapi).toBe('3.1.0');
    expect(await lintOpenApi(document)).toEqual([]);
  });

  test('has the lookups that README.md and the hints of the browsable page mention', () => {
    const { parameters } = resolveParameters(apiDocument(app)).paths['/rest/v1/polls/choice']?.get as {
      readonly parameters: readonly { readonly name: string }[];
    };
    const names = parameters.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['votes', 'votes__gt', 'votes__gte', 'votes__lt', 'votes__lte']),
    );
  });

  test('lists OPTIONS of each URL only by option, which passes the linter', async () => {
    const listed = (options?: OpenApiOptions): readonly string[] => {
      const { paths } = apiDocument(app, options);
      return Object.keys(paths).filter((path) => paths[path]?.options !== undefined);
    };
    expect(listed()).toEqual([]);
    expect(listed({ listOptions: false })).toEqual([]);
    const document = apiDocument(app, { listOptions: true });
    const { paths } = resolveParameters(document);
    expect(listed({ listOptions: true })).toEqual(
      expect.arrayContaining(['/', '/rest/v1/polls/question', '/rest/v1/polls/question/{pk}/choices']),
    );
    expect(paths['/rest/v1/polls/question/{pk}']?.options).toMatchObject({
      parameters: [{ name: 'pk', in: 'path' }],
      responses: {
        200: {
          content: {
            'application/vnd.restify.description+json': {
              schema: { $ref: '#/components/schemas/RestifyRouteDescription' },
            },
          },
        },
      },
    });
    expect(await lintOpenApi(document)).toEqual([]);
  });

  test('is what the linter would find a mistake in', async () => {
    const { components, ...document } = apiDocument(app);
    const rules = (await lintOpenApi({ ...document, components: { ...components, schemas: {} } })).map(
      ({ ruleId }) => ruleId,
    );
    expect(rules).toContain('no-unresolved-refs');
  });

  test('is the same before the application has started as when it has', async () => {
    const early = apiDocument(app);
    await app.init();
    expect(apiDocument(app)).toEqual(early);
  });
});
