import { describe, expect, test } from '@jest/globals';
import { parseFieldNames, choiceBehind, choosesAll, ALL_FIELDS, wants } from './parse-field-names.js';
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

  test('wants what is asked for, and not what is omitted as a whole', () => {
    expect(['id', 'size', 'shop', 'name', 'toString'].filter((name) => wants(choice, name))).toEqual([
      'size',
      'shop',
    ]);
    expect(wants(ALL_FIELDS, 'anything')).toBe(true);
  });

  test('goes on behind a name', () => {
    expect(wants(choiceBehind(choice, 'size'), 'height')).toBe(false);
    expect(wants(choiceBehind(choice, 'size'), 'width')).toBe(true);
    expect(wants(choiceBehind(choice, 'shop'), 'id')).toBe(true);
    expect(wants(choiceBehind(choice, 'shop'), 'name')).toBe(false);
    expect(choosesAll(choiceBehind({ only: parseFieldNames('shop'), omit: undefined }, 'shop'))).toBe(true);
  });
});
