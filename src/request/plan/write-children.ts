import { InvalidInput, PermissionDenied } from '../../core/errors/http-exceptions.js';
import {
  addErrors,
  BulkWriteError,
  emptyFieldErrors,
  errorAt,
  NON_FIELD_ERRORS,
  textsOf,
} from '../../core/errors/rest-exception.js';
import type { BulkStepError, FieldErrors, Json, MessagesOfField } from '../../core/errors/rest-exception.js';
import { conjunction, equals } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type {
  BatchPlan,
  ChildWrites,
  NewChildren,
  ParentValues,
  PendingParent,
  RelatedRows,
  UpdatePlan,
  WrittenIn,
} from '../../core/query/plan.js';
import { NESTED_VERBS } from '../../core/schema/field.js';
import type { NestedField, NestedVerb } from '../../core/schema/field.js';
import type { Resource } from '../../core/schema/resource.js';
import type { NestedBody } from '../../core/values/nested-body.js';
import { itemError } from '../../core/values/related-keys.js';
import { leaveUnchangedKeys } from './unchanged-keys.js';
import { PairsChanged } from './write-with-pairs.js';

type Step = BatchPlan['steps'][number];

/** A child that is planned before its parent is written. */
export interface PlannedStep {
  /** @param parent the values by which the child refers to it; undefined before a new parent is written. */
  readonly stepBelow: (parent: ParentValues | undefined, pending: PendingParent) => Step;
  /** The errors if the parent has no such child that the caller may write. */
  readonly missing?: FieldErrors | undefined;
  /** The text of its key. */
  readonly key?: string | undefined;
  /** Its place in the list of the body, which has other members than steps. */
  readonly item?: number | undefined;
}

export type ChildSteps = Readonly<Record<NestedVerb, readonly PlannedStep[]>>;

/** The verbs in the order in which children are written: what is deleted leaves unique values to the others. */
const ORDER = ['delete', 'update', 'create'] as const satisfies readonly NestedVerb[];

const UNREFERABLE = 'The object has no value by which another object could refer to it.';

interface Given {
  readonly field: NestedField;
  readonly nested: NestedBody;
  readonly parents: Condition;
}

/** Writes the children of one field of one row. */
export class FieldChildren {
  /** What remains of changes, by their place, without unchanged keys of deleted objects. */
  private readonly rest = new Map<number, Pick<UpdatePlan, 'keys' | 'values'>>();
  /** The attempts at the transaction. */
  private attempts = 0;

  constructor(
    private readonly given: Given,
    /** The model of the parent. */
    private readonly parent: Resource,
    private readonly steps: ChildSteps,
  ) {}

  /** The children of several fields, written in their order. */
  static together(fields: readonly FieldChildren[]): ChildWrites {
    const creations = fields.flatMap((each) => each.creation ?? []);
    return {
      creations: creations.length === fields.length ? creations : undefined,
      beginTogether: () => {
        for (const each of fields) each.attempts++;
      },
      changes: fields.some(({ steps }) => NESTED_VERBS.some((verb) => steps[verb].length > 0)),
      check: async (entity, identity, { adapter }) => {
        const errors = emptyFieldErrors();
        for (const each of fields) addErrors(errors, await each.check(entity, identity, adapter));
        return errors;
      },
      write: async (entity, identity, within) => {
        let isAsWritten = true;
        for (const each of fields) isAsWritten = (await each.write(entity, identity, within)) && isAsWritten;
        return isAsWritten;
      },
    };
  }

  /** Undefined if other children are written than new ones. */
  private get creation(): NewChildren | undefined {
    const { steps, given } = this;
    if (steps.update.length + steps.delete.length > 0 || given.parents.kind !== 'always') return undefined;
    const { on } = given.field.nested.relation;
    return {
      on,
      plans: () => {
        const plans = steps.create.map((step) => step.stepBelow(undefined, { on, entity: {} }));
        return plans.every((plan) => plan.kind === 'create') ? plans : undefined;
      },
    };
  }

  private async check(
    entity: object,
    identity: readonly Json[] | undefined,
    adapter: RelatedRows,
  ): Promise<FieldErrors> {
    const parent = identity && (await this.parentValues(identity, { adapter }));
    this.rest.clear();
    this.attempts++;
    const byVerb = new Map<NestedVerb, ReadonlyMap<number, BulkStepError>>();
    for (const verb of ORDER) {
      const steps = this.stepsOf(verb, parent, entity);
      if (steps.length === 0) continue;
      const found = await adapter.checkAll({ kind: 'batch', steps, skipsMissing: false });
      byVerb.set(verb, verb === 'update' ? await this.checkWithoutUnchanged(steps, found, adapter) : found);
    }
    return this.errorsOf(byVerb);
  }

