import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import { PermissionDenied, RestrictedDeletion } from '../../../core/errors/http-exceptions.js';
import { addErrors, emptyFieldErrors, isRestException } from '../../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../../core/errors/rest-exception.js';
import { toProperty } from './property-values.js';
import { allOf, equals } from '../../../core/query/condition.js';
import type { Column } from '../../../core/schema/column.js';
import type { Condition } from '../../../core/query/condition.js';
import type {
  ColumnValue,
  CreatePlan,
  DeletePlan,
  FieldValues,
  UpdatePlan,
} from '../../../core/query/plan.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { DataType } from '../../../core/schema/data-type.js';
import { unjoinedRelations } from '../metadata/describe-relations.js';
import { classOf } from '../metadata/inheritance.js';
import { CandidateRows } from './candidate-rows.js';
import type { WrittenValues } from './candidate-rows.js';
import { EmbeddedKeys, savesEmbedded } from './embedded-keys.js';
import { emptyRelations, emptyRelationsAreNull, withoutEmptyRelations } from './empty-relations.js';
import {
  applyValues,
  columnIds,
  highPrecisionValues,
  identityOf,
  setColumns,
  stillMatches,
  whereIdentity,
} from './entity-values.js';
import type { ReferencedValues } from './entity-values.js';
import { findReferrer } from './find-referrer.js';
import { selectForUpdate } from './select-for-update.js';
import { withArrayPlaceholders } from './json-arrays.js';
import { translateWriteError } from './translate-write-error.js';
import type { TranslatedWriteError } from './translate-write-error.js';
import type { KeyLookup } from './foreign-key-lookup.js';
import { ListenerRelations } from './listener-relations.js';
import { prepareUpdateByOneName, contradictionErrors, underSentNames } from './duplicate-rows.js';
import { completeCreate, runHook } from './run-hook.js';
import type { WriterTools } from './row-writer.js';
import { withoutSharedColumns, sharesColumns, writtenIds } from './shared-columns.js';
import { StepWriter } from './transactional-writer.js';
import { writePreciseValues } from './write-precise-values.js';
import { prepared, notFound, NO_ERRORS } from './write-step.js';
import type { PreparableWrite } from './write-step.js';
import { TreeKeeper } from './trees/tree-keeper.js';

/** The update of one row. */
interface Change {
  readonly identity: readonly Json[];
  /** Whether TypeORM has loaded this key exactly. */
  readonly isKeyExact: boolean;
  readonly values: FieldValues;
  readonly referenced: ReferencedValues;
  /** The relations that were null before the update. */
  readonly empty?: readonly RelationMetadata[];
  /** Whether a hook has received the entity, and may have changed more than the body. */
  readonly hooked?: boolean;
}

/** An entity under update, and its previous values of the columns that the grant reads. */
interface Changed {
  readonly entity: ObjectLiteral;
  readonly before: WrittenValues;
  readonly key: readonly Json[];
}

/**
 * Writes rows of an entity through TypeORM, so that listeners, subscribers, defaults and cascades take effect. Each
 * write is one transaction, and the response is read back inside it.
 */
export class EntityWriter extends StepWriter {
  private readonly metadata: EntityMetadata;
  private readonly forward: readonly string[];
  private readonly embedded: EmbeddedKeys;
  /** Whether a column belongs to several relations. */
  private readonly sharesColumns: boolean;
  private readonly tree: TreeKeeper | undefined;
  private readonly related: ListenerRelations | undefined;
  private readonly candidates: CandidateRows;
  /** False if TypeORM cannot `save` the entity, which is then updated by a single statement. */
  private readonly saves: boolean;
  private readonly unjoined: boolean;
  private readonly model: { readonly resource: Resource; readonly metadata: EntityMetadata };

