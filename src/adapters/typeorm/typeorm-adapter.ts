import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { BulkStepError } from '../../core/errors/rest-exception.js';
import type { ModelDescription } from '../../core/schema/entity-metadata.js';
import type { MissingIndex } from '../../core/contracts/missing-index.js';
import type { CountResult } from '../../core/contracts/pagination.js';
import type {
  BatchPlan,
  CreatePlan,
  DeletePlan,
  ExistsPlan,
  PagePlan,
  RelatedPlan,
  RestorePlan,
  UpdatePlan,
  WritePlan,
} from '../../core/query/plan.js';
import type { AggregatePlan, AggregateResult } from '../../core/query/aggregate.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { ClassValidators } from '../../core/schema/value-rules.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { DataAdapter, RelatedRow } from '../../core/data-adapter.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { DecoratorReaders } from './metadata/describe-model.js';
import { describeModel } from './metadata/describe-model.js';
import {
  tableProblems,
  engineWarnings,
  runnerProblems,
  warningsOfOptions,
  serverProblems,
  settingProblems,
} from './metadata/check-data-source.js';
import { fullTextProblems } from './metadata/full-text-problems.js';
import { restrictSubtypeListeners } from './metadata/listeners.js';
import { traceTransformers } from './metadata/transformers.js';
import { uniqueWarnings } from './metadata/unique-warnings.js';
import { findMissingIndexes } from './metadata/missing-indexes.js';
import { chooseDialect } from './data-source-dialect.js';
import type { Dialect } from '../../sql/dialects/dialect.js';
import { BatchWriter } from './write/batch-writer.js';
import { TypeOrmIdempotencyStore } from './idempotency/typeorm-response-store.js';
import { ConnectionManager } from '../../execution/connection/connection-manager.js';
import type { ConnectionSettings } from '../../execution/connection/connection-manager.js';
import { TypeOrmConnections } from './connection/typeorm-connections.js';
import { runnerInTransaction } from './connection/runner-transactions.js';
import { EntityRestorer } from './write/entity-restorer.js';
import { EntityWriter } from './write/entity-writer.js';
import { IndexColumns, ViolatedConstraints } from './metadata/violated-constraints.js';
import { TextColumns } from './metadata/text-columns.js';
import { DirectWriter } from './write/direct-writer.js';
import { JunctionWriter } from './write/junction-writer.js';
import { RemovingWriter } from './write/removing-writer.js';
import type { RowWriter, ValidateEntity, WriterTools } from './write/row-writer.js';
import { WriteChoices } from './write/write-choices.js';
import { Tables } from './table-metadata.js';
import { PlanReader } from '../../execution/read/plan-reader.js';
import { EntityLoader } from './read/entity-loader.js';
import type { ReadChoice } from '../../execution/choose-read.js';
import type { LiveDeletion, LiveWrite } from '../../execution/choose-write.js';
import type { WriteChoice } from '../../execution/write-causes.js';

/** The writer of a resource or of a view, created at its first use. */
interface Prepared {
  readonly choices: WriteChoices;
  writer?: RowWriter;
}

export interface AdapterSettings extends ConnectionSettings {
  /** Whether callers receive the messages of errors that triggers raise. */
  readonly triggerMessages?: boolean;
  readonly validate?: ValidateEntity;
  /** The validators of an entity's class that `validate` runs. */
  readonly classValidatorsOf?: (target: unknown) => ClassValidators;
}

