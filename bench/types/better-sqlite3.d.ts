/** The used part of better-sqlite3, which has no types. */
declare module 'better-sqlite3' {
  export interface Statement {
    all(...values: readonly unknown[]): Record<string, unknown>[];
    get(...values: readonly unknown[]): Record<string, unknown> | undefined;
    /** Returns the first column only. */
    pluck(): this;
    /** Returns records as arrays. */
    raw(): RawStatement;
    run(...values: readonly unknown[]): unknown;
  }
  export interface RawStatement {
    all(...values: readonly unknown[]): unknown[][];
  }
  export default class Database {
    constructor(file: string);
    prepare(sql: string): Statement;
    exec(sql: string): this;
    pragma(text: string): unknown;
    close(): this;
  }
}
