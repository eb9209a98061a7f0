import type { Workload } from './workloads.js';

export interface Comparison {
  readonly fast: string;
  readonly slow: string;
  /** The contestant that shows the highest possible ratio with this HTTP library. */
  readonly limit: string;
  /** The contestant with the same responses, hand-written for the tables of the benchmark. */
  readonly same: string;
}

export const COMPARISONS = [
  { fast: 'restify-express', slow: 'handwritten', limit: 'bare-express', same: 'contract-express' },
  { fast: 'restify-fastify', slow: 'handwritten-fastify', limit: 'bare-fastify', same: 'contract-fastify' },
  { fast: 'restify-fastify', slow: 'raw', limit: 'bare-fastify', same: 'contract-fastify' },
] as const satisfies readonly Comparison[];

/** The minimum speed-up, in the order of `COMPARISONS`. A goal is not a guarantee, and some comparisons have none. */
export const GOALS: Readonly<Partial<Record<Workload, readonly number[]>>> = {
  retrieve: [1.6, 2.4, 0.6],
  'list-100': [3, 5, 1.8],
  'list-10000': [3.5, 3.5, 2],
  filter: [2.2, 2.5, 1.4],
  range: [2, 1.8],
  nested: [1.8, 2.8, 1.2],
  through: [1.8, 2.8, 1.2],
  page: [3, 1.8],
  'page-json': [3, 1.8],
  expanded: [0.67, 0.67],
  aggregate: [0.87, 0.87],
  create: [1.7, 2, 0.5],
  update: [1.7, 2, 0.5],
  bulk: [1.5, 1.5],
  upsert: [1.5, 1.5],
  children: [2, 2],
  'hook-create': [1.5, 1.5],
  'hook-update': [1.5, 1.5],
  'hook-bulk': [1.5, 1.5],
  'listener-create': [1, 1],
  'listener-update': [1, 1],
  'listener-bulk': [1, 1],
  'rule-create': [1.5, 1.5],
  'rule-update': [1.5, 1.5],
  'rule-bulk': [1.5, 1.5],
};
