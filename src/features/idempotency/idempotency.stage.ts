import { createHash } from 'node:crypto';
import type { Idempotency, IdempotencyStore, Claim, ClaimRequest } from '../../core/contracts/idempotency.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import {
  IdempotencyKeyConflict,
  IdempotencyKeyReused,
  PermissionDenied,
  MalformedRequest,
} from '../../core/errors/http-exceptions.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { inSlices } from '../../core/event-loop.js';
import { conjunction } from '../../core/query/condition.js';
import { evaluateCondition } from '../../core/query/evaluate-condition.js';
import type { CompletedRows } from '../../core/query/plan.js';
import { actorNames } from '../../core/schema/caller.js';
import type { Caller } from '../../core/schema/caller.js';
import { MAX_IDEMPOTENCY_KEY } from '../../core/schema/limits.js';
import type { Resource } from '../../core/schema/resource.js';
import { keyText } from '../../core/values/keys.js';
import { copyOf, exactMember, parseJson, writeJson, ExactNumber } from '../../core/values/exact-numbers.js';
import type { HttpExchange } from '../../request/http-exchange.js';
import { belongsTo, keyCondition } from '../../request/plan/row-conditions.js';
import { represent } from '../../request/represent-row.js';
import { HttpInput, readJsonValue } from '../../request/request-input.js';
import { listPath } from '../../request/resource-urls.js';
import type { RestContext, Stage, IdempotentRequest } from '../../request/rest-context.js';

/** A request over HTTP that creates, restores or purges, identified by its `Idempotency-Key`. One object for each request. */
class HttpIdempotentRequest implements IdempotentRequest {
  readonly ignoresBody: boolean;
  /** The number of claims so far: a method of the application may create several rows. */
  private sequence = 0;

  constructor(
    private readonly context: RestContext,
    private readonly from: {
      readonly exchange: HttpExchange;
      readonly input: HttpInput;
      readonly rules: Idempotency;
    },
  ) {
    const operation = context.route.operations.get('POST');
    this.ignoresBody = operation === 'restore' || operation === 'purge';
  }

  key(): string | undefined {
    const { exchange, rules } = this.from;
    return parseIdempotencyKey(exchange.header('idempotency-key'), rules.require && !this.ignoresBody);
  }

  async claim(key: string): Promise<ClaimRequest> {
    const { exchange, input, rules } = this.from;
    const { actor, base, keys, route } = this.context;
    const object = this.ignoresBody ? `/${keyText(keys.key ?? [])}/${route.segment ?? ''}` : '';
    // Hashed, so that the database does not disclose it.
    const id = digest([
      `${base}/${listPath(this.context)}${object}`,
      callerOf({ actor, address: exchange.address }, rules),
      key,
      this.sequence++,
    ]);
    const body = this.ignoresBody ? null : readJsonValue(await input.receivedBody());
    // The order of members does not matter.
    return { id, fingerprint: digest([id, exchange.query, sorted(body)]), life: rules.life };
  }
}

/** A string of RFC 9651, as in the Internet-Draft. Quotes and backslashes are escaped. */
const QUOTED = /^"((?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
/** A key without quotes, as most clients send it; it must not contain a quote, which would be ambiguous. */
const BARE = /^[\x21\x23-\x7e]+$/;

/** The key of a request: `"abc"` and `abc` are equal. Undefined without the header. Throws 400. */
function parseIdempotencyKey(header: string | undefined, required: boolean): string | undefined {
  if (header === undefined) {
    if (required) throw new MalformedRequest('Send an Idempotency-Key, a new one for each new object.');
    return undefined;
  }
  const quoted = QUOTED.exec(header)?.[1]?.replace(/\\(.)/g, '$1');
  const key = quoted ?? (BARE.test(header) ? header : '');
  if (key === '' || key.length > MAX_IDEMPOTENCY_KEY)
    throw new MalformedRequest(
      `Idempotency-Key must be 1 to ${MAX_IDEMPOTENCY_KEY} visible ASCII characters, in quotes or without.`,
    );
  return key;
}

