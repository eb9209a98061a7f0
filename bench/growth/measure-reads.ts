import type { DataSource } from 'typeorm';
import { caller, TENANT } from './entities.js';
import type { ReadCounter } from './read-counter.js';
import type { Filled, GrowthRead, GrowthRequest } from './reads.js';

/** How many requests with another value are sent between two equal ones. PostgreSQL decides at the sixth whether it keeps a plan. */
export const OTHERS = 20;

export interface ReadCost {
  readonly cost: number;
  readonly byHand: number;
  /** The highest cost that is accepted. */
  readonly limit: number;
}

export interface CostAfterOthers {
  readonly before: number;
  readonly after: number;
}

export interface MeasuredApp {
  /** Of one connection. */
  readonly dataSource: DataSource;
  readonly counter: ReadCounter;
  /** Returns the body of a response with status 200. */
  get(path: string): Promise<unknown>;
}

/** Counts what requests to an application read. */
export class ReadMeasurement {
  constructor(
    private readonly filled: Filled,
    private readonly app: MeasuredApp,
  ) {}

  async compareWithSql(read: GrowthRead): Promise<ReadCost> {
    const { dataSource, counter } = this.app;
    const cost = await this.costOf(await this.requestOf(read));
    await counter.reset();
    await dataSource.query(read.sql(this.filled));
    const byHand = await counter.read();
    return { cost, byHand, limit: this.limitOf(read, byHand) };
  }

  private limitOf({ more }: GrowthRead, byHand: number): number {
    const { unit } = this.app.counter;
    if (unit === 'scans') return 2 * byHand;
    // SQLite takes up to seven steps for the JSON of what it reads in one.
    return (unit === 'steps' ? 8 : 2) * byHand + 8 + (more?.(this.filled) ?? 0);
  }

  /** The cost of one request before and after `count` others. */
  async repeatAfter(others: GrowthRequest, request: GrowthRequest, count = OTHERS): Promise<CostAfterOthers> {
    const before = await this.costOf(request);
    for (let times = 0; times < count; times++) await this.send(others);
    return { before, after: await this.costOf(request) };
  }

  private async requestOf({ path, tenant, pageBefore }: GrowthRead): Promise<GrowthRequest> {
    if (!pageBefore) return tenant === undefined ? { path } : { path, tenant };
    const { next } = (await this.send({ path: pageBefore(this.filled) })) as { readonly next: string };
    return { path: `${path}&cursor=${new URL(next).searchParams.get('cursor') ?? ''}` };
  }

  private async costOf(request: GrowthRequest): Promise<number> {
    const { counter } = this.app;
    await counter.reset();
    await this.send(request);
    return counter.read();
  }

  private send({ path, tenant }: GrowthRequest): Promise<unknown> {
    caller.tenant = tenant ?? TENANT.large;
    return this.app.get(path);
  }
}
