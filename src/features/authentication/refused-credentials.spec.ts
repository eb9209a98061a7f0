import { describe, expect, test } from '@jest/globals';
import type { CredentialCheck } from './failed-attempts.js';
import { networkOf, RefusedCredentials } from './refused-credentials.js';
import type { PresentedCredentials } from './refused-credentials.js';

const LIMITS = { perAddress: 3, perUser: 2, ttl: 60_000 };
const later = (): number => performance.now() + 1000;

/** As `begin`, which throws what it need not wait for. */
const beginCheck = async (
  refused: RefusedCredentials,
  presented: PresentedCredentials,
  ends = later(),
): Promise<CredentialCheck> => refused.begin(presented, ends);

describe('what is remembered of callers', () => {
  test('is nothing where none was refused', async () => {
    const refused = new RefusedCredentials(LIMITS);
    for (const outcome of ['actor', 'none'] as const)
      (await beginCheck(refused, { address: '10.0.0.1', username: 'ada' })).end(outcome);
    expect(refused.size).toBe(0);
    (await beginCheck(refused, { address: '10.0.0.1', username: 'ada' })).end('wrong');
    expect(refused.size).toBe(2);
  });

  test('is bounded, and the least recently used entries are removed', async () => {
    const refused = new RefusedCredentials(LIMITS);
    const refuse = async (caller: number): Promise<void> => {
      (
        await beginCheck(refused, {
          address: `10.0.${caller >> 8}.${caller & 255}`,
          username: 'x'.repeat(200),
        })
      ).end('wrong');
    };
    for (let caller = 0; caller < 12_000; caller++) await refuse(caller);
    expect(refused.size).toBe(20_000);
    for (const caller of [11_999, 0, 0]) await refuse(caller);
    for (const caller of [11_999, 0])
      await expect(refuse(caller)).rejects.toMatchObject({ response: { status: 429 } });
  });

  test('is limited per address, for all users of it', async () => {
    const refused = new RefusedCredentials(LIMITS);
    for (const username of ['a', 'b', undefined])
      (await beginCheck(refused, { address: '10.0.0.1', username })).end('wrong');
    await expect(beginCheck(refused, { address: '10.0.0.1', username: 'c' })).rejects.toMatchObject({
      response: { status: 429 },
    });
  });

  test('a check that waits for others takes their place, in the order of its coming, or is refused with them', async () => {
    const refused = new RefusedCredentials(LIMITS);
    const begin = () => beginCheck(refused, { address: '10.0.0.1', username: 'a' });
    const running = [await begin(), await begin()];
    const order: number[] = [];
    const waiting = [0, 1, 2].map((index) =>
      begin().then((check) => {
        order.push(index);
        return check;
      }),
    );
    running[0]?.end('actor');
    const third = await waiting[0];
    expect(order).toEqual([0]);
    third?.end('wrong');
    running[1]?.end('wrong');
    await expect(waiting[1]).rejects.toMatchObject({ response: { status: 429 } });
    await expect(waiting[2]).rejects.toMatchObject({ response: { status: 429 } });
    expect(refused.size).toBe(2);
  });

  test('a check that has waited too long gives its place back', async () => {
    const refused = new RefusedCredentials({ ...LIMITS, perAddress: 1 });
    const running = await beginCheck(refused, { address: '10.0.0.1', username: 'a' });
    await expect(
      beginCheck(refused, { address: '10.0.0.1', username: 'b' }, performance.now() + 20),
    ).rejects.toMatchObject({ response: { status: 503 } });
    running.end('actor');
    expect(refused.size).toBe(0);
  });
});

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['', ''],
  ['unknown', 'unknown'],
])('%j counts as %j', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
