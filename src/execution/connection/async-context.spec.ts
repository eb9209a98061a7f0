import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { AsyncContext } from './async-context.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Prints whether Node calls hooks for promises, during work and once all work has ended: before version 24, each new
 * promise then has an id. In a process of its own, because the test runner enables such hooks, too.
 */
const PROGRAM = `
import { AsyncContext } from './src/execution/connection/async-context.ts';
const turn = () => new Promise((resolve) => setImmediate(resolve));
const areHooksCalled = () => Object.getOwnPropertySymbols(Promise.resolve()).length > 0;
const context = new AsyncContext();
const longer = context.run(1, () => turn().then(turn).then(areHooksCalled));
await context.run(2, turn);
const during = await longer;
await turn();
console.log(JSON.stringify({ during, after: areHooksCalled() }));
`;

describe('an asynchronous context', () => {
  test('has its value during the work, and none outside', async () => {
    const context = new AsyncContext<string>();
    const seen = await context.run('a', async () => {
      const before = context.value;
      await turn();
      return [before, context.value];
    });
    expect(seen).toEqual(['a', 'a']);
    expect(context.value).toBeUndefined();
  });

  test('keeps the values of concurrent and of nested work apart', async () => {
    const context = new AsyncContext<string>();
    const work = (value: string, turns: number): Promise<unknown> =>
      context.run(value, async () => {
        const inner = await context.run(`inner ${value}`, async () => {
          await turn();
          return context.value;
        });
        for (let each = 0; each < turns; each++) await turn();
        return [inner, context.value];
      });
    const outside = turn().then(() => context.value);
    expect(await Promise.all([work('a', 1), work('b', 5), work('c', 2)])).toEqual([
      ['inner a', 'a'],
      ['inner b', 'b'],
      ['inner c', 'c'],
    ]);
    expect(await outside).toBeUndefined();
  });

  test('works again after it was disabled, and after work that throws', async () => {
    const context = new AsyncContext<number>();
    const failing = context.run(0, () => {
      throw new Error('thrown before the first await');
    });
    await expect(failing).rejects.toThrow('thrown before the first await');
    for (const value of [1, 2, 3]) {
      const seen = context.run(value, async () => {
        await turn();
        return context.value;
      });
      expect(await seen).toBe(value);
      expect(context.value).toBeUndefined();
    }
  });

  test('costs the promises of other work nothing once it has ended', () => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [
        // Node 26 warns of the hooks with which the tests load TypeScript.
        '--disable-warning=DEP0205',
        '--import',
        './test/support/typescript.mjs',
        '--input-type=module',
        '--eval',
        PROGRAM,
      ],
      { encoding: 'utf8', cwd: ROOT },
    );
    expect(stderr).toBe('');
    const [major = 0] = process.versions.node.split('.').map(Number);
    expect(JSON.parse(stdout)).toEqual({ during: major < 24, after: false });
  });
});