/** `DataAdapter` over a connected TypeORM data source. */
export class TypeOrmAdapter implements DataAdapter {
  readonly responses: TypeOrmIdempotencyStore;
  private readonly dialect: Dialect;
  private readonly tables: Tables;
  private readonly connections: ConnectionManager<QueryRunner>;
  private readonly reader: PlanReader<QueryRunner>;
  readonly read: DataAdapter['read'];
  private readonly constraints: ViolatedConstraints;
  private readonly texts: TextColumns;
  /** By resource, and by view of a resource with the fields that a caller may read. */
  private readonly prepared = new WeakMap<ResourceSchema, Prepared>();
  private readonly resources = new Set<ResourceSchema>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: AdapterSettings,
  ) {
    this.dialect = chooseDialect(dataSource);
    restrictSubtypeListeners(dataSource);
    traceTransformers(dataSource);
    this.tables = new Tables(dataSource);
    this.texts = new TextColumns(dataSource);
    const port = new TypeOrmConnections(dataSource, settings.acquireTimeout);
    this.connections = new ConnectionManager(port, this.dialect, settings);
    const { tables, dialect, connections } = this;
    this.reader = new PlanReader({
      tables,
      dialect,
      connections,
      databaseType: dataSource.options.type,
      entityRows: (resource) => new EntityLoader(resource, { tables, dialect }),
    });
    this.read = this.reader.read.bind(this.reader);
    const indexes = new IndexColumns(tables, dialect, connections);
    this.constraints = new ViolatedConstraints({ tables, dialect, connections, indexes });
    this.responses = new TypeOrmIdempotencyStore(dataSource, {
      connections: this.connections,
      dialect: this.dialect,
    });
  }

  describe(decorators?: DecoratorReaders): ModelDescription {
    return describeModel(this.dataSource, decorators, this.texts);
  }

  /** Warnings about the data source and its tables, which do not prevent the start. */
  async warnings(resources: readonly ResourceSchema[]): Promise<readonly string[]> {
    const { tables, dataSource } = this;
    const { warning } = this.texts;
    return [
      ...warningsOfOptions(dataSource),
      ...(warning === undefined ? [] : [warning]),
      ...(await engineWarnings(resources, { tables, dataSource })),
      ...uniqueWarnings(resources, { tables, dataSource }),
    ];
  }

  /** Whether the database knows the sizes of tables without counting rows. */
  get hasStatistics(): boolean {
    return this.dialect.indexes.hasStatistics;
  }

  /** The indexes that the prepared models need, on tables with at least so many rows. */
  findMissingIndexes(least: number): Promise<readonly MissingIndex[]> {
    const { tables, dialect, dataSource } = this;
    return findMissingIndexes([...this.resources], least, { tables, dialect, dataSource });
  }

  /** Reads facts about the tables from the database; called before the entities are described. */
  async loadTableFacts(): Promise<void> {
    await this.texts.read(this.dialect);
    await this.tables.loadTableFacts(this.dialect);
  }

  /** What is wrong with the settings of sessions, and with models by the definitions of their tables in the database. */
  async problems(resources: readonly ResourceSchema[]): Promise<readonly DeclarationProblem[]> {
    const { tables, dialect, dataSource } = this;
    const others = await serverProblems(dataSource, dialect);
    if (others.length > 0) return others;
    return [
      ...(await runnerProblems(dataSource)),
      ...(await settingProblems(dataSource, dialect)),
      ...(await tableProblems(resources, { tables, dialect, dataSource })),
      ...(await fullTextProblems(resources, { tables, dialect, dataSource })),
    ];
  }

  /** Converts an error of the application's own statement: a `RestException` if the database is unavailable or has aborted it, else the same error. */
  reported(error: unknown): unknown {
    return this.connections.failures.report(error);
  }

  async join<Result>(manager: object, work: () => Promise<Result>): Promise<Result> {
    return this.connections.joined.run(runnerInTransaction(manager, this.dataSource), work);
  }

  prepare(resource: ResourceSchema): void {
    this.resources.add(resource);
    this.reader.prepare(resource);
  }

  /** How rows are read now. `isStored`: their stored values are the response. */
  chooseRead(resource: ResourceSchema, isStored: boolean): ReadChoice {
    return this.reader.choose(resource, isStored);
  }

  /** How rows are written now: by this plan, this deletion, or these ones. */
  chooseWrite(resource: ResourceSchema, write: LiveWrite): WriteChoice {
    return this.choicesOf(resource).explain(write);
  }

  chooseDeletion(resource: ResourceSchema, deletion: LiveDeletion): WriteChoice {
    return this.choicesOf(resource).explainDeletion(deletion);
  }

  chooseDeletions(resource: ResourceSchema, deletions: readonly LiveDeletion[]): WriteChoice {
    return this.choicesOf(resource).explainDeletions(deletions);
  }

  private writerOf(resource: ResourceSchema): RowWriter {
    const prepared = this.of(resource);
    return (prepared.writer ??= this.createWriter(resource));
  }

  /** Deletions first, then writes by one statement, then all others: each writer gives the next one what it does not write. */
  private createWriter(resource: ResourceSchema): RowWriter {
    const tools = this.toolsOf(resource);
    const { writes, rules } = this.choicesOf(resource);
    if (writes.create.lane === 'pairs') return new JunctionWriter(resource, tools);
    const general = new EntityWriter(resource, tools, rules);
    if (resource.deleted) return general;
    if (!rules) return new RemovingWriter(resource, tools, general);
    const { target } = this.tables.of(resource).metadata;
    const classValidators = this.settings.classValidatorsOf?.(target) ?? 'none';
    const direct = new DirectWriter(resource, tools, { general, rules, classValidators });
    return new RemovingWriter(resource, tools, direct);
  }

  private choicesOf(resource: ResourceSchema): WriteChoices {
    return this.of(resource).choices;
  }

  private toolsOf(resource: ResourceSchema): WriterTools {
    const { tables, dialect, connections, constraints, resources } = this;
    const { lookups } = this.reader;
    const { validate, triggerMessages = false } = this.settings;
    return {
      tables,
      dialect,
      connections,
      lookups,
      adapter: this,
      constraints,
      triggerMessages,
      reader: this.reader.of(resource).rows,
      readerOf: (view: ResourceSchema) => this.reader.of(view).rows,
      choices: this.choicesOf(resource),
      writerOf: (view: ResourceSchema) => this.writerOf(view),
      resources,
      ...(validate ? { validate } : {}),
    };
  }

  bypassesEntityHooks(resource: ResourceSchema): boolean {
    return this.reader.bypassesEntityHooks(resource);
  }

  aggregate(plan: AggregatePlan): Promise<AggregateResult> {
    return this.reader.aggregate(plan);
  }

  count(plan: PagePlan): Promise<CountResult> {
    return this.reader.count(plan);
  }

  exists(plan: ExistsPlan): Promise<boolean> {
    return this.reader.exists(plan);
  }

  related(plan: RelatedPlan): Promise<readonly RelatedRow[]> {
    const manager = plan.transaction as EntityManager | undefined;
    return this.reader.related(plan, manager?.queryRunner);
  }

  write(plan: CreatePlan): MaybePromise<Row>;
  write(plan: UpdatePlan): MaybePromise<Row | undefined>;
  write(plan: DeletePlan): Promise<boolean>;
  write(plan: RestorePlan): Promise<Row | undefined>;
  write(plan: WritePlan): MaybePromise<Row | undefined | boolean> {
    if (plan.kind === 'restore')
      return new EntityRestorer(plan.resource, this.toolsOf(plan.resource)).restore(plan);
    const writer = this.writerOf(plan.resource);
    switch (plan.kind) {
      case 'create':
        return writer.create(plan);
      case 'update':
        return writer.update(plan);
      case 'delete':
        return writer.delete(plan);
      default:
        return plan satisfies never;
    }
  }

  tryWriteTogether(plan: BatchPlan): Promise<boolean> {
    return this.batches().tryWriteTogether(plan);
  }

  writeAll(plan: BatchPlan): Promise<readonly Row[]> {
    return this.batches().write(plan);
  }

  checkAll(plan: BatchPlan): Promise<ReadonlyMap<number, BulkStepError>> {
    return this.batches().check(plan);
  }

  private batches(): BatchWriter {
    const { connections, dialect, tables } = this;
    const { lookups } = this.reader;
    return new BatchWriter({
      writerOf: (view) => this.writerOf(view),
      toolsOf: (view) => this.toolsOf(view),
      tools: { connections, dialect, lookups, tables },
    });
  }

  private of(resource: ResourceSchema): Prepared {
    const known = this.prepared.get(resource);
    if (known) return known;
    const { tables, dialect, connections } = this;
    const prepared = { choices: new WriteChoices(resource, { tables, dialect, connections }) };
    this.prepared.set(resource, prepared);
    return prepared;
  }
}
