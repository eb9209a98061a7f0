// @tags core
import { describe, expect, test } from '@jest/globals';
import mysql from 'mysql2';
import { probeClusterPools } from './mysql2.js';

describe('the pools of a cluster', () => {
  test('are found in the installed mysql2, one for each server', () => {
    const cluster = mysql.createPoolCluster();
    expect(probeClusterPools(cluster)).toEqual([]);
    for (const name of ['MASTER', 'SLAVE0']) cluster.add(name, { host: '127.0.0.1' });
    expect(probeClusterPools(cluster)).toHaveLength(2);
    cluster.end();
  });

  test.each([
    ['without nodes', {}],
    ['with nodes that are nothing', { _nodes: null }],
    ['with a node that is nothing', { _nodes: { MASTER: undefined } }],
    ['with a node without a pool', { _nodes: { MASTER: {} } }],
    ['with a pool without events', { _nodes: { MASTER: { pool: {} } } }],
  ])('%s are not found', (_, cluster) => {
    expect(probeClusterPools(cluster)).toBeUndefined();
  });
});
