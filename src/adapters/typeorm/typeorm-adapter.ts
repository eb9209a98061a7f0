import type { DataSource, QueryRunner } from 'typeorm';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { ModelDescription } from '../../core/schema/entity-metadata.js';
import type { MissingIndex } from '../../core/contracts/missing-index.js';
import type { CountResult } from '../../core/contracts/pagination.js';
import type {
  BatchPlan,
  CreatePlan,
  DeletePlan,
  ExistsPlan,
  ListPlan,
  PagePlan,
  ParentPlan,
  ParentValues,
  ReadPlan,
  RelatedPlan,
  RetrievePlan,
  UpdatePlan,
  WritePlan,
} from '../../core/query/plan.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { ClassValidators } from '../../core/schema/value-rules.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import type {
  DataAdapter,
  JsonOutput,
  JsonRow,
  ObjectOutput,
  PageOf,
  RelatedRow,
} from '../../core/data-adapter.js';
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
import { restrictSubtypeListeners } from './metadata/listeners.js';
import { traceTransformers } from './metadata/transformers.js';
import { findMissingIndexes } from './metadata/missing-indexes.js';
import { chooseDialect } from './data-source-dialect.js';
import type { Dialect } from '../../sql/dialects/dialect.js';
import { BatchWriter } from './write/batch-writer.js';
import { TypeOrmIdempotencyStore } from './idempotency/typeorm-response-store.js';
import { ConnectionManager } from '../../execution/connection/connection-manager.js';
import type { ConnectionSettings } from '../../execution/connection/connection-manager.js';
import { TypeOrmConnections } from './connection/typeorm-connections.js';
import { runnerInTransaction } from './connection/runner-transactions.js';
import { EntityWriter } from './write/entity-writer.js';
import { IndexColumns, ViolatedConstraints } from './metadata/violated-constraints.js';
import { TextColumns } from './metadata/text-columns.js';
import { KeyLookups } from './read/key-lookups.js';
import { JsonReader } from './read/json-reader.js';
import { DirectWriter } from './write/direct-writer.js';
import { JunctionWriter } from './write/junction-writer.js';
import { RemovingWriter } from './write/removing-writer.js';
import { readRelated } from './read/related-reader.js';
import { RowReader } from './read/row-reader.js';
import type { RowWriter, ValidateEntity, WriterTools } from './write/row-writer.js';
import { WriteChoices } from './write/write-facts.js';
import { Tables } from './table-metadata.js';
import type { ReadChoice } from '../../execution/choose-read.js';
import type { LiveDeletion, LiveWrite } from '../../execution/choose-write.js';
import type { WriteChoice } from '../../execution/write-causes.js';

/** The readers and the writer of a resource or of a view: of a resource created at start, of a view when it is first used. */
interface Prepared {
  readonly rows: RowReader;
  readonly json: JsonReader;
  choices?: WriteChoices;
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
  private readonly lookups: KeyLookups;
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
    this.lookups = new KeyLookups(this.tables, this.dialect, this.connections);
    const { tables, dialect, connections } = this;
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
  async learn(): Promise<void> {
    await this.texts.read(this.dialect);
    await this.tables.learn(this.dialect);
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
    this.prepareView(resource);
  }

  /** How rows are read now. `isStored`: their stored values are the response. */
  chooseRead(resource: ResourceSchema, isStored: boolean): ReadChoice {
    return this.of(resource).rows.choices.choose(isStored);
  }

