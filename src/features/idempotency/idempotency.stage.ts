import {
  IdempotencyKeyConflict,
  IdempotencyKeyReused,
  PermissionDenied,
} from '../../core/errors/http-exceptions.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { allOf } from '../../core/query/condition.js';
import { evaluateCondition } from '../../core/query/evaluate-condition.js';
import type { CompletedRows } from '../../core/query/plan.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import { inSlices } from '../../core/event-loop.js';
import { HttpInput } from '../../request/http-input.js';
import { HttpIdempotentRequest } from '../../request/idempotent-request.js';
import type { RestContext } from '../../request/rest-context.js';
import type { Stage } from '../../request/stage.js';
import type { IdempotencyStore, Claim } from '../../core/contracts/response-store.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { belongsTo, keyCondition } from '../../request/plan/plan-read.js';
import { represent } from '../../request/represent-row.js';
import { ModelSerializer } from '../serialization/model-serializer.js';

/** Identifies a request that creates rows by its `Idempotency-Key`, in models that store their responses. */
export function identifyRequest({ idempotency: rules }: Resource, method: string): readonly Stage[] {
  if (!rules || method !== 'POST') return [];
  return [
    (context) => {
      const { exchange, input } = context;
      if (exchange && input instanceof HttpInput)
        context.idempotency = new HttpIdempotentRequest(context, { exchange, input, rules });
    },
  ];
}

/** Makes one row or many. `completed` must be run inside their transaction, when they are there; what it throws undoes them. */
export type WriteRows = (
  context: RestContext,
  completed: CompletedRows | undefined,
) => Promise<readonly Row[]>;

export interface MadeRows {
  readonly rows: readonly Row[];
  /** Whether they were made by an earlier request with the same key, and stand here as they were answered then. */
  readonly replayed: boolean;
}

/** A row as it is kept: what was answered, and its values by field. */
interface StoredRow {
  readonly value: Representation;
  readonly key: readonly Json[];
  readonly identity?: readonly Json[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly changed?: boolean;
}

/** As callers see the rows that are made; those that were there before maybe in another way. */
interface Views {
  readonly made: RestContext;
  readonly changed: RestContext;
}

/**
 * Does what a request with an `Idempotency-Key` asks for once: of requests with the same key one makes the rows, and all
 * others are answered as that one was, or told that it has not ended. What fails leaves nothing behind, and may be tried again.
 */
export class IdempotentWrites {
  constructor(
    private readonly adapter: DataAdapter,
    private readonly answers: IdempotencyStore,
  ) {}

  /** Throws 400, 409 and 422 beside what `write` throws; 403 where the caller may not have those rows any more. */
  async runOnce(context: RestContext, write: WriteRows, changed?: RestContext): Promise<MadeRows> {
    const { idempotency } = context;
    if (!idempotency) return { rows: await write(context, undefined), replayed: false };
    // Errors of the body come before those of the key.
    await context.items();
    const views = { made: context, changed: changed ?? context };
    const key = idempotency.key();
    if (key === undefined) return { rows: await write(context, undefined), replayed: false };
    const outcome = await this.answers.claim(await idempotency.claim(key));
    switch (outcome.kind) {
      case 'claimed':
        return { rows: await this.write(outcome.claim, views, write), replayed: false };
      case 'answered':
        return { rows: await this.restored(outcome.answer, views), replayed: true };
      case 'other':
        throw new IdempotencyKeyReused();
      case 'running':
        throw new IdempotencyKeyConflict();
      default:
        return outcome satisfies never;
    }
  }

  private async write(claim: Claim, views: Views, write: WriteRows): Promise<readonly Row[]> {
    let kept: readonly StoredRow[] | undefined;
    try {
      const made = await write(views.made, async (rows, transaction) => {
        kept = rows.map((row) => keptRow(row, viewOf(row, views)));
        if (!(await this.answers.complete(claim, JSON.stringify(kept), transaction)))
          throw new IdempotencyKeyConflict();
      });
      // Where there is nothing to write, there is nothing to keep.
      if (!kept) await this.answers.release(claim);
      // What is answered is what is kept, also where it would be represented otherwise each time.
      return made.map((row, index) => ({ ...row, answered: kept?.[index]?.value ?? {} }));
    } catch (error) {
      // Where this fails too, the claim ends by itself.
      await this.answers.release(claim).catch(() => undefined);
      throw error;
    }
  }

  private async restored(answer: string, views: Views): Promise<readonly Row[]> {
    const kept = JSON.parse(answer) as readonly StoredRow[];
    for await (const each of inSlices(kept))
      if (!(await this.mayHave(each, viewOf(each, views)))) throw new PermissionDenied();
    return kept.map(({ value, key, identity, values, changed = false }) => {
      const { resource } = viewOf({ changed }, views);
      return {
        key,
        changed,
        values: resource.fields.filter(({ readable }) => readable).map(({ name }) => values[name]),
        ...(identity ? { identity } : {}),
        answered: readableNow(value, values, resource),
      };
    });
  }

  /** Whether the grants of now leave the caller the row. One that is gone tells nothing new. */
  private async mayHave(
    { key, values }: StoredRow,
    { resource, scope, route, parent }: RestContext,
  ): Promise<boolean> {
    const holds = evaluateCondition(scope, (id) => valueOfColumn(id, resource, values));
    if (holds !== undefined) return holds;
    const named = allOf([
      keyCondition(key, resource),
      ...(parent && route.relation ? [belongsTo(route.relation, parent)] : []),
    ]);
    const isThere = (where = named): Promise<boolean> =>
      this.adapter.exists({ resource, where, forWriting: true });
    return (await isThere(allOf([named, scope]))) || !(await isThere());
  }
}

function viewOf({ changed }: Pick<Row, 'changed'>, views: Views): RestContext {
  return changed === true ? views.changed : views.made;
}

/** With no more than JSON can hold; a shape that the client asks for is cut from it anew, and what is expanded is read anew. */
function keptRow(row: Row, context: RestContext): StoredRow {
  const shown = context.resource.fields.filter(({ readable }) => readable);
  return {
    value: represent(row, context.fork({ shape: undefined })),
    key: row.key,
    ...(row.identity ? { identity: row.identity } : {}),
    ...(row.changed === true ? { changed: true } : {}),
    values: Object.fromEntries(shown.map(({ name }, index) => [name, row.values[index] ?? null])),
  };
}

/**
 * What was answered, without the fields that the caller may not read any more. Undefined where a serializer of the
 * application's own has made more of them than members of their names: it represents what is left.
 */
function readableNow(
  value: Representation,
  values: StoredRow['values'],
  { fieldsByName, serializer }: Resource,
): Representation | undefined {
  const hidden = new Set(Object.keys(values).filter((name) => fieldsByName.get(name)?.readable !== true));
  if (hidden.size === 0) return value;
  if (serializer.constructor !== ModelSerializer) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !hidden.has(name)));
}

/** Undefined where the kept values do not tell. */
function valueOfColumn(id: string, { fields }: Resource, values: StoredRow['values']): Json | undefined {
  for (const field of fields) {
    const value = values[field.name] as Json | undefined;
    if (field.kind === 'column' && field.column.id === id) return value;
    const [pair, ...more] = field.kind === 'to-one' ? field.relation.on : [];
    if (pair?.near.id === id && more.length === 0 && field.kind === 'to-one' && field.relation.byKey)
      return value;
  }
  return undefined;
}
