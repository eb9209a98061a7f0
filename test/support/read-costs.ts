import type { DataSource } from 'typeorm';
import type { ReadCounter } from '../../bench/growth/read-counter.js';
import { StatementLog } from '../faults/statement-log.js';

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

  async read(): Promise<number> {
    let scans = 0;
    const reads = this.log.reads.filter(({ sql }) => /^(?:SELECT|WITH)/.test(sql));
    for (const { sql, parameters } of reads) {
      const steps = await this.dataSource.query<{ detail: string }[]>(`EXPLAIN QUERY PLAN ${sql}`, [
        ...parameters,
      ]);
      scans += steps.filter(({ detail }) =>
        /^SCAN (?!restify_page|p$|r$|\(|\d|CONSTANT)/.test(detail),
      ).length;
    }
    return scans;
  }
}
