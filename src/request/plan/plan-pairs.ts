import type { ParsedBody } from '../../core/contracts/serializer.js';
import { InvalidInput, PermissionDenied } from '../../core/errors/http-exceptions.js';
import {
  BulkWriteError,
  emptyFieldErrors,
  textsOf,
  NON_FIELD_ERRORS,
} from '../../core/errors/rest-exception.js';
import type { BulkStepError, Json } from '../../core/errors/rest-exception.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { ALWAYS, conjunction, disjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type {
  BatchPlan,
  CreatePlan,
  DeletePlan,
  KeyCheck,
  PairWrites,
  ParentValues,
  RelatedRows,
  StartedPairs,
  WrittenIn,
} from '../../core/query/plan.js';
import type { GrantedPairs, KeysField, PairAccess } from '../../core/schema/field.js';
import { MAX_RELATED_KEYS } from '../../core/schema/limits.js';
import { relatedKeyOperands } from '../../core/schema/relation.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import { resourceOf } from '../../core/schema/resource.js';
import { keyRepresentation } from '../../core/values/keys.js';
import { itemError, TOO_MANY_KEYS } from '../../core/values/related-keys.js';
import type { ListedKey, RelatedKeys } from '../../core/values/related-keys.js';
import type { JsonObject } from '../request-input.js';
import type { RestContext } from '../rest-context.js';
import { MAX_FURTHER, PairsChanged } from './write-with-pairs.js';
import { belongsTo, keyCondition } from './row-conditions.js';

/** Plans one row as at the URL of the pairs. */
export interface PairPlans {
  create(context: RestContext, body: JsonObject): MaybePromise<CreatePlan>;
  delete(context: RestContext, where: Condition): DeletePlan;
}

const ANY_NUMBER = 2 ** 31 - 2;

const PAIR_EXISTS = 'An object with these values exists already.';

/** A body without its related keys, and what writes their pairs. */
interface PlannedPairs {
  readonly body: ParsedBody;
  readonly pairs: PairWrites | undefined;
}

export function planPairs(context: RestContext, body: ParsedBody, plans: PairPlans): PlannedPairs {
  if (!context.resource.hasRelatedKeys) return { body, pairs: undefined };
  const values = new Map(body.values);
  const fields = context.resource.fields.flatMap((field) => {
    if (field.kind !== 'keys' || !values.has(field.name)) return [];
    const keys = values.get(field.name) as RelatedKeys;
    values.delete(field.name);
    return field.granted && 'kind' in keys
      ? [new FieldPairs({ field, granted: field.granted, keys }, context, plans)]
      : [];
  });
  return { body: { ...body, values }, pairs: fields.length === 0 ? undefined : pairsOf(fields) };
}

function pairsOf(fields: readonly FieldPairs[]): PairWrites {
  return {
    keys: fields.flatMap((field) => field.keys),
    size: fields.reduce((sum, field) => sum + field.size, 0),
    begin: async (identity, within) => {
      const errors = emptyFieldErrors();
      const started: StartedPairs[] = [];
      for (const field of fields) started.push(await field.begin(identity, within));
      for (const each of started) Object.assign(errors, each.errors);
      return {
        keys: started.flatMap(({ keys }) => keys),
        errors,
        changes: started.some(({ changes }) => changes),
        write: async (written) => {
          for (const each of started) await each.write(written);
        },
      };
    },
  };
}

interface GivenKeys {
  readonly field: KeysField;
  readonly granted: GrantedPairs;
  readonly keys: RelatedKeys;
}

/** A pair that exists: the text of the related key, and its own key. */
type Pairs = ReadonlyMap<string, readonly Json[]>;

/** The changes of one field, found under the lock of the row. */
interface Changes {
  readonly added: readonly ListedKey[];
  readonly removed: Pairs;
  /** Whether the caller may not delete one of them. */
  readonly isForbidden: boolean;
}

const NO_PAIRS: Pairs = new Map();

/** Writes the pairs of one field of one row. */
class FieldPairs {
  private further = 0;

  constructor(
    private readonly given: GivenKeys,
    private readonly context: RestContext,
    private readonly plans: PairPlans,
  ) {}

  /** The checks of all keys for a new row. */
  get keys(): readonly KeyCheck[] {
    return this.checksOf(this.listed);
  }

  get size(): number {
    const { keys } = this.given;
    return keys.kind === 'set' ? keys.keys.length : keys.add.length + keys.remove.length;
  }

  private get listed(): readonly ListedKey[] {
    const { keys } = this.given;
    return keys.kind === 'set' ? keys.keys : keys.add;
  }

