import {
  IdempotencyKeyConflict,
  IdempotencyKeyReused,
  PermissionDenied,
} from '../../core/errors/http-exceptions.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { conjunction } from '../../core/query/condition.js';
import { evaluateCondition } from '../../core/query/evaluate-condition.js';
import type { CompletedRows } from '../../core/query/plan.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import { copyOf, exactMember, parseJson, writeJson } from '../../core/values/exact-numbers.js';
import { inSlices } from '../../core/event-loop.js';
import { HttpInput } from '../../request/request-input.js';
import { HttpIdempotentRequest } from '../../request/idempotent-request.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import type { IdempotencyStore, Claim } from '../../core/contracts/response-store.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { belongsTo, keyCondition } from '../../request/plan/row-conditions.js';
import { represent } from '../../request/represent-row.js';

/** Identifies a request that creates rows by its `Idempotency-Key`, in models that store their responses. */
export function identifyIdempotentRequest(
  { idempotency: rules }: Resource,
  method: string,
): readonly Stage[] {
  if (!rules || method !== 'POST') return [];
  return [
    (context) => {
      const { exchange, input } = context;
      if (exchange && input instanceof HttpInput)
        context.idempotency = new HttpIdempotentRequest(context, { exchange, input, rules });
    },
  ];
}

/**
 * Creates one or many rows. `completed` must run inside their transaction, after they are written; its error rolls them
 * back.
 */
export type WriteRows = (
  context: RestContext,
  completed: CompletedRows | undefined,
) => Promise<readonly Row[]>;

/** A request that creates rows. */
export interface Creation {
  readonly write: WriteRows;
  /** Represents the rows inside of their transaction. */
  readonly answer?: CompletedRows | undefined;
  /** The view in which the caller reads rows that an upsert has changed. */
  readonly changed?: RestContext | undefined;
}

export interface CreatedRows {
  readonly rows: readonly Row[];
  /** True if an earlier request with the same key created the rows; they are as returned then. */
  readonly replayed: boolean;
}

/** A stored row: its representation, and its values by field. */
interface ResponseRow {
  readonly value: Representation;
  readonly key: readonly Json[];
  readonly identity?: readonly Json[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly changed?: boolean;
}

/** The views in which the caller reads created rows, and rows updated by an upsert. */
interface Views {
  readonly created: RestContext;
  readonly changed: RestContext;
}

/**
 * Runs a request with an `Idempotency-Key` once: of requests with the same key one creates the rows; the others get its
 * response, or an error while it is running. A failed request leaves no record, and can be retried.
 */
export class IdempotentWrites {
  constructor(
    private readonly adapter: DataAdapter,
    private readonly store: IdempotencyStore,
  ) {}

  /** Throws 400, 409 and 422 beside the errors of `write`; 403 if the caller may no longer read those rows. */
  async runOnce(context: RestContext, creation: Creation): Promise<CreatedRows> {
    const { idempotency } = context;
    const { write, answer, changed } = creation;
    if (!idempotency) return { rows: await write(context, answer), replayed: false };
    // Errors of the body come before those of the key.
    await context.items();
    const views = { created: context, changed: changed ?? context };
    const key = idempotency.key();
    if (key === undefined) return { rows: await write(context, answer), replayed: false };
    const outcome = await this.store.claim(await idempotency.claim(key));
    switch (outcome.kind) {
      case 'claimed':
        return { rows: await this.write(outcome.claim, views, creation), replayed: false };
      case 'completed':
        return { rows: await this.restore(outcome.response, views), replayed: true };
      case 'other':
        throw new IdempotencyKeyReused();
      case 'running':
        throw new IdempotencyKeyConflict();
      default:
        return outcome satisfies never;
    }
  }

