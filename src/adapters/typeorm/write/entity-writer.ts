import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { FieldErrors } from '../../../core/errors/rest-exception.js';
import type {
  ColumnValue,
  CreatePlan,
  DeletePlan,
  StartedPairs,
  UpdatePlan,
} from '../../../core/query/plan.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import { mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { mergeIntoStored } from '../../../core/values/merge-patch.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { BulkDeletion } from './bulk-deletion.js';
import { CandidateRows } from './candidate-rows.js';
import type { Changed } from './candidate-rows.js';
import { completeWrite, runBeforeWrite } from './complete-write.js';
import { convertingValues, entityErrors, mergeErrors, storedErrors } from './entity-errors.js';
import { contradictionErrors, prepareUpdateByOneReference } from './duplicate-references.js';
import { DroppedRows } from './dropped-rows.js';
import {
  assertExactKey,
  exactIdentity,
  applyValues,
  createEntity,
  identityOf,
  setColumns,
} from './entity-values.js';
import { prepareEntityDeletion } from './entity-deletion.js';
import { EntityRemover } from './entity-remover.js';
import { EntitySaver } from './entity-saver.js';
import { EntityStatements } from './entity-statements.js';
import type { DirectWriterRules } from './direct-writer-rules.js';
import { lockEntity } from './lock-entity.js';
import type { LockParts } from './lock-entity.js';
import { identityOfRow } from './recorded-writes.js';
import type { ReferencedValues } from '../../../execution/read/key-lookups.js';
import { assignChangedKeys, KeyColumns, mergeColumns } from './key-columns.js';
import type { KeyLookup } from '../../../execution/read/key-lookups.js';
import { ListenerRelations, LoadedEntities } from './loaded-entities.js';
import { beginPairs, checkChildren, keysOf } from './pair-writes.js';
import { PreciseValues } from './precise-values.js';
import { NO_ERRORS, notFound, prepared } from './row-writer.js';
import type { DeleteTogether, PreparableWrite, WriterTools } from './row-writer.js';
import { StepWriter } from './step-writer.js';
import { updateBySql } from './update-entity.js';
import type { ChangedWrite } from './update-entity.js';
import { translateWriteError } from './translate-write-error.js';
import type { TranslatedWriteError } from './translate-write-error.js';
import { TreeKeeper } from './trees/tree-keeper.js';

interface WrittenEntity {
  readonly entity: ObjectLiteral;
  readonly referenced: ReferencedValues;
  readonly pairs: StartedPairs;
  readonly runner: QueryRunner;
}

/**
 * Writes rows of the lanes `loaded` and `entities`, each in one transaction: the former by the statements of `EntityStatements`, the latter
 * through TypeORM, so that listeners, subscribers, defaults and cascades take effect, and the response is read back inside it.
 */
export class EntityWriter extends StepWriter {
  readonly metadata: EntityMetadata;
  private readonly model: { readonly resource: ResourceSchema; readonly metadata: EntityMetadata };
  readonly entities: LoadedEntities;
  private readonly saver: EntitySaver;
  readonly remover: EntityRemover;
  readonly precise: PreciseValues | undefined;
  readonly tree: TreeKeeper | undefined;
  readonly related: ListenerRelations | undefined;
  private readonly dropped: DroppedRows | undefined;
  private readonly candidates: CandidateRows;
  readonly keyColumns: KeyColumns | undefined;
  readonly statements: EntityStatements | undefined;
  private readonly locking: LockParts;

  constructor(
    readonly resource: ResourceSchema,
    tools: WriterTools,
    rules?: DirectWriterRules,
  ) {
    super(tools);
    this.metadata = tools.tables.of(resource).metadata;
    this.model = { resource, metadata: this.metadata };
    this.tree = TreeKeeper.of(resource, this.metadata, tools);
    this.related = ListenerRelations.of(resource, this.metadata);
    this.entities = new LoadedEntities(resource, tools);
    this.dropped = DroppedRows.of(resource, tools, this.entities);
    const { tree, related, dropped, entities } = this;
    this.saver = new EntitySaver(resource, tools, { tree, related, dropped, entities });
    this.remover = new EntityRemover(resource, tools, { tree, dropped });
    this.precise = PreciseValues.of(resource, tools);
    this.candidates = new CandidateRows(resource, this.metadata, tools);
    this.keyColumns = KeyColumns.of(resource, this.metadata);
    this.statements = EntityStatements.of(resource, tools, rules);
    this.locking = { resource, tools, entities, statements: this.statements };
  }

  prepareCreate(plan: CreatePlan, known?: KeyLookup): MaybePromise<PreparableWrite<Row>> {
    return mapMaybe(known ?? this.tools.lookups.lookUp(plan.keys), (found) => this.creating(plan, found));
  }