  /** Compares the keys with the pairs of the row; undefined for a new one. */
  async begin(identity: readonly Json[] | undefined, within: WrittenIn): Promise<StartedPairs> {
    const { field, granted, keys } = this.given;
    const shown = identity ? await this.read(granted.shown, identity, within) : NO_PAIRS;
    const missing = this.listed.filter(({ key }) => !shown.has(textOf(key)));
    const found = identity && missing.length > 0 ? await this.readAmong(missing, identity, within) : NO_PAIRS;
    const seen =
      found.size > 0 && granted.viewed.kind !== 'always' && identity
        ? await this.readAmong(missing, identity, { ...within, rows: granted.viewed })
        : found;
    const added = missing.filter(({ key }) => !seen.has(textOf(key)));
    const removed = removedOf(keys, shown);
    const errors = emptyFieldErrors();
    if (added.some(({ key }) => found.has(textOf(key)))) errors[field.name] = [PAIR_EXISTS];
    if (added.length > 0 && shown.size - removed.size + added.length > MAX_RELATED_KEYS)
      errors[field.name] = [TOO_MANY_KEYS];
    const isForbidden = identity !== undefined && !(await this.mayDelete(removed, identity, within));
    return {
      keys: this.checksOf(added),
      errors,
      changes: added.length + removed.size > 0,
      write: (written) => this.write({ added, removed, isForbidden }, written, within),
    };
  }

  /** Whether the caller may delete all of these pairs. */
  private async mayDelete(pairs: Pairs, identity: readonly Json[], within: WrittenIn): Promise<boolean> {
    const rows = this.given.granted.deletes?.grantCondition;
    if (pairs.size === 0) return true;
    if (!rows || rows.kind === 'always') return rows !== undefined;
    const allowed = await this.read(conjunction([this.given.granted.shown, rows]), identity, within);
    return [...pairs.keys()].every((text) => allowed.has(text));
  }

  private checksOf(listed: readonly ListedKey[]): readonly KeyCheck[] {
    const { field, granted, keys } = this.given;
    const { target } = field.other;
    return listed.map(({ key, index }) => {
      // Pairs are compared by the texts of their keys: another text for the same row would be another pair.
      const where = conjunction([granted.objects, keyCondition(key, target)]);
      const path = keys.kind === 'set' ? [field.name] : [field.name, 'add'];
      return { relation: field.other, path, item: index, key, where, exact: where };
    });
  }

  /** The pairs with one of these keys, those of deleted objects included. */
  private readAmong(
    listed: readonly ListedKey[],
    identity: readonly Json[],
    { rows = ALWAYS, ...within }: WrittenIn & { readonly rows?: Condition },
  ): Promise<Pairs> {
    const { stored } = this.given.field;
    return this.read(conjunction([rows, this.namedBy(listed)]), identity, { ...within, pairs: stored });
  }

  /** The pairs with one of these keys. */
  private namedBy(listed: readonly ListedKey[]): Condition {
    const operands = relatedKeyOperands(this.given.field.other);
    const [operand, ...more] = operands;
    if (operand && more.length === 0)
      return { kind: 'compare', operand, lookup: 'in', value: listed.map(({ key }) => key[0] ?? null) };
    return disjunction(
      listed.map(({ key }) =>
        conjunction(
          operands.map((each, index) => ({
            kind: 'compare',
            operand: each,
            lookup: 'exact',
            value: key[index] ?? null,
          })),
        ),
      ),
    );
  }

  private async read(
    where: Condition,
    identity: readonly Json[],
    { adapter, transaction, pairs }: WrittenIn & { readonly pairs?: ResourceSchema },
  ): Promise<Pairs> {
    const { relation, otherName } = this.given.field;
    const related = await adapter.related({
      kind: 'related',
      resource: keysOnly(pairs ?? relation.through.resource, otherName),
      where,
      order: [],
      parent: this.context.resource,
      on: relation.through.parent,
      identities: [identity],
      most: undefined,
      limit: ANY_NUMBER,
      forWriting: true,
      transaction,
    });
    return new Map(related.map(({ row }) => [String(row.values[0]), row.key]));
  }