  constructor(
    private readonly resource: Resource,
    tools: WriterTools,
  ) {
    super(tools);
    this.metadata = tools.tables.of(resource).metadata;
    this.model = { resource, metadata: this.metadata };
    this.forward = this.metadata.relations
      .filter((relation) => relation.isWithJoinColumn && !relation.isLazy && !relation.embeddedMetadata)
      .map((relation) => relation.propertyPath);
    this.sharesColumns = sharesColumns(this.metadata);
    this.embedded = new EmbeddedKeys(resource, this.metadata, tools);
    this.tree = TreeKeeper.of(resource, this.metadata, tools);
    this.related = ListenerRelations.of(resource, this.metadata);
    this.saves = savesEmbedded(this.metadata);
    this.unjoined = unjoinedRelations(this.metadata).length > 0;
    this.candidates = new CandidateRows(resource, this.metadata, tools);
  }

  async prepareCreate(plan: CreatePlan, known?: KeyLookup): Promise<PreparableWrite<Row>> {
    const found = known ?? (await this.tools.lookups.lookUp(plan.keys));
    const { referenced, errors } = found;
    // A new entity for each attempt: the listeners of a rolled-back attempt have changed the previous one.
    const make = (): ObjectLiteral => {
      const entity = this.metadata.create() as ObjectLiteral;
      applyValues(entity, this.model, { values: plan.values, referenced });
      setColumns(entity, this.metadata, [...plan.fixed, ...plan.added]);
      return entity;
    };
    let tried: ObjectLiteral | undefined;
    return {
      errors: await this.errorsOf(make(), plan, [errors, contradictionErrors(plan.twice ?? [], found)]),
      prepare: async (runner) => {
        await this.tree?.begin(runner);
        const entity = (tried = make());
        return prepared(() => this.performCreate(plan, entity, runner));
      },
      translateError: (error) =>
        this.translate(error, {
          plan,
          isPermitted: () => this.mayCreate(tried ?? make(), plan),
        }),
    };
  }

  private async performCreate(plan: CreatePlan, entity: ObjectLiteral, runner: QueryRunner): Promise<Row> {
    await runHook(plan.hooks.before, entity, { runner, dialect: this.tools.dialect });
    await this.related?.load(entity, runner);
    const arrays = await withArrayPlaceholders(entity, this.model, () => this.insert(entity, runner));
    const identity = this.givenIdentity(identityOf(entity, this.resource, this.metadata), plan.values);
    await this.tree?.insert(entity, identity[0] ?? null, runner);
    const values = [...arrays, ...this.preciseValuesOf(entity, plan.values, false)];
    await writePreciseValues(this.resource, { identity, values }, { runner, tools: this.tools });
    await runHook(plan.hooks.after, entity, { runner, dialect: this.tools.dialect });
    return completeCreate(await this.readBack(identity, plan.where, runner), plan, {
      runner,
      dialect: this.tools.dialect,
    });
  }

  /** Whether the caller is permitted to have the row. */
  private mayCreate(entity: ObjectLiteral, { where, values, hooks }: CreatePlan): Promise<boolean> {
    return this.candidates.isNewRowPermitted(entity, {
      where,
      exactly: this.preciseValuesOf(entity, values, false),
      hooked: hooks.after !== undefined,
    });
  }

  prepareUpdate(plan: UpdatePlan): PreparableWrite<Row | undefined> {
    if (plan.twice && plan.twice.length > 0)
      return prepareUpdateByOneName(plan, { tools: this.tools, change: (once) => this.prepareUpdate(once) });
    let changed: Changed | undefined;
    return {
      errors: NO_ERRORS,
      prepare: async (runner) => {
        const hooked = plan.hooks.before !== undefined;
        if (this.tree?.mayMove({ values: plan.values, hooked }) === true) await this.tree.begin(runner);
        const key = await selectForUpdate(
          this.resource,
          { columns: this.resource.identity, where: plan.where, expected: plan.expected },
          { runner, tools: this.tools },
        );
        const entity = key && (await this.load(key, runner));
        if (!key || !entity) return notFound(undefined);
        const isKeyExact = this.restoreKey(entity, key);
        const empty = emptyRelations(entity, this.metadata);
        changed = { entity, before: this.candidates.writtenOf(entity, plan.after), key };
        const { referenced, errors } = await this.tools.lookups.lookUp(plan.keys, runner);
        applyValues(entity, this.model, { values: plan.values, referenced });
        const change = { identity: key, isKeyExact, values: plan.values, referenced, empty, hooked };
        return prepared(
          () => this.performUpdate(plan, { entity, change, runner }),
          await this.errorsOf(entity, plan, [errors]),
        );
      },
      translateError: (error) =>
        this.translate(error, {
          plan,
          isPermitted: async () => !changed || this.mayUpdate(changed, plan),
        }),
    };
  }

