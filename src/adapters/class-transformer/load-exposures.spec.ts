// @tags core
import 'reflect-metadata';
import { expect, test } from '@jest/globals';
import * as library from 'class-transformer';
import { loadDecoratedClasses } from './load-exposures.js';

const { Exclude, Expose, Transform, Type } = library;

class Plain {
  name: string;
  get initial(): string {
    return this.name.charAt(0);
  }
}

class Excluding {
  @Exclude() name: string;
}

class Exposing {
  @Expose({ name: 'name' }) title: string;
}

class Transforming {
  @Transform(({ value }: { value: unknown }) => value, { toClassOnly: true }) name: string;
}

class Typed {
  @Type(() => Date) name: string;
}

@Exclude()
class Closed {}

class Derived extends Excluding {}

test.each<[string, { type: new () => object; names: readonly string[]; isProbed: boolean }]>([
  ['no decorators', { type: Plain, names: ['name'], isProbed: false }],
  [
    'an accessor, which class-transformer does not set',
    { type: Plain, names: ['name', 'initial'], isProbed: true },
  ],
  ['@Exclude', { type: Excluding, names: ['name'], isProbed: true }],
  ['@Expose of another property', { type: Exposing, names: ['name'], isProbed: true }],
  ['@Transform in one direction', { type: Transforming, names: ['name'], isProbed: true }],
  ['@Transform of another property', { type: Transforming, names: ['other'], isProbed: false }],
  ['@Type', { type: Typed, names: ['name'], isProbed: true }],
  ['@Exclude on the class', { type: Closed, names: ['name'], isProbed: true }],
  ['@Exclude in a base class', { type: Derived, names: ['name'], isProbed: true }],
])('a class with %s is probed where that has an effect', async (_, { type, names, isProbed }) => {
  expect((await loadDecoratedClasses(library))(type, names)).toBe(isProbed);
});

test('every class is probed if the decorators record elsewhere, as those of another copy do', async () => {
  const ignored = (): void => undefined;
  const copy = { ...library, Type: () => ignored };
  expect((await loadDecoratedClasses(copy))(Plain, ['name'])).toBe(true);
});