  private creating(plan: CreatePlan, found: KeyLookup): MaybePromise<PreparableWrite<Row>> {
    const { referenced, errors } = found;
    // A new entity for each attempt: the listeners of a rolled-back attempt have changed the previous one.
    const make = (): { readonly entity: ObjectLiteral; readonly disagreements: FieldErrors } => {
      const entity = createEntity(this.metadata);
      applyValues(entity, this.model, { values: plan.values, referenced });
      const disagreements = this.keyColumns?.assignNew(entity, plan, referenced) ?? NO_ERRORS;
      if (!this.keyColumns) setColumns(entity, this.metadata, [...plan.fixed, ...plan.added]);
      return { entity, disagreements };
    };
    let tried: ObjectLiteral | undefined;
    const first = make();
    const ofKeys = [errors, contradictionErrors(plan.duplicateReferences ?? [], found), first.disagreements];
    return mapMaybe(this.errorsOf(first.entity, plan, ofKeys), (own) => ({
      // Those of children are known in the transaction only.
      errors: plan.children ? NO_ERRORS : own,
      prepare: async (runner) => {
        await this.tree?.begin(runner);
        const { entity } = make();
        tried = entity;
        const transaction = { runner, tools: this.tools };
        const pairs = await beginPairs(plan, undefined, transaction);
        const ofChildren = await checkChildren(plan, { entity, identity: undefined }, transaction);
        return prepared(
          () => this.performCreate(plan, { entity, referenced, pairs, runner }),
          plan.children ? mergeErrors([own, ofChildren]) : NO_ERRORS,
        );
      },
      translateError: (error) =>
        this.translate(error, {
          plan,
          isPermitted: () => this.mayCreate(tried ?? make().entity, plan),
        }),
    }));
  }

  private async performCreate(
    plan: CreatePlan,
    { entity, referenced, pairs, runner }: WrittenEntity,
  ): Promise<Row> {
    await runBeforeWrite(plan, { entity, referenced, runner }, this);
    const row = await this.insertBySql(plan, entity, runner);
    if (row) return completeWrite(plan, { entity, pairs, runner, ...row }, this);
    await this.related?.load(entity, runner);
    const arrays = await convertingValues(plan, this.metadata, () => this.saver.insert(entity, runner));
    const identity = exactIdentity(
      identityOf(entity, this.resource, this.metadata),
      plan.values,
      this.resource,
    );
    assertExactKey(identity, this.resource);
    await this.tree?.insert(entity, identity[0] ?? null, runner);
    const precise = this.precise?.ofCreated(entity, plan.values) ?? [];
    await this.saver.writeColumns([...arrays, ...precise], { identity }, runner);
    return completeWrite(plan, { entity, identity, pairs, runner }, this);
  }

  /** Undefined if TypeORM has to insert the row. */
  private async insertBySql(
    plan: CreatePlan,
    entity: ObjectLiteral,
    runner: QueryRunner,
  ): Promise<{ readonly identity: readonly Json[]; readonly row: Row | undefined } | undefined> {
    const { statements } = this;
    if (!statements || !(await statements.suits(plan))) return undefined;
    const precise = this.precise?.ofCreated(entity, plan.values) ?? [];
    const row = await statements.insert(entity, precise, { runner });
    return row && { identity: identityOfRow(row), row: plan.where.kind === 'always' ? row : undefined };
  }

  /** Whether the caller is permitted to have the row. */
  private mayCreate(entity: ObjectLiteral, { where, values, hooks }: CreatePlan): Promise<boolean> {
    return this.candidates.isNewRowPermitted(entity, {
      where,
      exactly: this.precise?.ofCreated(entity, values) ?? [],
      hooked: hooks.after !== undefined,
    });
  }

