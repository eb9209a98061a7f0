import { isDeepStrictEqual } from 'node:util';
import type { EntityMetadata, QueryRunner } from 'typeorm';
import { InvalidInput } from '../../../core/errors/http-exceptions.js';
import type { FieldErrors } from '../../../core/errors/rest-exception.js';
import type { CreatePlan, DeletePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { ClassValidators } from '../../../core/schema/value-rules.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import { isBySql, isChoice, VALUE_CHOICES } from '../../../execution/choose-write.js';
import type { WriteChoice } from '../../../execution/write-causes.js';
import { DirectExecution } from './direct-execution.js';
import { DirectStatements } from './direct-statements.js';
import type { RowChanges } from './change-detection.js';
import type { DirectWriterRules } from './direct-writer-rules.js';
import { InsertWithChildren } from './insert-with-children.js';
import { InsertTogether } from './insert-together.js';
import { KeyColumns } from './key-columns.js';
import { LockedUpdate } from './locked-update.js';
import { entityErrors } from './entity-errors.js';
import { applyValues, assertExactKey } from './entity-values.js';
import { expectedKeys, withKnownKeys } from './column-values.js';
import type { KeyLookup } from '../../../execution/read/key-lookups.js';
import { hasErrors, NO_ERRORS, prepared, preparedWithoutLock, inTransaction } from './row-writer.js';
import type { InsertableRow, PreparableWrite, PreparedWrite, RowWriter, WriterTools } from './row-writer.js';
import { UpdateTogether } from './update-together.js';
import { inOwnTransaction } from './step-writer.js';
import { StoredRows } from './stored-rows.js';
import type { StoredRow } from './stored-rows.js';

export interface DirectWriterParts {
  readonly general: RowWriter;
  readonly rules: DirectWriterRules;
  readonly classValidators: ClassValidators;
}

/**
 * Writes a row with a single statement that returns the stored row, where `WriteChoices` and the values choose the lane
 * `direct`. If the statement writes no row (a missing row, an unknown key, a value that the database
 * rejects), nothing has changed, and the general writer executes the write or reports the error. It only translates the
 * error of a duplicate value.
 */
export class DirectWriter implements RowWriter {
  private readonly metadata: EntityMetadata;
  private readonly execution: DirectExecution;
  private readonly statements: DirectStatements;
  private readonly inserts: InsertTogether;
  private readonly updates: UpdateTogether;
  private readonly locked: LockedUpdate;
  private readonly validates: boolean;
  /** Undefined if more than the keys of a body is to be checked before its statement. */
  private readonly families: InsertWithChildren | undefined;
  /** For validators of updated entities; undefined if only TypeORM can load these. */
  private readonly storedRows: StoredRows | undefined;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly parts: DirectWriterParts,
  ) {
    this.metadata = tools.tables.of(resource).metadata;
    this.execution = new DirectExecution(resource, tools);
    this.statements = new DirectStatements(resource, tools, parts.rules);
    this.inserts = new InsertTogether(resource, tools, this.statements);
    this.updates = new UpdateTogether(resource, tools, this.statements);
    this.locked = new LockedUpdate(resource, tools, this.statements);
    this.validates = parts.classValidators !== 'none';
    const isPlain = !this.validates && KeyColumns.of(resource, this.metadata) === undefined;
    this.families = isPlain ? new InsertWithChildren(resource, tools, this.statements) : undefined;
    this.storedRows = this.validates ? StoredRows.of(resource, tools) : undefined;
  }

  create(plan: CreatePlan): MaybePromise<Row> {
    if (plan.recording?.images) return this.withImages(this.prepareCreate(plan), plan);
    const { families } = this;
    if (plan.children)
      return families ? families.create(plan, this.parts.general) : this.parts.general.create(plan);
    return mapMaybe(this.tools.choices.choose(plan), (choice) => {
      if (choice.lane === 'direct' && this.validates) return this.createValid(plan);
      if (choice.lane === 'direct' && plan.keys.length > 0 && !this.parts.rules.inserting.selectsRows)
        return this.createChecked(plan);
      const row = choice.lane === 'direct' ? this.statements.newRow(plan) : choice;
      if (isChoice(row)) return this.parts.general.create(plan);
      const statement = this.statements.insert(row, plan, { isAlone: true });
      return mapMaybe(
        this.execution.execute(statement, plan, () => this.parts.general.prepareCreate(plan)),
        (written) => written ?? this.parts.general.create(plan),
      );
    });
  }

  insertable(plan: CreatePlan, below: readonly Column[]): MaybePromise<InsertableRow | undefined> {
    return this.families?.insertable(plan, below, this.inserts);
  }

  /** Looks the related keys up before an INSERT that cannot ask for them. A foreign key rejects one that is deleted meanwhile. */
  private async createChecked(plan: CreatePlan): Promise<Row> {
    const { general } = this.parts;
    const found = await this.tools.lookups.lookUp(plan.keys);
    const checked = this.withoutCheckedKeys(plan, found);
    const row = this.statements.newRow(checked);
    if (isChoice(row)) return inOwnTransaction(await general.prepareCreate(plan, found), plan, this.tools);
    const statement = this.statements.insert(row, checked, { isAlone: true });
    const written = await this.execution.execute(statement, plan, () => general.prepareCreate(plan, found));
    return written ?? general.create(plan);
  }

  /** The plan without keys that were found as the body has them, where an INSERT cannot ask for them. */
  private withoutCheckedKeys(plan: CreatePlan, found: KeyLookup): CreatePlan {
    if (this.parts.rules.inserting.selectsRows || this.validates || hasErrors(found.errors)) return plan;
    const expected = expectedKeys(plan);
    return expected && isDeepStrictEqual(found.referenced, expected.referenced)
      ? { ...plan, keys: [] }
      : plan;
  }

  update(plan: UpdatePlan): MaybePromise<Row | undefined> {
    if (plan.recording?.images) return this.withImages(this.prepareUpdate(plan), plan);
    return mapMaybe(this.tools.choices.choose(plan), (choice) => {
      const changes = this.changesOf(plan, choice);
      if (isChoice(changes)) return this.parts.general.update(plan);
      if (choice.lane === 'locked') return this.updateLocked(plan, changes);
      if (this.validates) return this.updateValid(plan, changes);
      return mapMaybe(
        this.execution.execute(this.statements.update(plan, changes), plan, () =>
          this.parts.general.prepareUpdate(plan),
        ),
        (row) => row ?? this.parts.general.update(plan),
      );
    });
  }

  /** In a transaction, as the row is read there once more. */
  private async withImages<Written extends Row | undefined>(
    step: MaybePromise<PreparableWrite<Written>>,
    plan: CreatePlan | UpdatePlan,
  ): Promise<Written> {
    return inOwnTransaction(await step, plan, this.tools);
  }

  private changesOf(plan: UpdatePlan, choice: WriteChoice): RowChanges | WriteChoice {
    if (!isBySql(choice) || choice.lane === 'loaded') return choice;
    if (choice.lane === 'locked' && this.validates) return VALUE_CHOICES['validated-change'];
    return this.statements.changesOf(plan);
  }

  private async updateLocked(plan: UpdatePlan, changes: RowChanges): Promise<Row | undefined> {
    const general = await this.parts.general.prepareUpdate(plan);
    return inOwnTransaction(this.updating(general, plan, changes), plan, this.tools);
  }

  delete(plan: DeletePlan): Promise<boolean> {
    return this.parts.general.delete(plan);
  }

  prepareCreate(plan: CreatePlan, known?: KeyLookup): MaybePromise<PreparableWrite<Row>> {
    const { general } = this.parts;
    return mapMaybe(known ?? this.tools.lookups.lookUp(plan.keys), (found) =>
      mapMaybe(this.tools.choices.choose(plan), (choice) => {
        if (this.families && choice.lane === 'direct' && !hasErrors(found.errors))
          return this.inserting(plan, { found, choice, prepare: () => general.prepareCreate(plan, found) });
        return mapMaybe(general.prepareCreate(plan, found), (step) =>
          hasErrors(step.errors) ? step : this.inserting(plan, { found, choice, prepare: () => step }),
        );
      }),
    );
  }

  /** @param given `prepare` prepares the write by the general writer. */
  private inserting(
    plan: CreatePlan,
    given: {
      readonly found: KeyLookup;
      readonly choice: WriteChoice;
      readonly prepare: () => MaybePromise<PreparableWrite<Row>>;
    },
  ): MaybePromise<PreparableWrite<Row>> {
    const { found, choice, prepare } = given;
    const checked = this.withoutCheckedKeys(plan, found);
    const columns = choice.lane === 'direct' ? this.statements.newRow(checked) : choice;
    if (isChoice(columns)) return prepare();
    const otherwise = async (runner: QueryRunner): Promise<Row> =>
      inTransaction(
        await this.parts.general.prepareCreate(plan, await this.tools.lookups.lookUp(plan.keys, runner)),
        runner,
      );
    return {
      errors: NO_ERRORS,
      translateError: async (error) => (await prepare()).translateError(error),
      prepare: (runner) => ({
        insertable: { by: this.inserts, columns, keys: checked.keys },
        ...prepared(async () => {
          const statement = this.statements.insert(columns, checked, { isAlone: false });
          const row = await this.execution.executeWithin(statement, runner);
          if (row) assertExactKey(row.key, this.resource);
          return row ?? otherwise(runner);
        }),
      }),
    };
  }

  prepareUpdate(plan: UpdatePlan): MaybePromise<PreparableWrite<Row | undefined>> {
    return mapMaybe(this.parts.general.prepareUpdate(plan), (general) =>
      mapMaybe(this.tools.choices.choose(plan), (choice) => {
        const changes = this.changesOf(plan, choice);
        if (isChoice(changes)) return general;
        return this.validates
          ? this.updatingValid(general, withKnownKeys(plan), changes)
          : this.updating(general, plan, changes);
      }),
    );
  }

  private updating(
    general: PreparableWrite<Row | undefined>,
    plan: UpdatePlan,
    changes: RowChanges,
  ): PreparableWrite<Row | undefined> {
    return {
      errors: general.errors,
      translateError: (error) => general.translateError(error),
      prepare: (runner) => ({
        ...preparedWithoutLock(
          async () => (await this.locked.execute(plan, changes, runner)) ?? inTransaction(general, runner),
          () => general.prepare(runner),
        ),
        ...this.changeable(plan, changes),
      }),
    };
  }

  /** Beside others of a batch, unless the content of the row is expected. */
  private changeable(
    { keys, after, expected }: UpdatePlan,
    changes: RowChanges,
  ): Pick<PreparedWrite<unknown>, 'changeable'> {
    return expected ? {} : { changeable: { by: this.updates, changes, keys, after } };
  }

  prepareDelete(plan: DeletePlan): ReturnType<RowWriter['prepareDelete']> {
    return this.parts.general.prepareDelete(plan);
  }

  prepareDeletes(plans: readonly DeletePlan[]): ReturnType<RowWriter['prepareDeletes']> {
    return this.parts.general.prepareDeletes(plans);
  }

  /**
   * What the keys of the body refer to if they exist; undefined if they have to be looked up first. Validators of the
   * application see no key that does not exist or that the caller may not refer to: they may load its row.
   */
  private expectedKeys(plan: CreatePlan | UpdatePlan): KeyLookup | undefined {
    return this.parts.classValidators === 'own' ? undefined : expectedKeys(plan);
  }

  /**
   * Inserts a row whose entity is valid. The validators run once, also if the general writer takes over, unless a key of the
   * body does not exist.
   */
  private async createValid(plan: CreatePlan): Promise<Row> {
    const { general } = this.parts;
    const expected = this.expectedKeys(plan);
    const columns = this.statements.newRow(plan);
    if (isChoice(columns)) return general.create(plan);
    const checked = expected ? plan : withKnownKeys(plan);
    const statement = this.statements.insert(columns, checked, { isAlone: true });
    let step = await general.prepareCreate(plan, expected);
    if (!hasErrors(step.errors)) {
      const row = await this.execution.execute(statement, plan, () => step);
      if (row) return row;
    }
    if (expected) {
      const found = await this.tools.lookups.lookUp(plan.keys);
      if (hasErrors(found.errors) || !isDeepStrictEqual(found.referenced, expected.referenced))
        step = await general.prepareCreate(plan, found);
    }
    return inOwnTransaction(step, plan, this.tools);
  }

  /** Updates a row whose entity is valid, if it is still in the state in which the validators have checked it. */
  private async updateValid(plan: UpdatePlan, changes: RowChanges): Promise<Row | undefined> {
    const rows = this.storedRows;
    const expected = this.expectedKeys(plan);
    const row = rows && (await this.findValid(plan, rows, expected));
    const checked = expected ? plan : withKnownKeys(plan);
    const updated =
      row &&
      (await this.execution.execute(this.statements.update(checked, changes, { rows, row }), plan, () =>
        this.parts.general.prepareUpdate(plan),
      ));
    return updated ?? this.parts.general.update(plan);
  }

  /**
   * The row with its entity changed and valid; undefined if the row does not exist. The keys of the body are looked up unless
   * `expected` says what they refer to.
   * @throws InvalidInput if the entity is invalid, or a key of the body that was looked up.
   */
  private async findValid(
    plan: UpdatePlan,
    rows: StoredRows,
    expected: KeyLookup | undefined,
  ): Promise<StoredRow | undefined> {
    const { connections, lookups } = this.tools;
    const [record] = await connections.read(rows.select(plan.where), 'primary', plan.requester);
    const row = record && rows.read(record);
    if (!row) return undefined;
    let errors = await this.changeEntity(row, plan, expected ?? (await lookups.lookUp(plan.keys)));
    if (!hasErrors(errors)) return row;
    if (expected) {
      const found = await lookups.lookUp(plan.keys);
      if (hasErrors(found.errors)) errors = await this.changeEntity(row, plan, found);
    }
    const step = await this.parts.general.prepareUpdate(plan);
    throw await step.translateError(new InvalidInput(errors));
  }

  /** Applies the body to the entity of a stored row, and returns the errors of both. */
  private changeEntity(
    { entity }: StoredRow,
    plan: UpdatePlan,
    { referenced, errors }: KeyLookup,
  ): MaybePromise<FieldErrors> {
    const { resource, metadata, tools } = this;
    applyValues(entity, { resource, metadata }, { values: plan.values, referenced });
    return entityErrors(entity, plan, { ofKeys: [errors], resource, tools });
  }

  /** The row is locked and its entity validated by the general writer; only the UPDATE is not TypeORM's. */
  private updatingValid(
    general: PreparableWrite<Row | undefined>,
    plan: UpdatePlan,
    changes: RowChanges,
  ): PreparableWrite<Row | undefined> {
    const statement = this.statements.update(plan, changes);
    return {
      errors: general.errors,
      translateError: (error) => general.translateError(error),
      prepare: async (runner) => {
        const prepared = await general.prepare(runner);
        const write = async (): Promise<Row | undefined> =>
          (await this.execution.executeWithin(statement, runner)) ?? prepared.write();
        return prepared.missing || hasErrors(prepared.errors)
          ? prepared
          : { ...prepared, write, ...this.changeable(plan, changes) };
      },
    };
  }
}
