import { ClientClosedRequest } from '../../../core/errors/http-exceptions.js';
import type { Requester } from '../../../core/contracts/requester.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { RunningRead } from './running-reads.js';
import type { ReadRules } from './running-reads.js';

/** The primary has every write; a replica, where there is one, may lag behind it. */
export type ReadFrom = 'primary' | 'replica';

/** For whom something is read, and of which server. */
export interface Reading {
  readonly from: ReadFrom;
  readonly requester: Requester | undefined;
}

/** What is read over connections of one data source, as far as its database can cancel it: on SQLite nothing runs beside a statement. */
export class CancellableReads {
  private readonly rules: ReadRules | undefined;

  /** `limit` in milliseconds; undefined for any time. */
  constructor(dialect: Dialect, limit: number | undefined) {
    const { canceller } = dialect;
    const discard = (connection: unknown): void => {
      dialect.discard(connection);
    };
    this.rules = canceller && { canceller, discard, limit };
  }

  /** From here on it may be cancelled, until it is ended. */
  watch(connection: unknown, { from, requester }: Reading): RunningRead | undefined {
    return (
      this.rules &&
      RunningRead.begin(connection, {
        rules: this.rules,
        requester: from === 'replica' ? requester : undefined,
      })
    );
  }
}

/** Whether its client has gone. What belongs to a write reads the primary, and is done whether or not its client is still there. */
export function isUnwanted({ from, requester }: Reading): boolean {
  return from === 'replica' && requester?.isAborted() === true;
}

/** What a client who has gone asked for has been cancelled, or has failed: undefined is good for it. */
export function unwanted(error: unknown): undefined {
  if (error instanceof ClientClosedRequest) return undefined;
  throw error;
}