  private mayUpdate({ entity, before, key }: Changed, { after, values }: UpdatePlan): Promise<boolean> {
    return this.candidates.isChangedRowPermitted(entity, {
      where: after,
      exactly: this.preciseValuesOf(entity, values, true),
      stored: this.identityCondition(key),
      before,
    });
  }

  private async performUpdate(
    plan: UpdatePlan,
    { entity, change, runner }: { entity: ObjectLiteral; change: Change; runner: QueryRunner },
  ): Promise<Row> {
    await runHook(plan.hooks.before, entity, { runner, dialect: this.tools.dialect });
    const arrays =
      plan.values.size > 0 || change.hooked === true ? await this.saveChanges(entity, change, runner) : [];
    const identity = identityOf(entity, this.resource, this.metadata);
    const values = [...arrays, ...this.preciseValuesOf(entity, plan.values, true)];
    await writePreciseValues(this.resource, { identity, values }, { runner, tools: this.tools });
    await runHook(plan.hooks.after, entity, { runner, dialect: this.tools.dialect });
    return this.readBack(identity, plan.after, runner);
  }

  prepareDelete(plan: DeletePlan): PreparableWrite<boolean> {
    return {
      errors: NO_ERRORS,
      prepare: async (runner) => {
        await this.tree?.begin(runner);
        const key = await selectForUpdate(
          this.resource,
          { columns: this.resource.identity, where: plan.where, expected: plan.expected },
          { runner, tools: this.tools },
        );
        // Without its relations: TypeORM would cascade into related objects that were loaded with it.
        const entity = key && (await this.load(key, runner, this.related?.kept ?? []));
        return key && entity
          ? prepared(() => this.performDelete(plan, { entity, identity: key, runner }))
          : notFound(false);
      },
      translateError: async (error) => {
        if (isRestException(error) || this.tools.dialect.errorFor(error)?.kind !== 'foreign-key')
          return error;
        return new RestrictedDeletion(await findReferrer(plan, this.tools));
      },
    };
  }

  private async performDelete(
    { hooks }: DeletePlan,
    { entity, identity, runner }: { entity: ObjectLiteral; identity: readonly Json[]; runner: QueryRunner },
  ): Promise<boolean> {
    const isKeyExact = this.restoreKey(entity, identity);
    await runHook(hooks.before, entity, { runner, dialect: this.tools.dialect });
    await this.related?.load(entity, runner, true);
    // TypeORM deletes the key of an entity that it removes, and the hook needs it.
    const removed: ObjectLiteral = hooks.after
      ? Object.assign(Object.create(Object.getPrototypeOf(entity) as object) as ObjectLiteral, entity)
      : entity;
    await this.remove(entity, { identity, isKeyExact }, runner);
    await runHook(hooks.after, removed, { runner, dialect: this.tools.dialect });
    return true;
  }

  private async remove(
    entity: ObjectLiteral,
    { identity, isKeyExact }: Pick<Change, 'identity' | 'isKeyExact'>,
    runner: QueryRunner,
  ): Promise<void> {
    if (!isKeyExact) await this.deleteByIdentity(identity, runner);
    else if (this.metadata.deleteDateColumn)
      await runner.manager.softRemove(classOf(entity, this.metadata), entity);
    else {
      await this.tree?.beforeDelete(identity[0] ?? null, runner);
      if (this.unjoined) await this.removeWithoutJunctions(entity, identity, runner);
      else await runner.manager.remove(classOf(entity, this.metadata), entity);
    }
  }

