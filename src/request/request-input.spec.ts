import { describe, expect, test } from '@jest/globals';
import { isRestException } from '../core/errors/rest-exception.js';
import { readJsonObject } from './request-input.js';
import type { ReceivedBody } from './http-exchange.js';

const JSON_TYPE = 'application/json';
const NO_TYPE = null;

function text(body: string): ReceivedBody {
  return { kind: 'text', text: body };
}

/** What reading ends with: the object, or the answer of its error. */
function read(body: ReceivedBody, contentType: string | typeof NO_TYPE = JSON_TYPE): unknown {
  try {
    return readJsonObject(body, contentType ?? undefined);
  } catch (error) {
    if (isRestException(error)) return error.response;
    throw error;
  }
}

function nestedObjects(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}

function nestedLists(levels: number, innermost = '1'): string {
  return `${'['.repeat(levels)}${innermost}${']'.repeat(levels)}`;
}

const PARSE_ERROR = { status: 400, body: { detail: expect.stringMatching(/^JSON parse error - ./) } };
const TOO_DEEP = { status: 400, body: { detail: 'JSON parse error - nested too deeply' } };

describe('the media type', () => {
  test.each([
    'application/json',
    'Application/JSON',
    ' application/json ',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; charset=utf8',
    'application/json; CHARSET=utf-8',
    'application/json; version=1',
    'application/json;',
  ])('%j is JSON', (contentType) => {
    expect(read(text('{"a":1}'), contentType)).toEqual({ a: 1 });
  });

  test.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/vnd.api+json',
    'application/jsonp',
    'application/json-patch+json',
    'application',
    '*/*',
    '',
    'application/json, text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset="iso-8859-1"',
  ])('%j is refused by its name', (contentType) => {
    expect(read(text('{"a":1}'), contentType)).toEqual({
      status: 415,
      body: { detail: `Unsupported media type "${contentType}" in request.` },
    });
  });

  test('none is refused', () => {
    expect(read(text('{}'), NO_TYPE)).toEqual({
      status: 415,
      body: { detail: 'Unsupported media type "" in request.' },
    });
  });

  test('of a charset or encoding that the HTTP layer could not read is refused', () => {
    expect(read({ kind: 'unsupported' })).toEqual({
      status: 415,
      body: { detail: 'Unsupported media type "application/json" in request.' },
    });
  });

  test('is not sent back whole when it is long', () => {
    expect(read(text('{}'), 'x'.repeat(100_000))).toEqual({
      status: 415,
      body: { detail: `Unsupported media type "${'x'.repeat(200)}" in request.` },
    });
  });
});

describe('the order of errors', () => {
  test.each<[name: string, body: ReceivedBody, contentType: string]>([
    ['media type', { kind: 'too-large' }, 'text/plain'],
    ['all else', { kind: 'too-large' }, JSON_TYPE],
  ])('is size before %s', (_name, body, contentType) => {
    expect(read(body, contentType)).toMatchObject({ status: 413 });
  });

  test.each<[name: string, body: ReceivedBody, contentType: string]>([
    ['before JSON', text('{'), 'text/plain'],
    ['before the kind of value', text('[]'), 'text/plain'],
    ['before a body that could not be read', { kind: 'broken', reason: 'x' }, 'text/plain'],
    [
      'of a value that another parser has returned',
      { kind: 'value', value: { a: 1 } },
      'application/x-www-form-urlencoded',
    ],
  ])('is media type %s', (_name, body, contentType) => {
    expect(read(body, contentType)).toMatchObject({ status: 415 });
  });

  test('has nothing for no body, whatever its media type', () => {
    expect([
      read({ kind: 'none' }),
      read({ kind: 'none' }, 'text/plain'),
      read({ kind: 'none' }, NO_TYPE),
    ]).toEqual([{}, {}, {}]);
  });
});

