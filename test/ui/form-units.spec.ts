// @tags core
import { describe, expect, test } from '@jest/globals';
import type { RouteDescription } from '../../src/core/contracts/route-description.js';
import { toCurl, toFetch } from '../../ui/src/api/code.js';
import { exactMember, parseJson, writeJson } from '../../ui/src/api/parse-json.js';
import { filteredUrl, selectedUrl } from '../../ui/src/forms/bulk-url.js';
import { DraftError, toBody, toDraft } from '../../ui/src/forms/draft.js';
import type { Children } from '../../ui/src/forms/children.js';
import type { FieldDraft } from '../../ui/src/forms/draft.js';
import { toFormErrors } from '../../ui/src/forms/field-errors.js';
import { specsOf } from '../../ui/src/forms/field-spec.js';
import type { FieldSpec } from '../../ui/src/forms/field-spec.js';
import { readBase64 } from '../../ui/src/forms/read-base64.js';
import { fromLocalInput, toLocalInput } from '../../ui/src/values/local-time.js';

function spec(kind: FieldSpec['kind'], more: Partial<FieldSpec> = {}): FieldSpec {
  return { name: 'f', label: 'F', kind, required: false, readOnly: false, nullable: true, ...more };
}

function valueOf(draft: FieldDraft, field: FieldSpec): unknown {
  return toBody({ f: draft }, [field]).f;
}

const CHILD: Children = {
  model: 'Line',
  isOne: false,
  isNew: false,
  create: [spec('integer', { name: 'amount' }), spec('json', { name: 'extra' })],
  update: [spec('integer', { name: 'amount' })],
  deletes: true,
  rows: [
    { key: '4', named: { id: 4 }, label: 'four', row: { id: 4 } },
    { key: '7', named: { id: 7 }, label: 'seven', row: { id: 7 } },
    { key: 'a,b', named: { a: 'a', b: 'b' }, label: 'both', row: {} },
  ],
};

describe('objects in bodies', () => {
  const many = spec('json', { nested: CHILD });
  const created = spec('json', { nested: { ...CHILD, isNew: true } });
  const one = spec('json', { nested: { ...CHILD, isOne: true } });

  test('those that were touched, by verb', () => {
    const drafts = {
      create: { 0: { amount: '1' }, 2: {} },
      update: { 7: { amount: '5' }, 4: {} },
      delete: { 'a,b': true, 4: true },
    };
    expect(valueOf(drafts, many)).toEqual({
      create: [{ amount: 1 }, {}],
      update: [{ id: 7, amount: 5 }],
      delete: [4, 'a,b'],
    });
    expect(valueOf(drafts, created)).toEqual([{ amount: 1 }, {}]);
    expect(toBody({ f: { update: { 4: {} } } }, [many])).toEqual({});
    expect(toBody({ f: null }, [created])).toEqual({});
  });

  test('of a one-to-one a verb, without its key', () => {
    expect(valueOf({ update: { 4: { amount: '2' } } }, one)).toEqual({ update: { amount: 2 } });
    expect(valueOf({ create: { 0: { amount: '2' } } }, one)).toEqual({ create: { amount: 2 } });
    expect(valueOf({ delete: { 4: true } }, one)).toEqual({ delete: true });
    const fresh = spec('json', { nested: { ...CHILD, isOne: true, isNew: true } });
    expect(valueOf({ create: { 0: { amount: '2' } } }, fresh)).toEqual({ amount: 2 });
  });

  test('messages go to the field of the child, also if others were removed from the form before', () => {
    const drafts = { create: { 1: { amount: 'x' }, 4: {} }, update: { 4: {}, 7: { amount: 'y' } } };
    const value = {
      f: {
        create: [{}, { amount: ['A.'], gone: ['B.'] }],
        update: [{ amount: ['C.'] }],
        delete: ['Item 0: D.'],
      },
      g: ['E.'],
    };
    expect(toFormErrors(value, [many], { f: drafts })).toEqual({
      fields: {
        'f.create.4.amount': ['A.'],
        'f.create.4': ['gone: B.'],
        'f.update.7.amount': ['C.'],
        f: ['Item 0: D.'],
      },
      general: ['g: E.'],
    });
    expect(toFormErrors({ f: [{ amount: ['A.'] }] }, [created], { f: drafts }).fields).toEqual({
      'f.create.1.amount': ['A.'],
    });
    expect(
      toFormErrors({ f: { update: { amount: ['A.'] } } }, [one], { f: { update: { 4: { amount: 'x' } } } })
        .fields,
    ).toEqual({ 'f.update.4.amount': ['A.'] });
    expect(toFormErrors({ f: ['A.'] }, [many], {}).fields).toEqual({ f: ['A.'] });
  });

  test('a wrong text is named by its place', () => {
    let found: unknown;
    try {
      valueOf({ create: { 3: { extra: '{' } } }, many);
    } catch (error) {
      found = error;
    }
    expect(found).toMatchObject({ field: 'f.create.3.extra' });
  });
});

