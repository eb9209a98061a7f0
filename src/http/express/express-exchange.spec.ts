import { describe, expect, test } from '@jest/globals';
import { hasPrototypeKeys } from './express-exchange.js';

describe('keys that could replace a prototype', () => {
  test.each([
    ['{"__proto__":null}', true],
    ['{"a":{"__proto__":{"isAdmin":true}}}', true],
    ['[1,[{"\\u005f_proto__":1}]]', true],
    ['{"constructor":{"prototype":{"isAdmin":true}}}', true],
    ['{"constructor":{"name":"a"},"prototype":1}', false],
    ['{"constructor":"prototype"}', false],
    ['{"constructor":null}', false],
    ['{"a":"__proto__","b":[{"c":null}],"proto":1}', false],
    ['null', false],
    ['"__proto__"', false],
  ])('%s: %s', (text, found) => {
    expect(hasPrototypeKeys(JSON.parse(text))).toBe(found);
  });

  test('are found below any depth, and in objects that contain themselves', () => {
    const depth = 20_000;
    expect(hasPrototypeKeys(JSON.parse(`${'['.repeat(depth)}{"__proto__":1}${']'.repeat(depth)}`))).toBe(
      true,
    );
    const round: Record<string, unknown> = {};
    round.self = round;
    expect(hasPrototypeKeys(round)).toBe(false);
  });
});