/** Identifies the caller: callers that cannot be distinguished would get each other's responses. Throws 400 for them. */
function callerOf({ actor, address }: Caller, { key }: Idempotency): readonly unknown[] {
  if (actor === null) return ['address', address];
  const named = key ? [key(actor)] : actorNames(actor);
  if (named.every((each) => each === undefined))
    throw new MalformedRequest('Idempotency-Key cannot be used: nothing tells this caller from others.');
  return ['actor', ...named];
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Recursive: the depth of bodies is limited by the parser. */
function sorted(value: unknown): unknown {
  if (value instanceof ExactNumber) return { number: value.text };
  if (Array.isArray(value)) return value.map((_, index) => sorted(exactMember(value, index)));
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  return { members: names.map((name) => [name, sorted(exactMember(value, name))]) };
}

/** Identifies a request that creates, restores or purges rows by its `Idempotency-Key`, in models that store their responses. */
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
 * Writes one or many rows; a purge leaves none. `completed` must run inside their transaction, after they are written; its error rolls them
 * back.
 */
export type WriteRows = (
  context: RestContext,
  completed: CompletedRows | undefined,
) => Promise<readonly Row[]>;

/** A request that is executed once. */
export interface Creation {
  readonly write: WriteRows;
  /** Represents the rows inside of their transaction. */
  readonly completed?: CompletedRows | undefined;
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
    const { write, completed, changed } = creation;
    if (!idempotency) return { rows: await write(context, completed), replayed: false };
    // Errors of the body come before those of the key.
    if (!idempotency.ignoresBody) await context.items();
    const views = { created: context, changed: changed ?? context };
    const key = idempotency.key();
    if (key === undefined) return { rows: await write(context, completed), replayed: false };
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

  private async write(claim: Claim, views: Views, { write, completed }: Creation): Promise<readonly Row[]> {
    let stored: readonly ResponseRow[] | undefined;
    // The stored representation is returned, even if the serializer would return another one each time.
    const answered = (rows: readonly Row[]): readonly Row[] =>
      rows.map((row, index) => ({ ...row, answered: stored?.[index]?.value ?? {} }));
    try {
      const written = await write(views.created, async (rows, transaction) => {
        stored = rows.map((row) => toResponseRow(row, viewContext(row, views)));
        if (!(await this.store.complete(claim, writeJson(stored), transaction)))
          throw new IdempotencyKeyConflict();
        await completed?.(answered(rows), transaction);
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
    const shown: ResponseRow[] = [];
    for (const each of stored) shown.push(await this.withoutHiddenKeys(each, viewContext(each, views)));
    return shown.map(({ value, key, identity, values, changed = false }) => {
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

  /** The row with those of its related keys that the caller sees now. */
  private async withoutHiddenKeys(stored: ResponseRow, { resource }: RestContext): Promise<ResponseRow> {
    const { hasRelatedKeys, hasDefaultSerializer, fields } = resource;
    if (!hasRelatedKeys) return stored;
    const where = keyCondition(stored.key, resource);
    const row = await this.adapter.read({ kind: 'retrieve', resource, where, forWriting: true }, 'rows');
    const cut: Record<string, unknown> = {};
    for (const [index, { kind, name }] of fields.filter(({ readable }) => readable).entries()) {
      const then = stored.values[name];
      if (kind !== 'keys' || !Array.isArray(then)) continue;
      const now = new Set(row?.values[index] as readonly Json[] | undefined);
      cut[name] = then.filter((key: Json) => now.has(key));
    }
    const own = Object.keys(cut).filter((name) => hasDefaultSerializer && name in stored.value);
    const value = Object.fromEntries(own.map((name) => [name, cut[name]]));
    return {
      ...stored,
      value: copyOf(stored.value, { ...stored.value, ...value }),
      values: copyOf(stored.values, { ...stored.values, ...cut }),
    };
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
    value: represent(row, context.fork({ fieldSelection: undefined })),
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
    if (pair?.localColumn.id === id && more.length === 0 && field.kind === 'to-one' && field.relation.byKey)
      return value;
  }
  return undefined;
}