  private async write(claim: Claim, views: Views, { write, answer }: Creation): Promise<readonly Row[]> {
    let stored: readonly ResponseRow[] | undefined;
    // The stored representation is returned, even if the serializer would return another one each time.
    const answered = (rows: readonly Row[]): readonly Row[] =>
      rows.map((row, index) => ({ ...row, answered: stored?.[index]?.value ?? {} }));
    try {
      const written = await write(views.created, async (rows, transaction) => {
        stored = rows.map((row) => toResponseRow(row, viewContext(row, views)));
        if (!(await this.store.complete(claim, writeJson(stored), transaction)))
          throw new IdempotencyKeyConflict();
        await answer?.(answered(rows), transaction);
      });
      // Without rows there is nothing to store.
      if (!stored) await this.store.release(claim);
      return answered(written);
    } catch (error) {
      // If releasing fails too, the claim expires.
      await this.store.release(claim).catch(() => undefined);
      throw error;
    }
  }

  private async restore(response: string, views: Views): Promise<readonly Row[]> {
    const stored = parseJson(response) as unknown as readonly ResponseRow[];
    for await (const each of inSlices(stored))
      if (!(await this.mayRead(each, viewContext(each, views)))) throw new PermissionDenied();
    return stored.map(({ value, key, identity, values, changed = false }) => {
      const { resource } = viewContext({ changed }, views);
      return {
        key,
        changed,
        values: resource.fields
          .filter(({ readable }) => readable)
          .map(({ name }) => exactMember(values, name)),
        ...(identity ? { identity } : {}),
        answered: withoutHiddenFields(value, values, resource),
      };
    });
  }

  /** True if the current grants include the row. A deleted row discloses nothing new. */
  private async mayRead(
    { key, values }: ResponseRow,
    { resource, scope, route, parent }: RestContext,
  ): Promise<boolean> {
    const holds = evaluateCondition(scope, (id) => valueOfColumn(id, resource, values));
    if (holds !== undefined) return holds;
    const withKey = conjunction([
      keyCondition(key, resource),
      ...(parent && route.relation ? [belongsTo(route.relation, parent)] : []),
    ]);
    const exists = (where = withKey): Promise<boolean> =>
      this.adapter.exists({ resource, where, forWriting: true });
    return (await exists(conjunction([withKey, scope]))) || !(await exists());
  }
}

function viewContext({ changed }: Pick<Row, 'changed'>, views: Views): RestContext {
  return changed === true ? views.changed : views.created;
}

/** The rows as JSON-compatible values; field selections are applied, and expansions read, again on replay. */
function toResponseRow(row: Row, context: RestContext): ResponseRow {
  const readable = context.resource.fields.filter(({ readable }) => readable);
  return {
    value: represent(row, context.fork({ shape: undefined })),
    key: row.key,
    ...(row.identity ? { identity: row.identity } : {}),
    ...(row.changed === true ? { changed: true } : {}),
    values: Object.fromEntries(readable.map(({ name }, index) => [name, row.values[index] ?? null])),
  };
}

/**
 * The stored representation without fields that the caller may no longer read. Undefined if a custom serializer produced
 * other members than the fields: it then represents the remaining values.
 */
function withoutHiddenFields(
  value: Representation,
  values: ResponseRow['values'],
  { fieldsByName, hasDefaultSerializer }: Resource,
): Representation | undefined {
  const hidden = new Set(Object.keys(values).filter((name) => fieldsByName.get(name)?.readable !== true));
  if (hidden.size === 0) return value;
  if (!hasDefaultSerializer) return undefined;
  return copyOf(value, Object.fromEntries(Object.entries(value).filter(([name]) => !hidden.has(name))));
}

/** Undefined if the stored values are not sufficient. */
function valueOfColumn(id: string, { fields }: Resource, values: ResponseRow['values']): Json | undefined {
  for (const field of fields) {
    const value = values[field.name] as Json | undefined;
    if (field.kind === 'column' && field.column.id === id) return value;
    const [pair, ...more] = field.kind === 'to-one' ? field.relation.on : [];
    if (pair?.near.id === id && more.length === 0 && field.kind === 'to-one' && field.relation.byKey)
      return value;
  }
  return undefined;
}
