import { describe, expect, test } from '@jest/globals';
import { NO_POSITION, UnorderedSet } from './unordered-set.js';

function setOf(names: string) {
  const set = new UnorderedSet<{ name: string; position: number }>();
  const members = [...names].map((name) => ({ name, position: NO_POSITION }));
  for (const member of members) set.add(member);
  const namesOf = (): string => {
    const found: string[] = [];
    set.forEach(({ name }) => found.push(name));
    return found.sort().join('');
  };
  return { set, members, namesOf };
}

describe('an unordered set', () => {
  test.each([
    ['the first', 0, 'bcd'],
    ['one between others', 1, 'acd'],
    ['the last', 3, 'abc'],
  ])('deletes %s of its members', (_, index, left) => {
    const { set, members, namesOf } = setOf('abcd');
    const member = members[index];
    expect(member && set.delete(member)).toBe(true);
    expect(member && set.delete(member)).toBe(false);
    expect(namesOf()).toBe(left);
    expect(set.size).toBe(3);
  });

  test('deletes each member once in any order, and takes it again', () => {
    const { set, members, namesOf } = setOf('abcdef');
    for (const index of [4, 0, 5, 2, 1, 3]) {
      const member = members[index];
      expect(member && set.delete(member)).toBe(true);
    }
    expect(set.size).toBe(0);
    for (const member of members) set.add(member);
    expect(namesOf()).toBe('abcdef');
  });

  test('visits each member once while the visited ones are deleted', () => {
    const { set, namesOf } = setOf('abcde');
    const visited: string[] = [];
    set.forEach((member) => {
      visited.push(member.name);
      if (member.name !== 'c') set.delete(member);
    });
    expect(visited.sort().join('')).toBe('abcde');
    expect(namesOf()).toBe('c');
  });

  test('leaves no member out while others are deleted, too', () => {
    for (let visitor = 0; visitor < 5; visitor++)
      for (let other = 0; other < 5; other++) {
        const { set, members } = setOf('abcde');
        const visited = new Set<string>();
        set.forEach((member) => {
          visited.add(member.name);
          if (member !== members[visitor]) return;
          set.delete(member);
          const deleted = members[other];
          if (deleted) set.delete(deleted);
        });
        set.forEach(({ name }) => {
          expect([...visited]).toContain(name);
        });
      }
  });

  test('counts the members of which a condition is true', () => {
    expect(setOf('abab').set.count(({ name }) => name === 'a')).toBe(2);
  });
});
