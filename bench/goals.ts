import type { Workload } from './workloads.js';

export interface Comparison {
  readonly fast: string;
  readonly slow: string;
  /** What shows how far the ratio can go at all behind this HTTP library. */
  readonly limit: string;
  /** The same answers, written by hand for the tables of the benchmark alone. */
  readonly same: string;
}

export const COMPARISONS = [
  { fast: 'restify-express', slow: 'handwritten', limit: 'bare-express', same: 'contract-express' },
  { fast: 'restify-fastify', slow: 'handwritten-fastify', limit: 'bare-fastify', same: 'contract-fastify' },
  { fast: 'restify-fastify', slow: 'raw', limit: 'bare-fastify', same: 'contract-fastify' },
] as const satisfies readonly Comparison[];

/** At least so many times as fast, in the order of `COMPARISONS`. A goal is what is wanted, not what is promised. */
export const GOALS: Readonly<Record<Exclude<Workload, 'constant'>, readonly [number, number, number]>> = {
  retrieve: [1.6, 2.4, 0.6],
  'list-100': [3, 5, 1.8],
  'list-10000': [3.5, 3.5, 2],
  filter: [2.2, 2.5, 1.4],
  nested: [1.8, 2.8, 1.2],
  through: [1.8, 2.8, 1.2],
  create: [1.7, 2, 0.5],
  update: [1.7, 2, 0.5],
};