  private async write(
    { added, removed, isForbidden }: Changes,
    identity: readonly Json[],
    { adapter }: WrittenIn,
  ): Promise<void> {
    if (isForbidden) throw new PermissionDenied();
    const { granted, field } = this.given;
    if (added.length === 0 && removed.size === 0) return;
    const parent = await this.parentValues(identity, adapter);
    if (removed.size > 0 && granted.deletes) {
      const context = this.contextOf(granted.deletes, parent, 'DELETE');
      const steps = [...removed.values()].map((key) =>
        this.plans.delete(context, conjunction([context.scope, keyCondition(key, context.resource)])),
      );
      await writeSteps(adapter, steps, (rejections) => {
        const texts = [...rejections.values()].flatMap(textsOfStep);
        return texts.length > 0 ? this.errorOf(texts, 'remove') : new PairsChanged(new PermissionDenied());
      });
    }
    if (added.length > 0 && granted.creates) {
      const context = this.contextOf(granted.creates, parent, 'POST');
      const steps: CreatePlan[] = [];
      for (const { key } of added)
        steps.push(await this.plans.create(context, { [field.otherName]: keyRepresentation(key) }));
      const refused = async (rejections: ReadonlyMap<number, BulkStepError>): Promise<Error> => {
        const texts = [...rejections].flatMap(([step, errors]) =>
          textsOfStep(errors).map((text) => itemError(added[step]?.index ?? 0, text)),
        );
        const otherwise = this.errorOf(texts, 'add');
        // The snapshot of the transaction may be older than the pair.
        const mayExist =
          [...rejections.values()].some((errors) => errors !== 'missing' && NON_FIELD_ERRORS in errors) ||
          (await this.readAmong(added, identity, { adapter, transaction: undefined })).size > 0;
        // The last attempt throws it itself, so that in a batch it is that of its object.
        return mayExist && this.further++ < MAX_FURTHER ? new PairsChanged(otherwise) : otherwise;
      };
      await writeSteps(adapter, steps, refused);
    }
  }

  /** The error of new or removed pairs. */
  private errorOf(texts: string[], verb: 'add' | 'remove'): Error {
    const { field, keys } = this.given;
    const errors = emptyFieldErrors();
    errors[field.name] = keys.kind === 'set' ? texts : { [verb]: texts };
    return new InvalidInput(errors);
  }

  /** The values by which pairs refer to the row. */
  private async parentValues(identity: readonly Json[], adapter: RelatedRows): Promise<ParentValues> {
    const { resource } = this.context;
    const { parent: on } = this.given.field.relation.through;
    const places = on.map((pair) => resource.identity.findIndex(({ id }) => id === pair.localColumn.id));
    if (places.every((place) => place >= 0)) return places.map((place) => identity[place] ?? null);
    const where = keyCondition(identity, resource);
    const values = await adapter.read({ kind: 'parent', resource, where, on, forWriting: true });
    if (!values) throw new PairsChanged();
    return values;
  }

  /** The request as one at the URL of the pairs of the row. */
  private contextOf(access: PairAccess, parent: ParentValues, method: string): RestContext {
    const { grantCondition } = access;
    const { relation } = this.given.field;
    const pairs = resourceOf(access.resource);
    const { route } = this.context;
    return this.context.fork({
      method,
      route: { ...route, kind: 'through-list', resource: pairs, parent: route.resource, relation },
      resource: pairs,
      grantCondition,
      scope: conjunction([grantCondition, belongsTo(relation, parent)]),
      parent,
      parentCheck: undefined,
      queryAccess: undefined,
      fieldSelection: undefined,
      selectedFrom: undefined,
      idempotency: undefined,
      precondition: undefined,
      deferredChecks: [],
    });
  }
}

function textOf(key: readonly Json[]): string {
  return String(keyRepresentation(key));
}

function removedOf(keys: RelatedKeys, shown: Pairs): Pairs {
  const named = new Set((keys.kind === 'set' ? keys.keys : keys.remove).map(({ key }) => textOf(key)));
  const isRemoved = (text: string): boolean => named.has(text) === (keys.kind === 'change');
  return new Map([...shown].filter(([text]) => isRemoved(text)));
}

async function writeSteps(
  adapter: RelatedRows,
  steps: BatchPlan['steps'],
  toError: (rejections: ReadonlyMap<number, BulkStepError>) => MaybePromise<Error>,
): Promise<void> {
  try {
    await adapter.writeAll({ kind: 'batch', steps, skipsMissing: false });
  } catch (error) {
    throw error instanceof BulkWriteError ? await toError(error.rejections) : error;
  }
}

const KEYS_ONLY = new WeakMap<ResourceSchema, ResourceSchema>();

/** The view on pairs with the related key alone. */
function keysOnly(pairs: ResourceSchema, name: string): ResourceSchema {
  const known = KEYS_ONLY.get(pairs);
  if (known) return known;
  const fields = pairs.fields.map((field) => ({ ...field, readable: field.name === name }));
  const view = { ...pairs, fields, fieldsByName: new Map(fields.map((field) => [field.name, field])) };
  KEYS_ONLY.set(pairs, view);
  return view;
}

function textsOfStep(errors: BulkStepError): string[] {
  return errors === 'missing' ? [] : textsOf(errors);
}
