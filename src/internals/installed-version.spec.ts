// @tags core
import { expect, test } from '@jest/globals';
import { describePackage } from './installed-version.js';

test('a package is described by its name and version', () => {
  expect(describePackage('mysql2')).toMatch(/^mysql2 3\.\d+\.\d+$/);
  expect(describePackage('typeorm')).toMatch(/^typeorm \d+\.\d+\.\d+$/);
  expect(describePackage('@nestjs/core')).toMatch(/^@nestjs\/core \d+\.\d+\.\d+$/);
  expect(describePackage('express', '@nestjs/platform-express')).toMatch(/^express \d+\.\d+\.\d+$/);
});

test('a package that is not installed is described by its name', () => {
  expect(describePackage('not-installed')).toBe('not-installed');
  expect(describePackage('express', 'not-installed')).toBe('express');
});
