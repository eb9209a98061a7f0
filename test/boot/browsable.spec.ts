// @tags nest
import { describe, expect, test } from '@jest/globals';
import type { RestifyModuleOptions } from 'nestjs-restify';
import { declareUnchecked, entityOf, problemsOf } from './refused-start.js';

const WHERE = "RestifyModule.forRoot('rest/v1').browsable";

describe('the option browsable', () => {
  test.each([
    ['yes', `${WHERE}: it is neither a boolean nor an object. Use true, or an object of options.`],
    [null, `${WHERE}: it is neither a boolean nor an object. Use true, or an object of options.`],
    [{ heders: {} }, `${WHERE}.heders: "heders" is not an option of the page. Did you mean "headers"?`],
    [
      { headers: { 'X Y': '1' } },
      `${WHERE}.headers.X Y: it is not a header with a text value. Use names and values of headers, such as { 'X-API-Version': '2' }.`,
    ],
    [
      { headers: { 'X-Version': 2 } },
      `${WHERE}.headers.X-Version: it is not a header with a text value. Use names and values of headers, such as { 'X-API-Version': '2' }.`,
    ],
    [{ login: { cookie: 'yes' } }, `${WHERE}.login.cookie: it is not a boolean. Use true or false.`],
    [
      { login: { loginUrl: 'javascript:alert(1)' } },
      `${WHERE}.login.loginUrl: it is neither a path nor a URL. Use a path such as '/login', or a URL that begins with https://.`,
    ],
    [
      { documents: { ui: '//elsewhere' } },
      `${WHERE}.documents.ui: it is neither a path nor a URL. Use a path such as '/login', or a URL that begins with https://.`,
    ],
    [
      { login: { csrf: { cookie: 'csrf' } } },
      `${WHERE}.login.csrf.header: it is missing. Name both the cookie and the header.`,
    ],
    [
      { login: { csrf: { cookie: 'a;b', header: 'X-CSRF' } } },
      `${WHERE}.login.csrf.cookie: it is not the name of a cookie. Use a name such as 'csrf-token'.`,
    ],
    [
      { messages: { 'fr-CH': {} } },
      `${WHERE}.messages.fr-CH: it is not a language. Use a code of two or three letters, such as 'fr'.`,
    ],
    [{ messages: { fr: 'Titre' } }, `${WHERE}.messages.fr: it is not an object. Use an object of options.`],
    [{ messages: { fr: { title: 1 } } }, `${WHERE}.messages.fr.title: it is not a text. Use a string.`],
  ])('%j prevents the start', async (browsable, line) => {
    const restify = { browsable } as unknown as RestifyModuleOptions;
    expect(await problemsOf({ entities: [], restify })).toEqual([line]);
  });
});

describe('the option label', () => {
  test.each([
    ['titel', 'Labelled.label: "titel" is not a readable field. Did you mean "title"?'],
    ['{title} {nme}', 'Labelled.label: "nme" is not a readable field. Did you mean "name"?'],
    [
      '{title',
      'Labelled.label: "{title" is not a template. Use the name of a field, or names in braces: \'{first_name} {last_name}\'.',
    ],
    ['{title} {}', 'Labelled.label: "" is not a readable field. Did you mean "id"?'],
    [7, 'Labelled.label: 7 is not a name. Write a text, or leave the option out.'],
  ])('%j prevents the start', async (label, line) => {
    const entity = entityOf('Labelled', ['title', 'name', 'hidden']);
    declareUnchecked(entity, { app: 'lab', label, writeOnly: ['hidden'] });
    expect(await problemsOf({ entities: [entity] })).toEqual([line]);
  });

  test('a hidden field is reported, because the label would disclose it', async () => {
    const entity = entityOf('Labelled', ['title', 'hidden']);
    declareUnchecked(entity, { app: 'lab', label: '{title} {hidden}', writeOnly: ['hidden'] });
    expect(await problemsOf({ entities: [entity] })).toEqual([
      expect.stringContaining('Labelled.label: "hidden" is not a readable field.'),
    ]);
  });
});