  private prepareView(resource: ResourceSchema): Prepared {
    const { tables, dialect, connections } = this;
    const rows = new RowReader(resource, { tables, dialect, connections });
    const prepared: Prepared = { rows, json: new JsonReader(rows) };
    this.prepared.set(resource, prepared);
    return prepared;
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

  private createWriter(resource: ResourceSchema): RowWriter {
    const tools = this.toolsOf(resource);
    const { writes, rules } = this.choicesOf(resource);
    if (writes.create.lane === 'pairs') return new JunctionWriter(resource, tools);
    const general = new EntityWriter(resource, tools);
    if (!rules) return new RemovingWriter(resource, tools, general);
    const { target } = this.tables.of(resource).metadata;
    const classValidators = this.settings.classValidatorsOf?.(target) ?? 'none';
    const direct = new DirectWriter(resource, tools, { general, rules, classValidators });
    return new RemovingWriter(resource, tools, direct);
  }

  private choicesOf(resource: ResourceSchema): WriteChoices {
    const { tables, dialect, connections } = this;
    return (this.of(resource).choices ??= new WriteChoices(resource, { tables, dialect, connections }));
  }

  private toolsOf(resource: ResourceSchema): WriterTools {
    const { tables, dialect, connections, lookups, constraints, resources } = this;
    const { validate, triggerMessages = false } = this.settings;
    return {
      tables,
      dialect,
      connections,
      lookups,
      constraints,
      triggerMessages,
      reader: this.of(resource).rows,
      readerOf: (view: ResourceSchema) => this.of(view).rows,
      choices: this.choicesOf(resource),
      resources,
      ...(validate ? { validate } : {}),
    };
  }

  readsAsStored(resource: ResourceSchema): boolean {
    return !this.of(resource).rows.loadsEntities;
  }

  read(plan: ParentPlan): Promise<ParentValues | undefined>;
  read(plan: RetrievePlan, output: 'rows'): Promise<Row | undefined>;
  read(plan: RetrievePlan, output: JsonOutput): MaybePromise<JsonRow | undefined>;
  read(plan: PagePlan, output: 'rows'): Promise<PageOf<readonly Row[]>>;
  read(plan: PagePlan, output: JsonOutput): MaybePromise<PageOf<string>>;
  read(plan: ListPlan, output: 'rows'): AsyncIterable<readonly Row[]>;
  read(plan: ListPlan, output: ObjectOutput): AsyncIterable<readonly Representation[]>;
  read(plan: ListPlan, output: JsonOutput): MaybePromise<string | AsyncIterable<string>>;
  read(plan: ReadPlan, output: 'rows' | JsonOutput | ObjectOutput = 'rows'): unknown {
    if (plan.kind === 'parent') return this.lookups.findParent(plan);
    const { rows, json } = this.of(plan.resource);
    switch (plan.kind) {
      case 'retrieve':
        return output === 'rows' ? rows.retrieve(plan) : json.row(plan, output);
      case 'page':
        return output === 'rows' ? rows.page(plan) : json.page(plan, output);
      case 'list':
        if (output === 'rows') return rows.list(plan);
        return 'as' in output ? json.objects(plan, output) : json.list(plan, output);
      default:
        return plan satisfies never;
    }
  }

  count(plan: PagePlan): Promise<CountResult> {
    return this.of(plan.resource).rows.count(plan);
  }

  exists(plan: ExistsPlan): Promise<boolean> {
    return this.lookups.exists(plan);
  }

  related(plan: RelatedPlan): Promise<readonly RelatedRow[]> {
    const { tables, dialect, connections } = this;
    return readRelated(plan, { reader: this.of(plan.resource).rows, tables, dialect, connections });
  }

  write(plan: CreatePlan): MaybePromise<Row>;
  write(plan: UpdatePlan): MaybePromise<Row | undefined>;
  write(plan: DeletePlan): Promise<boolean>;
  write(plan: WritePlan): MaybePromise<Row | undefined | boolean> {
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

  writeAll(plan: BatchPlan): Promise<readonly Row[]> {
    const { connections, dialect, lookups, tables } = this;
    const parts = {
      writerOf: (view: ResourceSchema) => this.writerOf(view),
      toolsOf: (view: ResourceSchema) => this.toolsOf(view),
      tools: { connections, dialect, lookups, tables },
    };
    return new BatchWriter(parts).write(plan);
  }

  private of(resource: ResourceSchema): Prepared {
    return this.prepared.get(resource) ?? this.prepareView(resource);
  }
}
