import type { DataSource, QueryRunner } from 'typeorm';
import type { ReadCounter } from '../../bench/growth/read-counter.js';
import { StatementLog } from '../faults/statement-log.js';
import type { TestDatabase } from './databases.js';

/** A statement and its values. */
export interface Read {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Keeps the values of the statements too. */
export class ReadLog extends StatementLog {
  readonly reads: Read[] = [];

  override logQuery(sql: string, parameters: readonly unknown[] = []): void {
    super.logQuery(sql);
    this.reads.push({ sql, parameters });
  }

  override clear(): void {
    super.clear();
    this.reads.length = 0;
  }
}

interface Plan {
  readonly 'QUERY PLAN': readonly [
    { readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number } },
  ];
}

/**
 * What a read costs, whatever the machine does beside it: the pages that PostgreSQL reads, the rows that MariaDB reads, the tables and
 * indexes that SQLite scans.
 */
export class ReadCosts {
  constructor(
    private readonly database: TestDatabase['name'],
    private readonly dataSource: DataSource,
  ) {}

  async of(reads: readonly Read[]): Promise<number> {
    const runner = this.dataSource.createQueryRunner();
    try {
      let sum = 0;
      for (const read of reads) sum += await this.measure(read, runner);
      return sum;
    } finally {
      await runner.release();
    }
  }

  private measure(read: Read, runner: QueryRunner): Promise<number> {
    switch (this.database) {
      case 'postgres':
        return pagesOf(read, runner);
      case 'mariadb':
        return rowsOf(read, runner);
      case 'sqlite':
        return scansOf(read, runner);
      default:
        return this.database satisfies never;
    }
  }
}

/** The tables and indexes that SQLite scans as a whole, by the plans of the statements in the log of the data source. */
export class ScanCounter implements ReadCounter {
  readonly unit = 'scans';

  constructor(
    private readonly dataSource: DataSource,
    private readonly log: ReadLog,
  ) {}

  reset(): Promise<void> {
    this.log.clear();
    return Promise.resolve();
  }

  read(): Promise<number> {
    const reads = this.log.reads.filter(({ sql }) => /^(?:SELECT|WITH)/.test(sql));
    return new ReadCosts('sqlite', this.dataSource).of(reads);
  }
}

async function pagesOf({ sql, parameters }: Read, runner: QueryRunner): Promise<number> {
  const explained = (await runner.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, [
    ...parameters,
  ])) as readonly Plan[];
  const plan = explained[0]?.['QUERY PLAN'][0].Plan;
  if (!plan) throw new Error('No plan');
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

async function rowsOf({ sql, parameters }: Read, runner: QueryRunner): Promise<number> {
  await runner.query('FLUSH STATUS');
  await runner.query(sql, [...parameters]);
  const counts = (await runner.query(`SHOW SESSION STATUS LIKE 'Handler_read%'`)) as readonly {
    readonly Value: string;
  }[];
  return counts.reduce((sum, { Value }) => sum + Number(Value), 0);
}

async function scansOf({ sql, parameters }: Read, runner: QueryRunner): Promise<number> {
  const steps = (await runner.query(`EXPLAIN QUERY PLAN ${sql}`, [...parameters])) as readonly {
    readonly detail: string;
  }[];
  return steps.filter(({ detail }) => /^SCAN (?!restify_page|p$|r$|\(|\d|CONSTANT)/.test(detail)).length;
}