  /**
   * Deletes the row and calls the listeners, without the junction rows that TypeORM would query in a junction table
   * that does not exist.
   */
  private async removeWithoutJunctions(
    entity: ObjectLiteral,
    identity: readonly Json[],
    runner: QueryRunner,
  ): Promise<void> {
    const target = classOf(entity, this.metadata);
    const metadata = this.tools.tables.of(this.resource).dataSource.getMetadata(target);
    await runner.broadcaster.broadcast('BeforeRemove', metadata, entity, entity);
    await this.deleteByIdentity(identity, runner, false);
    await runner.broadcaster.broadcast('AfterRemove', metadata, entity, entity);
  }

  /** Loads an entity with the keys of its forward relations, as validators and listeners expect them. */
  private async load(
    identity: readonly Json[],
    runner: QueryRunner,
    forward = this.forward,
  ): Promise<ObjectLiteral | null> {
    const entity = await runner.manager.findOne<ObjectLiteral>(this.metadata.target, {
      where: whereIdentity(identity, this.resource, this.metadata),
      loadEagerRelations: false,
      ...(forward.length > 0 ? { loadRelationIds: { relations: [...forward], disableMixedMap: true } } : {}),
    });
    if (!entity) return null;
    emptyRelationsAreNull(entity, this.metadata, forward);
    if (forward === this.forward) await this.embedded.load(entity, this.identityCondition(identity), runner);
    return entity;
  }

  /**
   * Saves the entity. An update of a junction row's related side changes its primary key, which `save` would take for
   * another row (contract 2.11).
   */
  private async saveChanges(
    entity: ObjectLiteral,
    change: Change,
    runner: QueryRunner,
  ): Promise<readonly ColumnValue[]> {
    // Changes by a hook are not known by name.
    const only =
      change.hooked === true
        ? undefined
        : new Set([...change.values.keys()].flatMap((name) => this.columnsOf(name)));
    const same = identityOf(entity, this.resource, this.metadata).every(
      (value, index) => value === change.identity[index],
    );
    if (same && change.isKeyExact && this.saves) {
      await this.related?.load(entity, runner);
      const save = (): Promise<void> =>
        withoutEmptyRelations(entity, change.empty ?? [], () =>
          this.saveColumnsOnce(entity, change, () =>
            runner.manager.save(classOf(entity, this.metadata), entity, { reload: false }),
          ),
        );
      return withArrayPlaceholders(entity, { ...this.model, ...(only ? { only } : {}) }, () =>
        this.saveInTree(entity, { change, runner, save }),
      );
    }
    const changed = change.hooked === true ? entity : (this.metadata.create() as ObjectLiteral);
    applyValues(changed, this.model, change);
    const save = (): Promise<void> => {
      const where = [whereIdentity(change.identity, this.resource, this.metadata)];
      return this.saveColumnsOnce(changed, change, () =>
        runner.manager
          .createQueryBuilder()
          .update(this.metadata.target)
          .set(changed)
          .whereInIds(where)
          .execute(),
      );
    };
    return withArrayPlaceholders(changed, this.model, () =>
      this.saveInTree(entity, { change, runner, save }),
    );
  }

  /** Saves with each column written once. */
  private async saveColumnsOnce(
    entity: ObjectLiteral,
    { values }: Change,
    save: () => Promise<unknown>,
  ): Promise<void> {
    if (!this.sharesColumns) {
      await save();
      return;
    }
    const fields = [...values.keys()].flatMap((name) => this.resource.fieldsByName.get(name) ?? []);
    const written = new Set(fields.flatMap(writtenIds));
    await withoutSharedColumns(entity, { metadata: this.metadata, written }, save);
  }

  private async saveInTree(
    entity: ObjectLiteral,
    { change, runner, save }: { change: Change; runner: QueryRunner; save: () => Promise<void> },
  ): Promise<void> {
    await (this.tree
      ? this.tree.save(entity, change.identity[0] ?? null, {
          mayMove: this.tree.mayMove(change),
          runner,
          save,
        })
      : save());
  }

  private columnsOf(name: string): readonly string[] {
    const field = this.resource.fieldsByName.get(name);
    return field ? columnIds(field) : [];
  }

