// @tags nest
import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WORLD } from '../support/world.js';

const SRC = fileURLToPath(new URL('../../src/index.ts', import.meta.url));

/** As an import from `src/` finds it. */
function installedVersion(name: string): unknown {
  const found = createRequire(SRC).resolve(name);
  const packages = found.slice(0, found.lastIndexOf('node_modules'));
  return (
    JSON.parse(readFileSync(join(packages, 'node_modules', name, 'package.json'), 'utf8')) as {
      version: unknown;
    }
  ).version;
}

const MAJORS = {
  'nest-12': {
    '@nestjs/common': /^12\./,
    '@nestjs/core': /^12\./,
    '@nestjs/platform-express': /^12\./,
    '@nestjs/typeorm': /^12\./,
    typeorm: /^1\./,
  },
  'nest-11': {
    '@nestjs/common': /^11\./,
    '@nestjs/core': /^11\./,
    '@nestjs/platform-express': /^11\./,
    '@nestjs/typeorm': /^11\./,
    typeorm: /^0\.3\./,
  },
};

test.each(Object.entries(MAJORS[WORLD.name]))(
  'this run is on the version of %s that its name says',
  (name, major) => {
    expect(installedVersion(name)).toMatch(major);
  },
);
