// @tags nest
import { inspect } from 'node:util';
import { Injectable, Scope } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { describe, expect, test } from '@jest/globals';
import { allow, FieldFilter, PageNumberPagination, RestifyModule } from 'nestjs-restify';
import type { DeclarationError, Grant } from 'nestjs-restify';
import { declareUnchecked, entityOf, linesOf, problemsOf, refusal } from './refused-start.js';
import { memory, rootModule } from './start-modules.js';

type Options = Readonly<Record<string, unknown>>;

const ROOT = "RestifyModule.forRoot('rest/v1')";
const UNKNOWN = /^\w+\.filterFields\[0\]: "titel" is not a readable field/;

/** An entity with a title, and options of plain JavaScript. */
function modelOf(name: string, options: Options): new () => object {
  const made = entityOf(name, ['title']);
  declareUnchecked(made, { app: 'once', ...options });
  return made;
}

async function refusedLines(
  models: readonly (new () => object)[],
  restify: Options,
): Promise<readonly string[]> {
  return problemsOf({ entities: [...models], restify });
}

describe('mistakes in forRoot and in @Restify are one error', () => {
  test('of an unknown option and an unknown field', async () => {
    const lines = await refusedLines([modelOf('OnceA', { filterFields: ['titel'] })], { permision: [] });
    expect(lines).toEqual([expect.stringContaining(`${ROOT}.permision: `), expect.stringMatching(UNKNOWN)]);
  });

  test('of a value of the wrong type and an unknown field, in two models and in one', async () => {
    const lines = await refusedLines(
      [
        modelOf('OnceB', { filterFields: ['titel'], strict: 'yes' }),
        modelOf('OnceC', { filterFields: ['titel'] }),
      ],
      { pagination: 7 },
    );
    expect(lines).toEqual([
      expect.stringContaining(`${ROOT}.pagination: `),
      expect.stringContaining('OnceB.strict: '),
      expect.stringMatching(UNKNOWN),
      expect.stringMatching(UNKNOWN),
    ]);
  });

  test('of classes without an instance and an unknown field', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest extends FieldFilter {}
    @Injectable({ scope: Scope.REQUEST })
    class OnceAllowed {
      decide(): Grant {
        return allow();
      }
    }
    const lines = await refusedLines([modelOf('OnceD', { filterFields: ['titel'] })], {
      filterBackends: [PerRequest],
      permissions: [OnceAllowed],
    });
    expect(lines).toEqual([
      expect.stringContaining('PerRequest: it is created for each request'),
      expect.stringContaining('OnceAllowed: it is created for each request'),
      expect.stringMatching(UNKNOWN),
    ]);
  });
});

describe('beside an option of the wrong type, nothing is reported that depends on it', () => {
  test.each([
    ['computed fields', { computed: 7, fields: ['id', 'total'] }, {}],
    ['the app label', { app: 7 }, {}],
    ['declared filters', { filterFields: 'title', filters: { title: {} } }, {}],
    ['renamed parameters', { parameters: { page: 'p' } }, { pagination: PageNumberPagination }],
  ])('%s', async (_, options, restify) => {
    expect(await refusedLines([modelOf('OnceE', options)], restify)).toHaveLength(1);
  });
});

test('an error of the start is printed once', async () => {
  const model = modelOf('OnceF', { filterFields: ['titel'] });
  const printed: string[] = [];
  const silent = (): void => undefined;
  const print = (...given: readonly unknown[]): void => {
    printed.push(given.map((each) => (typeof each === 'string' ? each : inspect(each))).join(' '));
  };
  const root = rootModule({ imports: [memory([model]), RestifyModule.forRoot('rest/v1')] });
  const error: unknown = await NestFactory.create(root, {
    abortOnError: false,
    logger: { log: silent, warn: silent, error: print },
  }).catch((each: unknown) => each);
  expect(printed.join('\n').split('"titel" is not a readable field')).toHaveLength(2);
  expect(inspect(error).split('"titel" is not a readable field')).toHaveLength(2);
  expect(linesOf(error as DeclarationError)).toEqual([expect.stringMatching(UNKNOWN)]);
  expect((await refusal({ entities: [model] })).problems).toHaveLength(1);
});