  /** The errors of changes; once more without unchanged keys of deleted objects, where these are an error (contract 23.9). */
  private async checkWithoutUnchanged(
    steps: readonly Step[],
    found: ReadonlyMap<number, BulkStepError>,
    adapter: RelatedRows,
  ): Promise<ReadonlyMap<number, BulkStepError>> {
    for (const [index, errors] of found) {
      const step = steps[index];
      if (step?.kind !== 'update' || errors === 'missing') continue;
      const rest = await leaveUnchangedKeys(step, errors, adapter);
      if (rest) this.rest.set(index, { keys: rest.keys, values: rest.values });
    }
    if (this.rest.size === 0) return found;
    return adapter.checkAll({ kind: 'batch', steps: steps.map(this.withRest), skipsMissing: false });
  }

  private readonly withRest = (step: Step, index: number): Step => {
    const rest = this.rest.get(index);
    return rest && step.kind === 'update' ? { ...step, ...rest } : step;
  };

  private async write(
    entity: object,
    identity: readonly Json[],
    { adapter, isRepeatable }: WrittenIn,
  ): Promise<boolean> {
    let isAsWritten = true;
    const isCreating = this.steps.create.length > 0;
    const visible = isCreating ? this.given.parents : undefined;
    const parent = await this.parentValues(identity, { adapter, visible });
    if (isCreating && parent.includes(null)) throw new InvalidInput(this.errorsWithoutReference());
    for (const verb of ORDER) {
      const steps = this.stepsOf(verb, parent, entity);
      if (steps.length === 0) continue;
      const batch: BatchPlan = { kind: 'batch', steps, skipsMissing: false };
      try {
        const isTogether =
          isRepeatable === true && this.attempts === 1 && (await adapter.tryWriteTogether(batch));
        // A new row that nothing sees changes no other one.
        isAsWritten &&= isTogether && verb === 'create';
        if (!isTogether) await adapter.writeAll(batch);
      } catch (error) {
        throw error instanceof BulkWriteError
          ? new InvalidInput(this.errorsOf(new Map([[verb, error.rejections]])))
          : error;
      }
    }
    return isAsWritten;
  }

  private stepsOf(verb: NestedVerb, parent: ParentValues | undefined, entity: object): readonly Step[] {
    const pending = { on: this.given.field.nested.relation.on, entity };
    const steps = this.steps[verb].map((step) => step.stepBelow(parent, pending));
    return verb === 'update' ? steps.map(this.withRest) : steps;
  }

  /**
   * The values by which children refer to the row.
   * @param visible the rows of which the caller may name one in a new child. Throws 403 if this is none of them.
   */
  private async parentValues(
    identity: readonly Json[],
    { adapter, visible }: { readonly adapter: RelatedRows; readonly visible?: Condition | undefined },
  ): Promise<ParentValues> {
    const { parent: resource } = this;
    const { on } = this.given.field.nested.relation;
    const places = on.map(({ localColumn }) =>
      resource.identity.findIndex(({ id }) => id === localColumn.id),
    );
    const isOpen = visible === undefined || visible.kind === 'always';
    if (isOpen && places.every((place) => place >= 0)) return places.map((place) => identity[place] ?? null);
    // Of a through model, the key in URLs is another one.
    const row = resource.identity.map((column, index) => equals(column, identity[index] ?? null));
    const where = conjunction([...row, ...(isOpen ? [] : [visible])]);
    const values = await adapter.read({ kind: 'parent', resource, where, on, forWriting: true });
    if (!values) throw isOpen ? new PairsChanged() : new PermissionDenied();
    return values;
  }

  /** The errors of new children of an object without a value by which they could refer to it. */
  private errorsWithoutReference(): FieldErrors {
    const each = this.steps.create.map(
      (_, index) => [index, errorAt([NON_FIELD_ERRORS], UNREFERABLE)] as const,
    );
    return this.errorsOf(new Map([['create', new Map(each)]]));
  }

  /** The errors of the children under the paths of their values in the body. */
  private errorsOf(byVerb: ReadonlyMap<NestedVerb, ReadonlyMap<number, BulkStepError>>): FieldErrors {
    const { field, nested } = this.given;
    const verbs = emptyFieldErrors();
    for (const verb of NESTED_VERBS) {
      const rejections = byVerb.get(verb);
      if (rejections && rejections.size > 0) verbs[verb] = this.errorsOfVerb(verb, rejections);
    }
    const errors = emptyFieldErrors();
    if (Object.keys(verbs).length > 0)
      errors[field.name] = nested.isByVerbs ? verbs : (verbs.create ?? emptyFieldErrors());
    return errors;
  }

  private errorsOfVerb(verb: NestedVerb, rejections: ReadonlyMap<number, BulkStepError>): MessagesOfField {
    const steps = this.steps[verb];
    const each = steps.map((step, index) => {
      const found = rejections.get(index);
      return found === 'missing' ? (step.missing ?? emptyFieldErrors()) : (found ?? emptyFieldErrors());
    });
    if (verb === 'delete')
      return steps.flatMap(({ item }, index) => {
        const texts = textsOf(each[index] ?? emptyFieldErrors());
        return item === undefined ? texts : texts.map((text) => itemError(item, text));
      });
    return this.given.field.nested.isOne ? (each[0] ?? emptyFieldErrors()) : each;
  }
}
