import { describe, expect, test } from '@jest/globals';
import { MountPaths } from './route-matcher.js';

function findMounts(mounts: readonly string[], path: string): readonly string[] {
  const all = new MountPaths();
  for (const mount of mounts) all.add(mount);
  return all.findMounts(path);
}

test.each<[mounts: readonly string[], path: string, found: readonly string[]]>([
  [[], '/rest/v1', []],
  [[''], '/', ['']],
  [[''], '/rest/v1/polls', ['']],
  [['/api'], '/api/rest/v1', ['/api']],
  [['/api'], '/api', ['/api']],
  [['/api'], '/api/', ['/api']],
  [['/api/v2'], '/api/v2/rest', ['/api/v2']],
  [['/api', '/api'], '/api/rest', ['/api']],
  [['/:tenant'], '/acme/rest', ['/acme']],
  [['/:tenant/api'], '/acme/api/rest', ['/acme/api']],
  [['/api/:tenant'], '/api/a%2Fb/rest', ['/api/a%2Fb']],
])('below %j, %s stands at %j', (mounts, path, found) => {
  expect(findMounts(mounts, path)).toEqual(found);
});

test.each([
  [['/api'], '/'],
  [['/api'], '/ap'],
  [['/api'], '/apis/rest'],
  [['/api'], '/API/rest'],
  [['/api'], '/rest/api'],
  [['/api'], '//api/rest'],
  [['/api'], '/api%2Frest'],
  [['/api/v2'], '/api'],
  [['/api/v2'], '/api/rest'],
  [['/:tenant/api'], '/acme'],
  [['/:tenant/api'], '/acme/rest'],
])('below %j there is no %s', (mounts, path) => {
  expect(findMounts(mounts, path)).toEqual([]);
});

describe('a segment that stands for any', () => {
  test.each([
    [['/:tenant'], '/'],
    [['/:tenant'], '//rest'],
    [['/api/:tenant'], '/api'],
    [['/api/:tenant'], '/api/'],
    [['/:tenant/:version'], '/acme'],
  ])('is a segment: below %j there is no %s', (mounts, path) => {
    expect(findMounts(mounts, path)).toEqual([]);
  });
});

test.each([[['', '/api', '/api/v2']], [['/api/v2', '/api', '']], [['/api', '', '/api/v2']]])(
  'the longest mount comes first, in whatever order they were added: %j',
  (mounts) => {
    expect(findMounts(mounts, '/api/v2/rest')).toEqual(['/api/v2', '/api', '']);
  },
);
