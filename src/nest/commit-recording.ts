import type { AfterCommit, CommittedWrite } from '../core/contracts/hooks.js';
import type { CallbackQueue } from '../core/callback-queue.js';
import type { Completed, Recording } from '../core/query/plan.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import type { ReportError } from '../execution/connection/connection-manager.js';

/** Calls `afterCommit` of a prefix, or of a controller class, which may have an instance for each request. */
export type AfterCommitCall = (
  first: CommittedWrite,
  ...parameters: Parameters<AfterCommit['afterCommit']>
) => void | Promise<void>;

export interface CommitRecordingParts {
  readonly calls: readonly AfterCommitCall[];
  readonly queue: CallbackQueue;
  readonly reportError: ReportError;
}

/** Calls `afterCommit` for the writes of one model. */
export class CommitRecording implements Recording {
  readonly images = 'both';

  constructor(
    private readonly resource: ResourceSchema,
    private readonly parts: CommitRecordingParts,
  ) {}

  committed(completed: readonly Completed[]): void {
    const { resource } = this;
    const { calls, queue, reportError } = this.parts;
    const writes = Object.freeze(completed.flatMap(committedWrite));
    const [first] = writes;
    if (!first) return;
    const about = {
      subject: `Writes are committed, and afterCommit of ${resource.className} has failed`,
      requester: completed[0]?.origin?.requester,
    };
    for (const call of calls)
      queue.add(async () => {
        try {
          await call(first, writes, { resource });
        } catch (error) {
          reportError(error, about);
        }
      });
  }
}

function committedWrite({ origin, before, after }: Completed): CommittedWrite | readonly [] {
  if (!origin) return [];
  const { operation, actor, requester } = origin;
  return Object.freeze({
    operation,
    actor,
    request: requester?.call?.request,
    stored: before,
    values: after,
  });
}
