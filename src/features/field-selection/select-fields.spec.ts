import { expect, test, describe } from '@jest/globals';
import type { Field } from '../../core/schema/field.js';
import { MAX_SELECTED_VIEWS } from '../../core/schema/limits.js';
import type { Resource } from '../../core/schema/resource.js';
import {
  parseFieldNames,
  chooseFields,
  nestedChoice,
  choosesAll,
  ALL_FIELDS,
  includes,
} from './select-fields.js';
import type { Choice, NameTree } from './select-fields.js';

/** `id` or `size{height}`; what is named as a whole ends with `!`. */
function shown(names: NameTree | undefined): string | undefined {
  return (
    names &&
    [...names.inner]
      .map(
        ([name, each]) =>
          `${name}${each.whole ? '!' : ''}${each.inner.size > 0 ? `{${shown(each) ?? ''}}` : ''}`,
      )
      .join(' ')
  );
}

test.each([
  ['id', 'id!'],
  ['id,name,id', 'id! name!'],
  [' id , name ', 'id! name!'],
  ['a.b,a.c.d,a', 'a!{b! c{d!}}'],
  ['a,a.b', 'a!{b!}'],
  ['__proto__.x,constructor', '__proto__{x!} constructor!'],
  ['.', '{!}'],
  ['a.', 'a{!}'],
  ['', undefined],
  [',, ,', undefined],
  [undefined, undefined],
])('%j names %j', (text, names) => {
  expect(shown(parseFieldNames(text))).toBe(names);
});

test('a path of any depth is read', () => {
  expect(parseFieldNames('a.'.repeat(8000))).toBeDefined();
});

describe('a choice', () => {
  const choice = { only: parseFieldNames('id,size.width,shop'), omit: parseFieldNames('shop.name,id') };

  test('includes requested fields, and no field whose parent is omitted', () => {
    expect(['id', 'size', 'shop', 'name', 'toString'].filter((name) => includes(choice, name))).toEqual([
      'size',
      'shop',
    ]);
    expect(includes(ALL_FIELDS, 'anything')).toBe(true);
  });

  test('goes on behind a name', () => {
    expect(includes(nestedChoice(choice, 'size'), 'height')).toBe(false);
    expect(includes(nestedChoice(choice, 'size'), 'width')).toBe(true);
    expect(includes(nestedChoice(choice, 'shop'), 'id')).toBe(true);
    expect(includes(nestedChoice(choice, 'shop'), 'name')).toBe(false);
    expect(choosesAll(nestedChoice({ only: parseFieldNames('shop'), omit: undefined }, 'shop'))).toBe(true);
  });
});

const NAMES = Array.from({ length: MAX_SELECTED_VIEWS + 1 }, (_, at) => `f${at}`);

/** What choosing looks at of a resource. */
function resourceOf(hidden: string): Resource {
  const fields = NAMES.map((name) => ({ kind: 'column', name, readable: name !== hidden }) as Field);
  return { fields, fieldsByName: new Map(fields.map((field) => [field.name, field])) } as unknown as Resource;
}

function only(names: string): Choice {
  return { only: parseFieldNames(names), omit: undefined };
}

test('the same selection has the same cached view, in any order of names', () => {
  const resource = resourceOf('f1');
  const view = chooseFields(resource, only('f0,f2'));
  expect(chooseFields(resource, only(' f2,f0,f2,f1,nothing'))).toBe(view);
  expect(view.fields.filter(({ readable }) => readable).map(({ name }) => name)).toEqual(['f0', 'f2']);
  expect(chooseFields(resourceOf('f1'), only('f0,f2'))).not.toBe(view);
  expect(chooseFields(resource, { only: undefined, omit: undefined })).toBe(resource);
});

test('the least recently used view is removed first', () => {
  const resource = resourceOf('');
  const [first, second] = [chooseFields(resource, only('f0')), chooseFields(resource, only('f1'))];
  for (const name of NAMES.slice(2)) {
    chooseFields(resource, only(name));
    chooseFields(resource, only('f0'));
  }
  expect(chooseFields(resource, only('f0'))).toBe(first);
  expect(chooseFields(resource, only('f1'))).not.toBe(second);
});