  /**
   * Assigns the key by which an entity was found. False if TypeORM has loaded another one, because the driver loses
   * digits of a number or date: with its own key TypeORM would update or delete another row.
   */
  private restoreKey(entity: ObjectLiteral, identity: readonly Json[]): boolean {
    if (identityOf(entity, this.resource, this.metadata).every((value, index) => value === identity[index]))
      return true;
    setColumns(
      entity,
      this.metadata,
      this.resource.identity.map((column, index) => ({ column, value: identity[index] ?? null })),
    );
    return false;
  }

  private async deleteByIdentity(
    identity: readonly Json[],
    runner: QueryRunner,
    listeners = true,
  ): Promise<void> {
    const builder = runner.manager.createQueryBuilder().callListeners(listeners);
    const where = [whereIdentity(identity, this.resource, this.metadata)];
    if (this.metadata.deleteDateColumn)
      await builder.softDelete().from(this.metadata.target).whereInIds(where).execute();
    else await builder.delete().from(this.metadata.target).whereInIds(where).execute();
  }

  /** The key of the body, unrounded, or the key that the database has generated. */
  private givenIdentity(made: readonly Json[], values: FieldValues): readonly Json[] {
    return this.resource.identity.map((column, index) => {
      const field = this.resource.fields.find(
        (each) => each.kind === 'column' && each.column.id === column.id,
      );
      const given = field && values.get(field.name);
      return given === undefined || column.type.kind !== 'bigint' ? (made[index] ?? null) : (given as Json);
    });
  }

  /** The exact values of the body, except those that a listener has replaced. */
  private preciseValuesOf(
    entity: ObjectLiteral,
    values: FieldValues,
    change: boolean,
  ): readonly ColumnValue[] {
    const loses = (type: DataType): boolean => change && !this.tools.dialect.loadsExactly(type);
    return highPrecisionValues(values, this.resource, { change, loses }).filter(({ column, value }) =>
      this.stillHolds(entity, column, value),
    );
  }

  private stillHolds(entity: ObjectLiteral, column: Column, value: Json): boolean {
    const found = this.metadata.columns.find((each) => each.databaseName === column.id);
    return (
      found !== undefined && stillMatches(found.getEntityValue(entity), toProperty(value, column.type, found))
    );
  }

  /** Inserts the entity, never with `save`, which would overwrite a row with the same key. */
  private async insert(entity: ObjectLiteral, runner: QueryRunner): Promise<void> {
    const { columns, target } = this.metadata;
    // TypeORM would write a value into a generated column, which SQLite rejects.
    const made = this.tools.dialect.oneConnection && columns.some((column) => column.asExpression);
    const given = made
      ? columns
          .filter((column) => column.isInsert && !column.asExpression)
          .map((column) => column.propertyPath)
      : undefined;
    await runner.manager.createQueryBuilder().insert().into(target, given).values(entity).execute();
  }

  /**
   * Reads the written row.
   * @throws PermissionDenied if the caller is not permitted to have it.
   */
  private async readBack(identity: readonly Json[], condition: Condition, runner: QueryRunner): Promise<Row> {
    const row = await this.tools.reader.retrieveWithin(
      allOf([this.identityCondition(identity), condition]),
      runner,
    );
    if (!row) throw new PermissionDenied();
    return row;
  }

  private identityCondition(identity: readonly Json[]): Condition {
    return allOf(this.resource.identity.map((column, index) => equals(column, identity[index] ?? null)));
  }

  /** The errors of the body, of its keys and of the application's validators together. */
  private async errorsOf(
    entity: ObjectLiteral,
    plan: Pick<CreatePlan, 'errors' | 'values' | 'sent'>,
    ofKeys: readonly FieldErrors[],
  ): Promise<FieldErrors> {
    const errors = emptyFieldErrors();
    for (const each of [plan.errors, ...ofKeys]) addErrors(errors, each);
    const invalid = await this.tools.validate?.(entity, this.resource, plan);
    if (invalid) addErrors(errors, underSentNames(invalid, this.resource, plan));
    return errors;
  }

  private translate(error: unknown, judgement: TranslatedWriteError): Promise<unknown> {
    return translateWriteError(error, judgement, { ...this.model, tools: this.tools });
  }
}