describe('a body of text', () => {
  test.each<[body: string, object: unknown]>([
    ['', {}],
    ['{}', {}],
    [' \r\n\t{"a": 1} ', { a: 1 }],
    ['{"a":1,"b":2,"a":3}', { a: 3, b: 2 }],
    ['{"a":"\\u0000"}', { a: '\u0000' }],
    ['{"":1}', { '': 1 }],
    ['{"a":[1.5,"b",null,true,{}]}', { a: [1.5, 'b', null, true, {}] }],
    ['{"\\u0061":1}', { a: 1 }],
    ['{"a":1e400}', { a: Number.POSITIVE_INFINITY }],
  ])('%j is %j', (body, object) => {
    expect(read(text(body))).toEqual(object);
  });

  test('has a member called __proto__ like any other', () => {
    const object = readJsonObject(text('{"__proto__":{"admin":true},"constructor":1}'), JSON_TYPE);
    expect(Object.keys(object)).toEqual(['__proto__', 'constructor']);
    expect((object as { admin?: unknown }).admin).toBeUndefined();
  });

  test.each([
    '{',
    '}',
    '{"a":1',
    '{"a":1,}',
    "{'a':1}",
    '{a:1}',
    '{"a":1}{"b":2}',
    '{"a":1} x',
    '[1,2',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":-Infinity}',
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":5.}',
    '{"a":0x10}',
    '{"a":1_000}',
    '{"a":"b\nc"}',
    '{"a":"\\x41"}',
    '{"a":"\\u00"}',
    '{"a":undefined}',
    '{"a":True}',
    '{"a":None}',
    '// {}',
    '{"a":1 /* b */}',
    'a=1',
    '<a/>',
    'nul',
    '"a',
    '-',
    '\ufeff{}',
    '{}\u0000',
    '\u0000',
    '\u00a0{}',
  ])('%j is no JSON', (body) => {
    expect(read(text(body))).toEqual(PARSE_ERROR);
  });

  test.each([' ', '\r\n\t ', '\u00a0', '\ufeff'])('%j is a body, and no JSON', (body) => {
    expect(read(text(body))).toEqual(PARSE_ERROR);
  });

  test('that is no JSON is not sent back whole', () => {
    const { body } = read(text(`{"a":${'x'.repeat(1_000_000)}`)) as { body: { detail: string } };
    expect(body.detail.length).toBeLessThan(300);
  });

  test.each<[body: string, type: string]>([
    ['[]', 'list'],
    ['[{"a":1}]', 'list'],
    ['"a"', 'str'],
    ['""', 'str'],
    ['5', 'int'],
    ['-0', 'int'],
    ['1.5', 'float'],
    ['true', 'bool'],
    ['false', 'bool'],
  ])('%s is no object', (body, type) => {
    expect(read(text(body))).toEqual({
      status: 400,
      body: { non_field_errors: [`Invalid data. Expected a dictionary, but got ${type}.`] },
    });
  });

  test('of null has no data', () => {
    expect(read(text('null'))).toEqual({ status: 400, body: { non_field_errors: ['No data provided'] } });
  });
});

describe('a body that the HTTP layer has parsed', () => {
  test('is judged as a text is', () => {
    expect(read({ kind: 'value', value: { a: 1 } })).toEqual({ a: 1 });
    expect(read({ kind: 'value', value: null })).toMatchObject({
      body: { non_field_errors: ['No data provided'] },
    });
    expect(read({ kind: 'value', value: [] })).toMatchObject({
      body: { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] },
    });
    expect(read({ kind: 'value', value: JSON.parse(nestedObjects(102)) })).toEqual(TOO_DEEP);
  });

  test('or failed to read is no JSON', () => {
    expect(read({ kind: 'broken', reason: 'the body could not be read' })).toEqual({
      status: 400,
      body: { detail: 'JSON parse error - the body could not be read' },
    });
  });
});

describe('depth', () => {
  test.each<[name: string, body: string]>([
    ['objects', nestedObjects(100)],
    ['lists in an object', `{"a":${nestedLists(99)}}`],
    ['braces inside of a text', `{"a":"${'{['.repeat(10_000)}"}`],
    ['many members', `{"a":[${'{},'.repeat(100_000)}{}]}`],
  ])('of a hundred levels is taken: %s', (_name, body) => {
    expect(read(text(body))).toEqual(JSON.parse(body));
  });

  test.each<[name: string, body: string]>([
    ['objects', nestedObjects(102)],
    ['lists in an object', `{"a":${nestedLists(101)}}`],
    ['empty lists', `{"a":${nestedLists(101, '')}}`],
    ['beside what is flat', `{"b":[],"a":${nestedLists(101)},"c":{}}`],
    ['a list alone', nestedLists(102)],
    ['objects of a hundred thousand levels', nestedObjects(100_000)],
    ['lists of a million levels', nestedLists(1_000_000, '')],
  ])('of more is refused: %s', (_name, body) => {
    expect(read(text(body))).toEqual(TOO_DEEP);
  });

  test('of brackets that never close is no JSON', () => {
    expect(read(text('['.repeat(1_000_000)))).toEqual(PARSE_ERROR);
    expect(read(text('{"a":'.repeat(200_000)))).toEqual(PARSE_ERROR);
  });
});
