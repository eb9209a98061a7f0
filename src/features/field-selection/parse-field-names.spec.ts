import { describe, expect, test } from '@jest/globals';
import { parseFieldNames, nestedChoice, choosesAll, ALL_FIELDS, includes } from './parse-field-names.js';
import type { NameTree } from './parse-field-names.js';

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

  test('includes what is asked for, and not what is omitted as a whole', () => {
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
