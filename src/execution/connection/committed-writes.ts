import type { Completed, Recording } from '../../core/query/plan.js';
import type { ConnectionPort, Session } from '../port.js';

/** A write that is not committed yet. */
interface PendingWrite {
  /** The number of transactions and savepoints that have to end before it is committed. */
  readonly depth: number;
  readonly recording: Recording;
  readonly completed: Completed;
  readonly tell: (recording: Recording, completed: readonly Completed[]) => void;
}

/** A write, and its place, where writes that belong to it have been added already. Default: behind all others. */
interface PlacedWrite extends Completed {
  readonly at?: number | undefined;
}

export interface CommittedWritesParts {
  /** As in `Dialect`. */
  readonly openTransaction: string | undefined;
  /** Runs work outside of the asynchronous context of the transaction. */
  readonly outside: (work: () => void) => void;
  readonly reportError: (error: unknown) => void;
}

/** By session. Several prefixes may share one: on SQLite, and in a transaction of the application. */
const PENDING = new WeakMap<Session, PendingWrites>();

/** Forgets what was written on this session in transactions and savepoints that are open inside of so many. */
export function forgetWritesAbove(session: Session, depth: number): void {
  PENDING.get(session)?.forgetAbove(depth);
}

/**
 * Tells of writes once they are committed, in their order: after the COMMIT of their session, of this package or of the application. The rollback of a savepoint discards its writes, the release hands them to the transaction around it. Nothing is told
 * of a COMMIT whose result is unknown, and of one that the application runs as a statement, which a session does not see.
 */
export class CommittedWrites<S extends Session> {
  constructor(
    private readonly port: ConnectionPort<S>,
    private readonly parts: CommittedWritesParts,
  ) {}

  /** The number of writes of a session that are not committed yet: the place of the next one. */
  countOf(session: S): number {
    return PENDING.get(session)?.count ?? 0;
  }

  /** @param session the session that has run the statement; undefined if a connection of the driver's pool has, which has committed it. */
  add(session: S | undefined, recording: Recording, { at, ...completed }: PlacedWrite): void {
    const depth = session ? this.port.openDepth(session) : 0;
    if (session && depth > 0)
      this.pendingOf(session).add({ depth, recording, completed, tell: this.tell }, at);
    else if (!this.port.isInTransaction()) this.tell(recording, [completed]);
  }

  private pendingOf(session: S): PendingWrites {
    const known = PENDING.get(session);
    if (known) return known;
    const pending = new PendingWrites(session, this.parts.openTransaction);
    PENDING.set(session, pending);
    this.port.observeTransactions(session, pending);
    return pending;
  }

  private readonly tell = (recording: Recording, completed: readonly Completed[]): void => {
    const { outside, reportError } = this.parts;
    outside(() => {
      try {
        recording.committed(completed);
      } catch (error) {
        reportError(error);
      }
    });
  };
}

/** The writes of one session that are not committed yet. */
class PendingWrites {
  private writes: PendingWrite[] = [];

  constructor(
    private readonly session: Session,
    private readonly openTransaction: string | undefined,
  ) {}

  get count(): number {
    return this.writes.length;
  }

  add(write: PendingWrite, at = this.count): void {
    this.writes.splice(at, 0, write);
  }

  begins(depth: number): void {
    this.forgetAbove(depth);
  }

  forgetAbove(most: number): void {
    this.writes = this.writes.filter(({ depth }) => depth <= most);
  }

  /** A COMMIT succeeds, too, after the database has rolled back because of an error that the application has caught. */
  async beforeCommit(): Promise<void> {
    if (this.writes.length === 0 || this.openTransaction === undefined) return;
    try {
      const [record] = (await this.session.query(this.openTransaction)) as readonly {
        readonly c0?: unknown;
      }[];
      if (Number(record?.c0) !== 1) this.writes = [];
    } catch {
      this.writes = [];
    }
  }

  ended(how: 'commit' | 'rollback', ended: number, isOpen: boolean): void {
    const { writes } = this;
    if (writes.length === 0) return;
    if (ended === 1) {
      this.writes = [];
      if (how === 'commit' && !isOpen) tellEach(writes);
    } else if (!isOpen) {
      this.forgetAbove(how === 'rollback' ? ended - 1 : ended);
      this.writes = this.writes.map((write) =>
        write.depth < ended ? write : { ...write, depth: ended - 1 },
      );
    }
  }
}

/** Tells each recording of its writes together. */
function tellEach(writes: readonly PendingWrite[]): void {
  const byRecording = new Map<Recording, [PendingWrite, ...PendingWrite[]]>();
  for (const write of writes) {
    const known = byRecording.get(write.recording);
    if (known) known.push(write);
    else byRecording.set(write.recording, [write]);
  }
  for (const [recording, of] of byRecording)
    of[0].tell(
      recording,
      of.map(({ completed }) => completed),
    );
}
