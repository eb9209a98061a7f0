// @tags core
import { describe, expect, test } from '@jest/globals';
import { taggedSpecs } from '../support/tags.mjs';

const SPECS = taggedSpecs();
const paths = (specs: typeof SPECS): string[] => specs.map(({ path }) => path);
const tagged = (tag: string): string[] => paths(SPECS.filter(({ tags }) => tags.includes(tag)));

/** Specs that a file of test/fastify/ runs once more on Fastify. */
const ON_FASTIFY = SPECS.filter(({ path }) => path.startsWith('test/fastify/')).flatMap(({ text }) =>
  [...text.matchAll(/^import '\.\.\/([\w/-]+)\.spec\.js'/gm)].map(
    (match) => `test/${match[1] ?? ''}.spec.ts`,
  ),
);
/** Packages whose major version differs between the worlds, where a spec uses more than decorators and exceptions. */
const WORLD_PACKAGES = /from '@nestjs\/(core|testing|swagger|throttler|passport|typeorm|platform-\w+)'/;
/** Folders about Nest, TypeORM and the package itself. */
const WORLD_FOLDERS = /^test\/(boot|worlds|package|adapters|databases|sample-app)\//;

describe('the tags of specs', () => {
  test('stand in the first line of each', () => {
    expect(paths(SPECS.filter(({ tags }) => tags.length === 0))).toEqual([]);
  });

  test('are `core` alone, or name what the result of the spec depends on', () => {
    expect(paths(SPECS.filter(({ tags }) => tags.includes('core') && tags.length > 1))).toEqual([]);
  });

  test('have `db` if and only if a spec runs on each database', () => {
    expect(tagged('db')).toEqual(
      paths(SPECS.filter(({ text }) => /from '[./]+support\/each-database\.js'/.test(text))),
    );
  });

  test('have `http` if and only if a spec also runs on Fastify', () => {
    const wanted = SPECS.filter(({ path }) => path.startsWith('test/fastify/') || ON_FASTIFY.includes(path));
    expect(tagged('http')).toEqual(paths(wanted));
  });

  test('have `nest` if a spec is about Nest, TypeORM or the package', () => {
    const untagged = SPECS.filter(
      ({ path, text, tags }) =>
        !tags.includes('nest') && (WORLD_FOLDERS.test(path) || WORLD_PACKAGES.test(text)),
    );
    // They read the documents, the source and the tarball, which are the same in both worlds.
    const same = /^test\/(docs|clients\/s3-store|openapi\/typed-client|package\/(publishing|tools))/;
    expect(paths(untagged).filter((path) => !same.test(path))).toEqual([]);
  });
});