  prepareUpdate(given: UpdatePlan): PreparableWrite<Row | undefined> {
    if (given.duplicateReferences && given.duplicateReferences.length > 0)
      return prepareUpdateByOneReference(given, {
        tools: this.tools,
        change: (once) => this.prepareUpdate(once),
      });
    let changed: Changed | undefined;
    let plan = given;
    return {
      errors: NO_ERRORS,
      prepare: async (runner) => {
        plan = given;
        const hooked = plan.hooks.before !== undefined;
        if (this.tree?.mayMove({ values: plan.values, hooked }) === true) await this.tree.begin(runner);
        const json = this.precise?.changedJson(plan.values) ?? [];
        const shared = this.keyColumns?.overlapping ?? [];
        const row = await lockEntity(plan, [...json, ...shared], { ...this.locking, runner });
        if (!row) return notFound(undefined);
        const { key, values: read, entity, copy, image } = row;
        const storedJson = new Map(json.map(({ id }, index) => [id, read[index] ?? null]));
        if (plan.merges)
          plan = { ...plan, values: mergeIntoStored(plan.values, this.resource.fields, storedJson) };
        const isKeyExact = this.entities.restoreKey(entity, key);
        const unchanged = this.entities.unchangedRelations(entity);
        const stored = this.dropped?.valuesOf(entity) ?? [];
        const before = this.candidates.writtenOf(entity, plan.after);
        const pairs = await beginPairs(plan, key, { runner, tools: this.tools });
        const { referenced, errors } = await this.tools.lookups.lookUp(keysOf(plan, pairs), runner);
        const loadedJson = this.precise?.loadedJson(entity, json) ?? new Map<string, unknown>();
        applyValues(entity, this.model, { values: plan.values, referenced });
        const storedKeys = read.slice(json.length, json.length + shared.length);
        const { decided, disagreements } = assignChangedKeys(this.keyColumns, entity, {
          values: plan.values,
          errors: plan.errors,
          sent: plan.sent,
          referenced,
          fields: plan.resource.fields,
          given: plan.given,
          stored: storedKeys,
        });
        changed = { entity, before, key, decided };
        const change = {
          identity: key,
          isKeyExact,
          values: plan.values,
          storedJson,
          loadedJson,
          version: this.metadata.versionColumn?.getEntityValue(entity) as unknown,
          referenced,
          unchanged,
          stored,
          decided,
          storedKeys: new Map(shared.map(({ id }, index) => [id, storedKeys[index] ?? null])),
          hooked,
        };
        const found = await this.errorsOf(entity, plan, [
          errors,
          disagreements,
          pairs.errors,
          await storedErrors(plan, runner, this.tools),
          await checkChildren(plan, { entity, identity: key }, { runner, tools: this.tools }),
        ]);
        const write = (): Promise<Row> => this.performUpdate(plan, { entity, change, copy, pairs, runner });
        return { ...prepared(write, found), stored: image };
      },
      translateError: (error) =>
        this.translate(error, {
          plan,
          isPermitted: async () => !changed || this.mayUpdate(changed, plan),
        }),
    };
  }

  private mayUpdate(
    { entity, before, key, decided }: Changed,
    { after, values }: UpdatePlan,
  ): Promise<boolean> {
    return this.candidates.isChangedRowPermitted(entity, {
      where: after,
      exactly: [...decided, ...(this.precise?.ofUpdated(entity, values) ?? [])],
      stored: this.entities.conditionOf(key),
      before,
    });
  }

  private async performUpdate(
    plan: UpdatePlan,
    { entity, change: given, copy, pairs, runner }: ChangedWrite,
  ): Promise<Row> {
    const hooked = await runBeforeWrite(plan, { entity, referenced: given.referenced, runner }, this);
    const change = hooked ? { ...given, decided: mergeColumns(given.decided, hooked) } : given;
    const stored = this.saver.comparesJson(entity, change) ? change.storedJson : undefined;
    if (stored) this.precise?.keepLoadedJson(entity, change);
    const bySql = stored && copy && (await updateBySql(plan, { entity, change, copy, pairs, runner }, this));
    if (bySql) return bySql;
    const update = (): Promise<readonly ColumnValue[]> => this.saver.update(entity, change, runner);
    const arrays =
      plan.values.size > 0 || change.hooked ? await convertingValues(plan, this.metadata, update) : [];
    const identity = this.entities.changedKey(entity, change.identity);
    const precise = this.precise?.ofUpdated(entity, plan.values, stored) ?? [];
    const isTouched = pairs.changes || plan.children?.changes === true;
    await this.saver.writeColumns([...arrays, ...precise], { identity, change, isTouched }, runner);
    if (plan.hooks.after) await this.entities.readComputed(entity, identity, runner);
    return completeWrite(plan, { entity, identity, pairs, runner }, this);
  }

  prepareDelete(plan: DeletePlan): PreparableWrite<boolean> {
    return prepareEntityDeletion(plan, this);
  }

  prepareDeletes(plans: readonly DeletePlan[]): Promise<DeleteTogether | undefined> {
    return new BulkDeletion(this.resource, this.tools).prepare(plans);
  }

  private errorsOf(
    entity: ObjectLiteral,
    plan: Pick<CreatePlan, 'errors' | 'values' | 'sent' | 'pending'>,
    ofKeys: readonly FieldErrors[],
  ): MaybePromise<FieldErrors> {
    return entityErrors(entity, plan, { ofKeys, resource: this.resource, tools: this.tools });
  }

  private translate(error: unknown, write: TranslatedWriteError): Promise<unknown> {
    return translateWriteError(error, write, { ...this.model, tools: this.tools });
  }
}
