import { describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { serverProblems } from '../../adapters/typeorm/metadata/check-data-source.js';
import { postgresServers } from './postgres-settings.js';

function serverOf(version: string): DataSource {
  const runner = {
    query: () => Promise.resolve([{ c0: version }]),
    release: () => Promise.resolve(),
  };
  return { options: {}, createQueryRunner: () => runner } as unknown as DataSource;
}

describe('the version of a server with the protocol of PostgreSQL', () => {
  const problemsOf = (version: string): ReturnType<typeof serverProblems> =>
    serverProblems(serverOf(version), { otherServers: postgresServers });

  test.each([
    ['CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27 01:53:43, go1.19.10)', 'CockroachDB'],
    ['CockroachDB CCL v26.2.5', 'CockroachDB'],
    ['PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 16.0.6', 'YugabyteDB'],
    ['PostgreSQL 15.12-YB-2025.1.0.0-b0', 'YugabyteDB'],
  ])('%s is refused', async (version, name) => {
    expect(await problemsOf(version)).toEqual([
      expect.objectContaining({ what: expect.stringContaining(`the server is ${name}: `) as unknown }),
    ]);
  });

  test.each([
    'PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit',
    'PostgreSQL 17.4 on aarch64-unknown-linux-gnu, compiled by gcc, 64-bit, from a fork of nobody',
    'something else',
  ])('%s is not refused', async (version) => {
    expect(await problemsOf(version)).toEqual([]);
  });
});
