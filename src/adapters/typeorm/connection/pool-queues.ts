import type { DataSource } from 'typeorm';
import type { Requester } from '../../../core/contracts/requester.js';
import { isPromise } from '../../../core/maybe-promise.js';
import type { ReadFrom } from './cancellable-reads.js';
import { PoolQueue } from './pool-queue.js';
import type { Turn } from './pool-queue.js';
import type { AcquireDeadlines } from './acquire-timeout.js';

/** What pools hold where nobody says otherwise, in both drivers. */
const DRIVERS_SIZE = 10;

/** One a data source: two prefixes share its pools. */
const QUEUES = new WeakMap<DataSource, Map<ReadFrom, PoolQueue>>();

/** Whose turn it is at the pools of a data source: that of the primary, and those of its replicas as one. */
export class PoolQueues {
  constructor(
    private readonly dataSource: DataSource,
    private readonly rules: { readonly fairShare: boolean; readonly waiting: AcquireDeadlines },
  ) {}

  /** `use` has the turn until it leaves it. */
  inTurn<Result>(
    from: ReadFrom,
    requester: Requester | undefined,
    use: (turn: Turn | undefined) => Promise<Result>,
  ): Promise<Result> {
    const turn = this.queueOf(from).enter(this.rules.fairShare ? requester : undefined, this.rules.waiting);
    return isPromise(turn) ? turn.then(use) : use(turn);
  }

  private queueOf(from: ReadFrom): PoolQueue {
    const known = QUEUES.get(this.dataSource) ?? new Map<ReadFrom, PoolQueue>();
    QUEUES.set(this.dataSource, known);
    const pool = this.replicas().length > 0 ? from : 'primary';
    const queue = known.get(pool) ?? new PoolQueue(this.sizeOf(pool));
    known.set(pool, queue);
    return queue;
  }

  private replicas(): readonly Credentials[] {
    return (this.dataSource.options as Sized).replication?.slaves ?? [];
  }

  private sizeOf(from: ReadFrom): number {
    const { poolSize, extra, replication } = this.dataSource.options as Sized;
    const said = extra?.max ?? extra?.connectionLimit;
    const sizeBy = (credentials: Credentials | undefined): number =>
      said ?? credentials?.poolSize ?? poolSize ?? DRIVERS_SIZE;
    return from === 'primary'
      ? sizeBy(replication?.master)
      : this.replicas().reduce((sum, each) => sum + sizeBy(each), 0);
  }
}

interface Credentials {
  readonly poolSize?: number;
}

/** Of options of TypeORM: what says how many connections a pool has. */
interface Sized extends Credentials {
  readonly extra?: { readonly max?: number; readonly connectionLimit?: number };
  readonly replication?: { readonly master?: Credentials; readonly slaves?: readonly Credentials[] };
}
