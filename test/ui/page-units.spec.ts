// @tags core
import { describe, expect, test } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { toCurl, toFetch } from '../../ui/src/api/code.js';
import { alternatives } from '../../ui/src/api/groups.js';
import { Links } from '../../ui/src/api/links.js';
import { parseLinkHeader, toListPage } from '../../ui/src/api/page.js';
import { parseJson, writeJson } from '../../ui/src/api/parse-json.js';
import { readBody } from '../../ui/src/api/read-rows.js';
import { parentPath, withoutParameters, withParameters } from '../../ui/src/api/urls.js';
import { chooseLanguage } from '../../ui/src/messages/messages.js';
import { de } from '../../ui/src/messages/de.js';
import { en } from '../../ui/src/messages/en.js';
import { escapeText } from '../../ui/src/values/escape-text.js';
import { countBytes, formatDay, shorten } from '../../ui/src/values/format.js';
import { keyTextOf, labelOf } from '../../ui/src/values/label.js';
import { loadPageAssets } from '../../src/http/browsable/browsable-page.js';

const ORIGIN = 'http://host';
const LINKS = new Links({ index: '../../', root: '/rest/v1/' }, ORIGIN, '/proxy/rest/v1/polls/question/');

describe('URLs', () => {
  test('changed parameters keep the others, readable', () => {
    expect(withParameters('/a/?x=1&y=2&x=3', { y: 'or(b=1,c="2")', z: '' })).toBe(
      '/a/?x=1&y=or(b%3D1,c%3D%222%22)&x=3',
    );
    expect(withoutParameters('/a/?x=1&y=2', ['x', 'y'])).toBe('/a/');
  });

  test('the path above has a slash at its end', () => {
    expect([parentPath('/a/b/c/'), parentPath('/a'), parentPath('/')]).toEqual(['/a/b/', '/', undefined]);
  });

  test('links of the server become those of the page behind a proxy that adds a path', () => {
    expect(LINKS.toLocal('http://inner:3000/rest/v1/polls/choice/?page=2')).toBe(
      '/proxy/rest/v1/polls/choice/?page=2',
    );
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', 'http://[', '/elsewhere/', 'ftp://host/rest/v1/'])(
    '%s is no link',
    (url) => {
      expect(LINKS.toLocal(url)).toBeUndefined();
    },
  );
});

describe('the request as code', () => {
  const request = {
    url: "/a/?q=it's",
    headers: { Accept: 'application/json', Authorization: 'Basic c2VjcmV0' },
  };

  test('a command is quoted for a POSIX shell, and hides the credentials', () => {
    expect(toCurl(request, ORIGIN, false)).toBe(
      "curl \\\n  -H 'Accept: application/json' \\\n  -H 'Authorization: Basic …' \\\n  'http://host/a/?q=it'\\''s'",
    );
    expect(toCurl(request, ORIGIN, true)).toContain('c2VjcmV0');
  });

  test('a call of fetch has the same headers', () => {
    expect(toFetch(request, ORIGIN, false)).not.toContain('c2VjcmV0');
    expect(toFetch(request, ORIGIN, true)).toContain('"Authorization": "Basic c2VjcmV0"');
  });
});

describe('bodies', () => {
  const stream = (...pieces: readonly string[]): Response =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
          controller.close();
        },
      }),
    );

  test('a list is read up to the limit, whatever its texts contain and wherever it is cut', async () => {
    const rows = [{ a: '}]"\\' }, { b: [1, { c: 2 }] }, { d: 'é' }];
    const text = JSON.stringify(rows);
    for (let at = 1; at < text.length; at++) {
      const all = await readBody(stream(text.slice(0, at), text.slice(at)), 3);
      expect([all.value, all.cut]).toEqual([rows, false]);
      const some = await readBody(stream(text.slice(0, at), text.slice(at)), 2);
      expect([some.value, some.cut]).toEqual([rows.slice(0, 2), true]);
    }
  });

  test('an envelope and an error are read whole', async () => {
    expect((await readBody(stream('{"results":[{"a":1},{"a":2}]}'), 1)).value).toEqual({
      results: [{ a: 1 }, { a: 2 }],
    });
    expect((await readBody(stream('not JSON'), 1)).value).toBeUndefined();
  });

  test('numbers within the precision of JavaScript stay numbers', () => {
    expect(parseJson('[1, 1.50, 1e3, -0.1, 9007199254740991]')).toEqual([
      1, 1.5, 1000, -0.1, 9007199254740991,
    ]);
  });

  test('numbers are written as they were read', () => {
    const text = '[1, 1.50, 1e3, 12345678901234567890, {"a": -0}]';
    expect(writeJson(parseJson(text))).toBe(text.replaceAll(' ', ''));
  });

  test('links of a header and an envelope lead to pages', () => {
    expect([...parseLinkHeader('<http://x/a?page=2>; rel="next", <http://x/a>; rel=first')]).toEqual([
      ['next', 'http://x/a?page=2'],
      ['first', 'http://x/a'],
    ]);
    const pagination = { kind: 'page-number', parameters: [], rows: 'results' } as const;
    expect(
      toListPage(
        {
          value: { count: 7, next: 'http://x/rest/v1/a/?page=2', previous: null, results: [{ id: 1 }] },
          headers: new Headers(),
          pagination,
        },
        LINKS,
      ),
    ).toMatchObject({ rows: [{ id: 1 }], total: 7, next: '/proxy/rest/v1/a/?page=2', previous: undefined });
  });
});