describe('what was typed becomes a value', () => {
  test.each<[kind: FieldSpec['kind'], typed: FieldDraft, value: unknown]>([
    ['string', '', ''],
    ['string', ' a ', ' a '],
    ['string', null, null],
    ['integer', '12', 12],
    ['integer', '', null],
    ['integer', '9007199254740993', '9007199254740993'],
    ['integer', '1x', '1x'],
    ['float', '1.5e3', 1500],
    ['bigint', '9007199254740993', '9007199254740993'],
    ['decimal', '0.10', '0.10'],
    ['boolean', false, false],
    ['boolean', null, null],
    ['date', '2026-02-28', '2026-02-28'],
    ['json', '{"a": [1, null]}', { a: [1, null] }],
    ['json', 'null', null],
    ['json', '', null],
    ['list', '["a"]', ['a']],
    ['set', ['a', 'b'], ['a', 'b']],
    ['to-one', '7', '7'],
    ['to-one', '', null],
  ])('%s: %j is %j', (kind, typed, value) => {
    expect(valueOf(typed, spec(kind))).toEqual(value);
  });

  test('an empty input of a field that cannot be null is left to the server', () => {
    expect(valueOf('', spec('integer', { nullable: false }))).toBe('');
  });

  test('an enumeration keeps the type of its values', () => {
    const choices = [{ value: 1, display_name: 'one' }];
    expect(valueOf('1', spec('enum', { choices }))).toBe(1);
  });

  test.each(['{"a":12345678901234567890,"b":[0.1,1.0]}', '12345678901234567890', '1.0'])(
    'numbers in JSON keep their digits: %s',
    (given) => {
      expect(writeJson({ f: valueOf(given, spec('json')) })).toBe(`{"f":${given}}`);
      const row = parseJson(`{"f":${given}}`) as object;
      const shown = toDraft(exactMember(row, 'f'), spec('json'));
      expect(writeJson({ f: valueOf(shown, spec('json')) })).toBe(`{"f":${given}}`);
    },
  );

  test('JSON that is none is reported at its field', () => {
    expect(() => valueOf('{', spec('json'))).toThrow(DraftError);
  });

  test('read-only and untouched fields are not sent', () => {
    expect(toBody({ f: 'a' }, [spec('string', { readOnly: true })])).toEqual({});
    expect(toBody({}, [spec('string')])).toEqual({});
  });

  test('keys that were added and removed, and all keys of a new object', () => {
    const keys = spec('keys');
    expect(toBody({ f: ['2', '3'] }, [keys], { f: ['1', '2'] })).toEqual({
      f: { add: ['3'], remove: ['1'] },
    });
    expect(toBody({ f: ['2'] }, [keys])).toEqual({ f: ['2'] });
    expect(toBody({ f: ['a'] }, [spec('set')], { f: ['b'] })).toEqual({ f: ['a'] });
  });

  test('embedded objects are sent whole, in their own types', () => {
    const address = spec('embedded', {
      children: [
        { ...spec('integer'), name: 'number' },
        { ...spec('string'), name: 'street' },
      ],
    });
    expect(valueOf({ number: '7', street: '' }, address)).toEqual({ number: 7, street: '' });
    expect(toDraft({ number: 7, street: null }, address)).toEqual({ number: '7', street: null });
  });

  test('every value of a body comes back as it was', () => {
    for (const [kind, value] of [
      ['string', 'a'],
      ['string', ''],
      ['string', null],
      ['integer', -7],
      ['boolean', true],
      ['json', { a: ['ä', 1.5] }],
      ['set', ['x']],
      ['datetime', '2026-06-01T10:30:15.250Z'],
      ['datetime', '2026-06-01T10:30:15.000Z'],
    ] as const)
      expect(valueOf(toDraft(value, spec(kind)), spec(kind))).toEqual(value);
  });
});

test('local times and instants', () => {
  expect(fromLocalInput(toLocalInput('2026-03-29T01:30:00.000Z'))).toBe('2026-03-29T01:30:00.000Z');
  expect([toLocalInput(''), toLocalInput('none'), fromLocalInput('none')]).toEqual(['', '', '']);
});

test('a file becomes base64, however large', async () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 256);
  expect(await readBase64(new Blob([bytes]))).toBe(Buffer.from(bytes).toString('base64'));
  expect(await readBase64(new Blob([]))).toBe('');
});

