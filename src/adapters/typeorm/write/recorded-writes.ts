import type { QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { StoredValues } from '../../../core/contracts/hooks.js';
import type { BatchPlan, Completed, CreatePlan, UpdatePlan, WritePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Written } from '../../../execution/connection/connection-manager.js';
import { keyText } from '../../../core/values/keys.js';
import { StoredImages } from './stored-images.js';
import type { PreparedWrite, WriterTools } from './row-writer.js';

interface RecordedWrite {
  readonly plan: WritePlan;
  readonly key: Completed['key'];
  /** Its place among the writes of the session before any that belongs to it. */
  readonly at: number | undefined;
}

const NOTHING_KNOWN: ReadonlyMap<WritePlan, StoredValues> = new Map();

/** The values of the columns that identify a row in its table. */
export function identityOfRow({ identity, key }: Row): readonly Json[] {
  return identity ?? key;
}

/** Records the write of one statement that returns its row; undefined if nothing asks for it. */
export function recordOf(
  { kind, resource, recording, origin }: CreatePlan | UpdatePlan,
  { connections, reader }: Pick<WriterTools, 'connections' | 'reader'>,
): Written<QueryRunner> | undefined {
  return (
    recording &&
    ((records, runner) => {
      const row = reader.rowOf(records);
      if (row)
        connections.committed.add(runner, recording, { kind, resource, origin, key: identityOfRow(row) });
    })
  );
}

/**
 * Records the writes of one attempt at a transaction, for the plans that ask for it, and reads what their hooks know of the rows. The
 * recorded ones wait for the COMMIT of the query runner.
 */
export class WriteRecorder {
  private readonly done: RecordedWrite[] = [];
  private readonly before = new Map<WritePlan, StoredValues | undefined>();
  private at: number | undefined;

  private constructor(
    private readonly plans: readonly WritePlan[],
    private readonly toolsOf: (resource: ResourceSchema) => WriterTools,
  ) {}

  /** Undefined if no plan asks for it. */
  static of(
    steps: readonly (BatchPlan['steps'][number] | WritePlan)[],
    toolsOf: (resource: ResourceSchema) => WriterTools,
  ): WriteRecorder | undefined {
    const plans = steps.flatMap(plansOf);
    return plans.some(({ recording, hooks }) => recording ?? hooks.keepStored)
      ? new WriteRecorder(plans, toolsOf)
      : undefined;
  }

  /** Reads and locks the rows as they are before the first write, but those that are `known`. */
  begin(runner: QueryRunner, known: ReadonlyMap<WritePlan, StoredValues> = NOTHING_KNOWN): Promise<void> {
    for (const [plan, image] of known) this.keep(plan, image);
    return this.readBefore(
      this.plans.filter((plan) => !known.has(plan)),
      runner,
    );
  }

  private keep(plan: WritePlan, image: StoredValues | undefined): void {
    this.before.set(plan, image);
    if (plan.kind !== 'create') plan.hooks.keepStored?.(image);
  }

  /** Called before each step of a batch. Reads the row of an upsert that was not there then, and is now. */
  async beginLate(
    step: BatchPlan['steps'][number] | undefined,
    prepared: Pick<PreparedWrite<unknown>, 'isChange'> | undefined,
    runner: QueryRunner,
  ): Promise<void> {
    this.beginRow(step, runner);
    if (step?.kind === 'upsert' && prepared?.isChange === true && !this.before.get(step.update))
      await this.readBefore([step.update], runner);
  }

  private async readBefore(all: readonly WritePlan[], runner: QueryRunner): Promise<void> {
    const plans = all.filter(
      (plan) => plan.kind !== 'create' && (plan.recording?.images === 'both' || plan.hooks.keepStored),
    ) as readonly Exclude<WritePlan, { kind: 'create' }>[];
    for (const [resource, of] of byResource(plans, (plan) => plan.resource)) {
      const images = await this.imagesOf(resource).ofEachLocked(of, runner);
      for (const [index, plan] of of.entries()) this.keep(plan, images[index]);
    }
  }

  /** Called before each row is written: its children are recorded first, and told behind it. */
  beginRow(step: BatchPlan['steps'][number] | WritePlan | undefined, runner: QueryRunner): void {
    const hasChildren = step !== undefined && 'children' in step && step.children !== undefined;
    this.at = hasChildren ? this.toolsOf(step.resource).connections.committed.countOf(runner) : undefined;
  }

  add(plan: WritePlan | undefined, key: Completed['key']): void {
    if (plan?.recording) this.done.push({ plan, key, at: this.at });
  }

  /** Reads the rows as they are after the last write, and records all. */
  async end(runner: QueryRunner): Promise<void> {
    const read = this.done.filter(({ plan }) => plan.kind !== 'delete' && plan.recording?.images);
    const after = new Map<ResourceSchema, ReadonlyMap<string, StoredValues>>();
    for (const [resource, of] of byResource(read, ({ plan }) => writtenView(plan))) {
      const keys = of.map(({ key }) => key);
      after.set(resource, await this.imagesOf(resource).ofRows(keys, runner));
    }
    for (const [index, { plan, key, at }] of this.done.entries()) {
      const { kind, resource, recording, origin } = plan;
      const { committed } = this.toolsOf(resource).connections;
      const images = recording?.images && {
        before: this.before.get(plan),
        after: kind === 'delete' ? undefined : after.get(writtenView(plan))?.get(keyText(key)),
      };
      const place = at === undefined ? undefined : at + index;
      if (recording) committed.add(runner, recording, { kind, resource, origin, key, ...images, at: place });
    }
  }

  private imagesOf(resource: ResourceSchema): StoredImages {
    return new StoredImages(resource, this.toolsOf(resource));
  }
}

/** The view that has the row after the write. */
function writtenView(plan: WritePlan): ResourceSchema {
  return plan.kind === 'restore' ? plan.shown : plan.resource;
}

function plansOf(step: BatchPlan['steps'][number] | WritePlan): readonly WritePlan[] {
  switch (step.kind) {
    case 'upsert':
      return [step.update, step.create];
    case 'refused':
      return [];
    default:
      return [step];
  }
}

function byResource<Each>(
  all: readonly Each[],
  resourceOf: (each: Each) => ResourceSchema,
): ReadonlyMap<ResourceSchema, readonly Each[]> {
  const grouped = new Map<ResourceSchema, Each[]>();
  for (const each of all) {
    const resource = resourceOf(each);
    grouped.set(resource, [...(grouped.get(resource) ?? []), each]);
  }
  return grouped;
}
