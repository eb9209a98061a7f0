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
import { changeNamedOnce, differingRows, underSentNames } from './duplicate-rows.js';
import { completed, runHook } from './run-hook.js';
import type { WriterTools } from './row-writer.js';
import { withoutSharedColumns, sharesColumns, writtenIds } from './shared-columns.js';
import { StepWriter } from './transactional-writer.js';
import { writePreciseValues } from './write-precise-values.js';
import { prepared, notFound, NO_ERRORS } from './write-step.js';
import type { PreparableWrite } from './write-step.js';
import { TreeKeeper } from './trees/tree-keeper.js';

/** What an update changes, and in which row. */
interface Change {
  readonly identity: readonly Json[];
  /** TypeORM knows the row by this key. */
  readonly told: boolean;
  readonly values: FieldValues;
  readonly referenced: ReferencedValues;
  /** Relations that led nowhere before the change. */
  readonly empty?: readonly RelationMetadata[];
  /** Whether the application has had the entity in its hands: more than the body may have changed. */
  readonly hooked?: boolean;
}

/** An entity that is changed, and what it held of the columns that the grant looks at. */
interface Changed {
  readonly entity: ObjectLiteral;
  readonly before: WrittenValues;
  readonly key: readonly Json[];
}

/**
 * Writes rows of an entity through TypeORM, so that its listeners, subscribers, defaults and cascades do their work.
 * Each write is one transaction; the answer is read back inside it.
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
  /** False where TypeORM cannot: a row is changed by one statement then. */
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

  async creation(plan: CreatePlan, known?: KeyLookup): Promise<PreparableWrite<Row>> {
    const found = known ?? (await this.tools.lookups.lookUp(plan.keys));
    const { referenced, errors } = found;
    // Made anew for each attempt: a listener of one that was rolled back has changed its entity.
    const make = (): ObjectLiteral => {
      const entity = this.metadata.create() as ObjectLiteral;
      applyValues(entity, this.resource, this.metadata, { values: plan.values, referenced });
      setColumns(entity, this.metadata, [...plan.fixed, ...plan.added]);
      return entity;
    };
    let tried: ObjectLiteral | undefined;
    return {
      errors: await this.errorsOf(make(), plan, [errors, differingRows(plan.twice ?? [], found)]),
      prepare: async (runner) => {
        await this.tree?.begin(runner);
        const entity = (tried = make());
        return prepared(() => this.make(plan, entity, runner));
      },
      judged: (error) =>
        this.judged(error, {
          plan,
          may: () => this.mayMake(tried ?? make(), plan),
        }),
    };
  }

  private async make(plan: CreatePlan, entity: ObjectLiteral, runner: QueryRunner): Promise<Row> {
    await runHook(plan.hooks.before, entity, { runner, dialect: this.tools.dialect });
    await this.related?.load(entity, runner);
    const arrays = await withArrayPlaceholders(entity, this.model, () => this.insert(entity, runner));
    const identity = this.givenIdentity(identityOf(entity, this.resource, this.metadata), plan.values);
    await this.tree?.insert(entity, identity[0] ?? null, runner);
    await writePreciseValues(
      this.resource,
      identity,
      [...arrays, ...this.finerOf(entity, plan.values, false)],
      {
        runner,
        tools: this.tools,
      },
    );
    await runHook(plan.hooks.after, entity, { runner, dialect: this.tools.dialect });
    return completed(await this.readBack(identity, plan.where, runner), plan, {
      runner,
      dialect: this.tools.dialect,
    });
  }

  /** Whether the caller may have such a row. */
  private mayMake(entity: ObjectLiteral, { where, values, hooks }: CreatePlan): Promise<boolean> {
    return this.candidates.mayStandNew(entity, {
      where,
      exactly: this.finerOf(entity, values, false),
      hooked: hooks.after !== undefined,
    });
  }

  change(plan: UpdatePlan): PreparableWrite<Row | undefined> {
    if (plan.twice && plan.twice.length > 0)
      return changeNamedOnce(plan, { tools: this.tools, change: (once) => this.change(once) });
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
        const told = this.restoreKey(entity, key);
        const empty = emptyRelations(entity, this.metadata);
        changed = { entity, before: this.candidates.writtenOf(entity, plan.after), key };
        const { referenced, errors } = await this.tools.lookups.lookUp(plan.keys, runner);
        applyValues(entity, this.resource, this.metadata, { values: plan.values, referenced });
        const change = { identity: key, told, values: plan.values, referenced, empty, hooked };
        return prepared(
          () => this.alter(plan, { entity, change, runner }),
          await this.errorsOf(entity, plan, [errors]),
        );
      },
      judged: (error) =>
        this.judged(error, {
          plan,
          may: async () => !changed || this.mayAlter(changed, plan),
        }),
    };
  }

  private mayAlter({ entity, before, key }: Changed, { after, values }: UpdatePlan): Promise<boolean> {
    return this.candidates.mayStandChanged(entity, {
      where: after,
      exactly: this.finerOf(entity, values, true),
      stored: this.named(key),
      before,
    });
  }

  private async alter(
    plan: UpdatePlan,
    { entity, change, runner }: { entity: ObjectLiteral; change: Change; runner: QueryRunner },
  ): Promise<Row> {
    await runHook(plan.hooks.before, entity, { runner, dialect: this.tools.dialect });
    const arrays =
      plan.values.size > 0 || change.hooked === true ? await this.store(entity, change, runner) : [];
    const identity = identityOf(entity, this.resource, this.metadata);
    await writePreciseValues(
      this.resource,
      identity,
      [...arrays, ...this.finerOf(entity, plan.values, true)],
      {
        runner,
        tools: this.tools,
      },
    );
    await runHook(plan.hooks.after, entity, { runner, dialect: this.tools.dialect });
    return this.readBack(identity, plan.after, runner);
  }

  deletion(plan: DeletePlan): PreparableWrite<boolean> {
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
          ? prepared(() => this.take(plan, { entity, identity: key, runner }))
          : notFound(false);
      },
      judged: async (error) => {
        if (isRestException(error) || this.tools.dialect.errorFor(error)?.kind !== 'foreign-key')
          return error;
        return new RestrictedDeletion(await findReferrer(plan, this.tools));
      },
    };
  }

  private async take(
    { hooks }: DeletePlan,
    { entity, identity, runner }: { entity: ObjectLiteral; identity: readonly Json[]; runner: QueryRunner },
  ): Promise<boolean> {
    const told = this.restoreKey(entity, identity);
    await runHook(hooks.before, entity, { runner, dialect: this.tools.dialect });
    await this.related?.load(entity, runner, true);
    // TypeORM takes the key off an entity that it removes; the hook is told which one it was.
    const removed: ObjectLiteral = hooks.after
      ? Object.assign(Object.create(Object.getPrototypeOf(entity) as object) as ObjectLiteral, entity)
      : entity;
    await this.remove(entity, { identity, told }, runner);
    await runHook(hooks.after, removed, { runner, dialect: this.tools.dialect });
    return true;
  }

  private async remove(
    entity: ObjectLiteral,
    { identity, told }: Pick<Change, 'identity' | 'told'>,
    runner: QueryRunner,
  ): Promise<void> {
    if (!told) await this.deleteExactly(identity, runner);
    else if (this.metadata.deleteDateColumn)
      await runner.manager.softRemove(classOf(entity, this.metadata), entity);
    else {
      await this.tree?.beforeDelete(identity[0] ?? null, runner);
      if (this.unjoined) await this.removeAlone(entity, identity, runner);
      else await runner.manager.remove(classOf(entity, this.metadata), entity);
    }
  }

  /** With its listeners, and without the pairs that TypeORM would look for in a junction that there is not. */
  private async removeAlone(
    entity: ObjectLiteral,
    identity: readonly Json[],
    runner: QueryRunner,
  ): Promise<void> {
    const target = classOf(entity, this.metadata);
    const metadata = this.tools.tables.of(this.resource).dataSource.getMetadata(target);
    await runner.broadcaster.broadcast('BeforeRemove', metadata, entity, entity);
    await this.deleteExactly(identity, runner, false);
    await runner.broadcaster.broadcast('AfterRemove', metadata, entity, entity);
  }

  /** With the keys of its forward relations, as validators and listeners expect them. */
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
    if (forward === this.forward) await this.embedded.load(entity, this.named(identity), runner);
    return entity;
  }

  /** A pair whose side changes gets another key, which `save` would take for another row (contract 2.11). */
  private async store(
    entity: ObjectLiteral,
    change: Change,
    runner: QueryRunner,
  ): Promise<readonly ColumnValue[]> {
    // What a hook has changed is not known by name.
    const only =
      change.hooked === true
        ? undefined
        : new Set([...change.values.keys()].flatMap((name) => this.columnsOf(name)));
    const same = identityOf(entity, this.resource, this.metadata).every(
      (value, index) => value === change.identity[index],
    );
    if (same && change.told && this.saves) {
      await this.related?.load(entity, runner);
      const save = (): Promise<void> =>
        withoutEmptyRelations(entity, change.empty ?? [], () =>
          this.hiding(entity, change, () =>
            runner.manager.save(classOf(entity, this.metadata), entity, { reload: false }),
          ),
        );
      return withArrayPlaceholders(entity, { ...this.model, ...(only ? { only } : {}) }, () =>
        this.keepingTree(entity, { change, runner, save }),
      );
    }
    const changed = change.hooked === true ? entity : (this.metadata.create() as ObjectLiteral);
    applyValues(changed, this.resource, this.metadata, change);
    const save = (): Promise<void> => {
      const where = [whereIdentity(change.identity, this.resource, this.metadata)];
      return this.hiding(changed, change, () =>
        runner.manager
          .createQueryBuilder()
          .update(this.metadata.target)
          .set(changed)
          .whereInIds(where)
          .execute(),
      );
    };
    return withArrayPlaceholders(changed, this.model, () =>
      this.keepingTree(entity, { change, runner, save }),
    );
  }

  /** Each column is written once. */
  private async hiding(
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

  private async keepingTree(
    entity: ObjectLiteral,
    { change, runner, save }: { change: Change; runner: QueryRunner; save: () => Promise<void> },
  ): Promise<void> {
    await (this.tree
      ? this.tree.saving(entity, change.identity[0] ?? null, {
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
   * Gives an entity the key by which it was found. False where TypeORM has loaded another, because the driver loses
   * digits or a day of it: by what TypeORM knows, it would change or delete another row.
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

  private async deleteExactly(
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

  /** The key that the client gave, as it gave it; else what the database made. */
  private givenIdentity(made: readonly Json[], values: FieldValues): readonly Json[] {
    return this.resource.identity.map((column, index) => {
      const field = this.resource.fields.find(
        (each) => each.kind === 'column' && each.column.id === column.id,
      );
      const given = field && values.get(field.name);
      return given === undefined || column.type.kind !== 'bigint' ? (made[index] ?? null) : (given as Json);
    });
  }

  /** A listener may have put another value there. */
  private finerOf(entity: ObjectLiteral, values: FieldValues, change: boolean): readonly ColumnValue[] {
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

  /** An INSERT and never a save: `save` would overwrite a row that has the key already. */
  private async insert(entity: ObjectLiteral, runner: QueryRunner): Promise<void> {
    const { columns, target } = this.metadata;
    // TypeORM would give a generated column a value, which SQLite refuses.
    const made = this.tools.dialect.oneConnection && columns.some((column) => column.asExpression);
    const given = made
      ? columns
          .filter((column) => column.isInsert && !column.asExpression)
          .map((column) => column.propertyPath)
      : undefined;
    await runner.manager.createQueryBuilder().insert().into(target, given).values(entity).execute();
  }

  /** Throws 403 for a row that the caller may not have. */
  private async readBack(identity: readonly Json[], condition: Condition, runner: QueryRunner): Promise<Row> {
    const row = await this.tools.reader.retrieveWithin(allOf([this.named(identity), condition]), runner);
    if (!row) throw new PermissionDenied();
    return row;
  }

  private named(identity: readonly Json[]): Condition {
    return allOf(this.resource.identity.map((column, index) => equals(column, identity[index] ?? null)));
  }

  /** All together: of the body, of its keys, and of the application's validators. */
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

  private judged(error: unknown, judgement: TranslatedWriteError): Promise<unknown> {
    return translateWriteError(error, judgement, { ...this.model, tools: this.tools });
  }
}
