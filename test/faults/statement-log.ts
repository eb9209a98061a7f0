import type { Logger } from 'typeorm';

/** Keeps what TypeORM reports of its statements. */
export class StatementLog implements Logger {
  readonly statements: string[] = [];
  readonly slow: string[] = [];
  readonly failed: string[] = [];

  logQuery(query: string): void {
    this.statements.push(query);
  }

  logQueryError(_error: string | Error, query: string): void {
    this.failed.push(query);
  }

  logQuerySlow(_time: number, query: string): void {
    this.slow.push(query);
  }

  logSchemaBuild(): void {
    // Of no interest here.
  }

  logMigration(): void {
    // Of no interest here.
  }

  log(): void {
    // Of no interest here.
  }

  clear(): void {
    for (const list of [this.statements, this.slow, this.failed]) list.length = 0;
  }
}