describe('values', () => {
  test('invisible characters and those that change the direction are escapes', () => {
    expect(escapeText('a\u202Eb\u200Bc\u0000d\ne')).toBe('a‹U+202E›b‹U+200B›c‹U+0000›d\ne');
    expect(escapeText('Grüße, 日本, 👍')).toBe('Grüße, 日本, 👍');
  });

  test('long texts are cut between characters', () => {
    expect(shorten('👍'.repeat(90), 80)).toBe(`${'👍'.repeat(79)}…`);
    expect(shorten('short')).toBe('short');
  });

  test('days do not depend on the time zone, and other texts stay', () => {
    expect(formatDay('2026-03-01', 'en')).toBe('Mar 1, 2026');
    expect(formatDay('+012026-03-01', 'en')).toBe('+012026-03-01');
  });

  test('the bytes of base64', () => {
    expect(['', 'AA==', 'AAA=', 'AAAA'].map(countBytes)).toEqual([0, 1, 2, 3]);
  });

  test('keys are encoded, and labels follow the template', () => {
    const row = { a: 'x/y', b: 2, name: null };
    expect(keyTextOf(row, ['a', 'b'])).toBe('x%2Fy,2');
    expect(keyTextOf({ id: 'x%2Fy,2' }, ['id'], true)).toBe('x%2Fy,2');
    expect(keyTextOf(row, ['missing'])).toBeUndefined();
    expect(labelOf(row, { label: '{a}: {name}', key: ['b'] })).toBe('x/y:');
    expect(labelOf(row, { label: '{name}', key: ['b'] })).toBe('2');
  });

  test('alternatives are quoted where the syntax needs it', () => {
    expect(
      alternatives([
        { name: 'votes__gte', value: '3' },
        { name: 'text', value: 'A, "b"\\' },
      ]),
    ).toBe('or(votes__gte=3,text="A, \\"b\\"\\\\")');
  });
});

describe('languages', () => {
  test('the first one with a catalogue is chosen', () => {
    expect([chooseLanguage(['fr', 'de-AT', 'en']), chooseLanguage(['fr']), chooseLanguage([])]).toEqual([
      'de',
      'en',
      'en',
    ]);
  });

  test('all catalogues have the same names and the same values to insert', () => {
    const inserted = (text: string): readonly string[] =>
      [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();
    expect(Object.keys(de).sort()).toEqual(Object.keys(en).sort());
    for (const name of Object.keys(en) as (keyof typeof en)[]) {
      // The hint is an example of the syntax.
      if (name !== 'groupHint') expect([name, inserted(de[name])]).toEqual([name, inserted(en[name])]);
    }
  });
});

test('the script is at most 60 kB and the style at most 12 kB, compressed', async () => {
  const { script, style } = await loadPageAssets();
  expect(gzipSync(script.text).length).toBeLessThanOrEqual(60_000);
  expect(gzipSync(style.text).length).toBeLessThanOrEqual(12_000);
  expect(script.text).toContain('preact, MIT License');
  expect(script.text).not.toContain('sourceMappingURL');
});
