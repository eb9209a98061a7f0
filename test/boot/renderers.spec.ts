// @tags nest
import { describe, expect, test } from '@jest/globals';
import { CsvRenderer, NdjsonRenderer, PageNumberPagination, restify } from 'nestjs-restify';
import { declareUnchecked, entityOf, problemsOf } from './refused-start.js';

const NONE =
  'this is not a renderer. Write renderers: [new CsvRenderer(), new NdjsonRenderer()], or objects of your own with format, mediaType and render.';
const render = (): undefined => undefined;

describe('renderers refuse to start', () => {
  test.each([
    ['a class', [CsvRenderer], [`Leaf.renderers[0]: ${NONE}`]],
    ['no list', new CsvRenderer(), [`Leaf.renderers: ${NONE}`]],
    ['a name', ['csv'], [`Leaf.renderers[0]: ${NONE}`]],
    [
      'one twice',
      [new CsvRenderer(), new CsvRenderer()],
      [
        'Leaf.renderers[1]: its format "csv" is not an unused name. Give it letters and digits that no other renderer has; "json" is taken.',
        'Leaf.renderers[1]: its mediaType "text/csv" is not an unused media type. Give it a media type in lower case, without parameters, that no other renderer has: text/csv.',
      ],
    ],
    [
      'JSON',
      [{ format: 'json', mediaType: 'application/json', render }],
      [
        'Leaf.renderers[0]: its format "json" is not an unused name. Give it letters and digits that no other renderer has; "json" is taken.',
        'Leaf.renderers[0]: its mediaType "application/json" is not an unused media type. Give it a media type in lower case, without parameters, that no other renderer has: text/csv.',
      ],
    ],
    [
      'a type with parameters',
      [{ format: 'x', mediaType: 'text/x; charset=utf-8', render }],
      [
        'Leaf.renderers[0]: its mediaType "text/x; charset=utf-8" is not an unused media type. Give it a media type in lower case, without parameters, that no other renderer has: text/csv.',
      ],
    ],
  ])('with %s', async (_, renderers, problems) => {
    const Leaf = entityOf('Leaf');
    declareUnchecked(Leaf, { app: 'boot', renderers });
    expect(await problemsOf({ entities: [Leaf] })).toEqual(problems);
  });

  test('and not for a model that has a field "format"', async () => {
    const Pen = entityOf('Pen', ['format']);
    restify(Pen, { app: 'boot' });
    await expect(
      problemsOf({ entities: [Pen], restify: { renderers: [new NdjsonRenderer()] } }),
    ).rejects.toThrow('The application has started.');
  });

  test('where a pagination reads "format"', async () => {
    const Nib = entityOf('Nib');
    restify(Nib, {
      app: 'boot',
      renderers: [new CsvRenderer()],
      pagination: new PageNumberPagination({ pageParameter: 'format' }),
    });
    expect(await problemsOf({ entities: [Nib] })).toEqual([
      'Nib.renderers: the query parameter "format" is already used for something else. Give the filter backend or the pagination another parameter, or the model renderers: [].',
    ]);
  });

  test('an error format that there is not', async () => {
    const Cap = entityOf('Cap');
    restify(Cap, { app: 'boot' });
    expect(await problemsOf({ entities: [Cap], restify: { errorFormat: 'xml' as never } })).toEqual([
      `RestifyModule.forRoot('rest/v1').errorFormat: there is no error format "xml". Write 'drf' or 'problem'.`,
    ]);
  });
});