describe('the messages of an error', () => {
  const specs = [
    { ...spec('string'), name: 'title' },
    { ...spec('embedded'), name: 'address', children: [{ ...spec('string'), name: 'city' }] },
    { ...spec('string'), name: 'detail' },
  ];

  test('belong to their fields, and the rest to the form', () => {
    const value = { title: ['a', 'b'], address: { city: ['c'] }, non_field_errors: ['d'], other: ['e'] };
    expect(toFormErrors(value, specs)).toEqual({
      fields: { title: ['a', 'b'], 'address.city': ['c'] },
      general: ['d', 'other: e'],
    });
  });

  test('are found in problem details', () => {
    const value = { type: 'about:blank', title: 'Bad Request', status: 400, errors: { title: ['a'] } };
    expect(toFormErrors(value, specs)).toEqual({ fields: { title: ['a'] }, general: [] });
    expect(toFormErrors({ title: 'Conflict', detail: 'No.' }, [])).toEqual({ fields: {}, general: ['No.'] });
  });
});

test('the fields of a form are those of the method, with what the caller may read of them', () => {
  const description = {
    fields: {
      id: { kind: 'integer', nullable: false },
      note: { kind: 'string', nullable: true },
      tags: { kind: 'keys', nullable: false },
      lines: { kind: 'link', nullable: false },
      lists: { kind: 'link', nullable: false },
      cover: { kind: 'reverse-one', nullable: true },
    },
    relations: { owner: { url: '/owner/', label: null } },
    actions: {
      POST: {
        id: { type: 'integer', required: false, read_only: true, label: 'ID' },
        note: { type: 'string', required: false, read_only: false, label: 'Note', max_length: 9 },
        secret: { type: 'string', required: true, read_only: false, label: 'Secret' },
        tags: { type: 'list', required: false, read_only: false, label: 'Tags' },
        lines: { type: 'list', required: false, read_only: false, label: 'Lines' },
        lists: { type: 'field', required: false, read_only: true, label: 'Lists' },
        cover: { type: 'nested object', required: false, read_only: false, label: 'Cover' },
        parts: {
          type: 'nested object',
          required: true,
          read_only: false,
          label: 'Parts',
          children: { a: { type: 'integer', required: true, read_only: false, label: 'A' } },
        },
      },
    },
  } as unknown as RouteDescription;
  expect(specsOf(description, 'POST')).toMatchObject([
    { name: 'id', readOnly: true },
    { name: 'note', kind: 'string', nullable: true, maxLength: 9 },
    { name: 'secret', kind: 'string', nullable: false },
    // Edited as the JSON of a list.
    { name: 'tags', kind: 'list', nullable: false },
    // Written as JSON; what it shows is no value of a body.
    { name: 'lines', kind: 'json', readOnly: false, startsEmpty: true },
    { name: 'lists', kind: 'link', readOnly: true },
    { name: 'cover', kind: 'json', readOnly: false, startsEmpty: true },
    { name: 'parts', kind: 'embedded', children: [{ name: 'a', kind: 'integer' }] },
  ]);
  expect(specsOf(description, 'PUT')).toEqual([]);
  expect(toDraft('/box/1/lines/', spec('json', { startsEmpty: true }))).toBeNull();
});

describe('the URLs of changes of many objects', () => {
  const description = {
    filters: [{ name: 'votes__gte' }],
    groups: 'filter',
    search: { parameter: 'search' },
    key: ['id'],
  } as unknown as RouteDescription;
  const bulk = { methods: ['DELETE'], max: 10, keys: 'keys' } as const;

  test('have the filters and the search alone, and are missing without any', () => {
    expect(filteredUrl('/list/?page=2&votes__gte=3&ordering=-id&search=a%20b', description)).toBe(
      '/list/?votes__gte=3&search=a+b',
    );
    expect(filteredUrl('/list/?page=2&votes__gte=', description)).toBeUndefined();
  });

  test('name the chosen keys', () => {
    expect(selectedUrl('/list/', ['1', '2'], { bulk, description })).toBe('/list/?keys=1,2');
    expect(selectedUrl('/list/', ['a%2Cb%26'], { bulk, description })).toBe('/list/?keys=a%2Cb%26');
    const composite = { ...description, key: ['a', 'b'] };
    expect(selectedUrl('/list/', ['1,2', '1,3'], { bulk, description: composite })).toBe(
      '/list/?keys=1,2;1,3',
    );
  });
});

test('a write is shown as a command with its method and body', () => {
  const request = {
    method: 'PATCH',
    url: '/a/1/',
    headers: { Accept: 'application/json' },
    body: `{"a":"it's"}`,
  };
  expect(toCurl(request, 'http://h', false)).toBe(
    `curl -X PATCH \\\n  -H 'Accept: application/json' \\\n  --data-raw '{"a":"it'\\''s"}' \\\n  'http://h/a/1/'`,
  );
  expect(toFetch(request, 'http://h', false)).toContain('method: "PATCH"');
});
