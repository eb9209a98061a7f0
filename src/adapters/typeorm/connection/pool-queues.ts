import type { DataSource } from 'typeorm';
import { isPromise } from '../../../core/maybe-promise.js';
import type { ReadFrom, Reading } from './cancellable-reads.js';
import { PoolQueue } from './pool-queue.js';
import type { Permit } from './pool-queue.js';
import type { AcquireDeadlines } from './acquire-timeout.js';

/** The default pool size of both drivers. */
const DEFAULT_POOL_SIZE = 10;

/** One set of queues for each data source: two prefixes may share its pools. */
const QUEUES = new WeakMap<DataSource, Map<ReadFrom, PoolQueue>>();

/** The fair queues of a data source's pools: one for the primary, and one for all of its replicas. */
export class PoolQueues {
  constructor(
    private readonly dataSource: DataSource,
    private readonly rules: { readonly fairShare: boolean; readonly deadlines: AcquireDeadlines },
  ) {}

  /**
   * Runs `use` with a permit, which `use` releases itself. With `pool`, the permit may come with a connection of that
   * pool.
   */
  withPermit<Result>(
    { from, requester }: Reading,
    use: (permit: Permit | undefined) => Promise<Result>,
    pool?: object,
  ): Promise<Result> {
    const { fairShare, deadlines } = this.rules;
    const permit = this.queueOf(from).enter(fairShare ? requester : undefined, deadlines, pool);
    return isPromise(permit) ? permit.then(use) : use(permit);
  }

  private queueOf(from: ReadFrom): PoolQueue {
    const known = QUEUES.get(this.dataSource) ?? new Map<ReadFrom, PoolQueue>();
    QUEUES.set(this.dataSource, known);
    const pool = this.replicas().length > 0 ? from : 'primary';
    const queue = known.get(pool) ?? new PoolQueue(this.sizeOf(pool));
    known.set(pool, queue);
    return queue;
  }

  private replicas(): readonly DriverCredentials[] {
    return (this.dataSource.options as Sized).replication?.slaves ?? [];
  }

  private sizeOf(from: ReadFrom): number {
    const { poolSize, extra, replication } = this.dataSource.options as Sized;
    const configured = extra?.max ?? extra?.connectionLimit;
    const sizeBy = (credentials: DriverCredentials | undefined): number =>
      configured ?? credentials?.poolSize ?? poolSize ?? DEFAULT_POOL_SIZE;
    return from === 'primary'
      ? sizeBy(replication?.master)
      : this.replicas().reduce((sum, each) => sum + sizeBy(each), 0);
  }
}

interface DriverCredentials {
  readonly poolSize?: number;
}

/** The options of TypeORM that set the size of a pool. */
interface Sized extends DriverCredentials {
  readonly extra?: { readonly max?: number; readonly connectionLimit?: number };
  readonly replication?: {
    readonly master?: DriverCredentials;
    readonly slaves?: readonly DriverCredentials[];
  };
}
