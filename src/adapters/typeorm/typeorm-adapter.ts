import type { DataSource } from 'typeorm';
import type { ModelDescription } from '../../core/schema/entity-metadata.js';
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
  RelatedPlan,
  RetrievePlan,
  UpdatePlan,
} from '../../core/query/plan.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { DataAdapter, PageOf, RelatedRow, RowEncoder, ValidatedJson } from '../../core/data-adapter.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { AskedClasses } from './metadata/describe-model.js';
import { describeModel } from './metadata/describe-model.js';
import { warningsOfOptions } from './metadata/warn-of-options.js';
import { chooseDialect } from './choose-dialect.js';
import type { Dialect } from '../../sql/dialects/dialect.js';
import { BatchWriter } from './write/batch-writer.js';
import { TypeOrmIdempotencyStore } from './idempotency/typeorm-response-store.js';
import { ConnectionManager } from './connection/connection-manager.js';
import type { ConnectionLimits } from './connection/connection-limits.js';
import { EntityWriter } from './write/entity-writer.js';
import { IndexColumns } from './metadata/index-columns.js';
import { KeyLookups } from './write/foreign-key-lookup.js';
import { JsonSubtypeTables } from './read/json-subtype-tables.js';
import { PageReader } from './read/page-reader.js';
import { directWriterRules } from './write/direct-writer-rules.js';
import { DirectWriter } from './write/direct-writer.js';
import { JunctionWriter } from './write/junction-writer.js';
import { readRelated } from './read/related-reader.js';
import { RowReader } from './read/row-reader.js';
import type { RowWriter, ValidateEntity, WriterTools } from './write/row-writer.js';
import { Tables } from './table-metadata.js';

interface Prepared {
  readonly reader: RowReader;
  /** Made when a page is asked for: most models have no pagination. */
  pages: PageReader | undefined;
  /** Made when a row is written: of views that clients choose to read none is. */
  writer: RowWriter | undefined;
}

export interface AdapterSettings extends ConnectionLimits {
  readonly validate?: ValidateEntity;
  /** Whether `validate` knows rules of an entity's class. */
  readonly validates?: (target: unknown) => boolean;
}

/** `DataAdapter` over a connected TypeORM data source. */
export class TypeOrmAdapter implements DataAdapter {
  readonly answers: TypeOrmIdempotencyStore;
  private readonly dialect: Dialect;
  private readonly tables: Tables;
  private readonly connections: ConnectionManager;
  private readonly lookups: KeyLookups;
  private readonly indexes: IndexColumns;
  private readonly marked: JsonSubtypeTables;
  /** By resource, and by each view of one that some caller's grants leave. */
  private readonly prepared = new WeakMap<Resource, Prepared>();
  private readonly resources = new Set<Resource>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: AdapterSettings,
  ) {
    this.dialect = chooseDialect(dataSource);
    this.tables = new Tables(dataSource);
    this.marked = new JsonSubtypeTables(this.dialect.json);
    this.connections = new ConnectionManager(dataSource, this.dialect, settings);
    this.lookups = new KeyLookups(this.tables, this.dialect, this.connections);
    this.indexes = new IndexColumns(this.tables, this.dialect, this.connections);
    this.answers = new TypeOrmIdempotencyStore(dataSource, {
      connections: this.connections,
      dialect: this.dialect,
    });
  }

  describe(asked?: AskedClasses): ModelDescription {
    return describeModel(this.dataSource, asked);
  }

  /** What the application should know of its data source, and is no reason not to start. */
  warnings(): readonly string[] {
    return warningsOfOptions(this.dataSource);
  }

  /** What the database alone can tell of its tables, before any resource is prepared. */
  learn(): Promise<void> {
    return this.marked.load(this.dataSource);
  }

  reported(error: unknown): unknown {
    return this.connections.failures.report(error);
  }

  prepare(resource: Resource): void {
    this.resources.add(resource);
    this.prepareView(resource);
    this.writerOf(resource);
  }

  private prepareView(resource: Resource): Prepared {
    const { tables, dialect, connections, marked } = this;
    const prepared: Prepared = {
      reader: new RowReader(resource, { tables, dialect, connections, marked }),
      pages: undefined,
      writer: undefined,
    };
    this.prepared.set(resource, prepared);
    return prepared;
  }

  private writerOf(resource: Resource): RowWriter {
    const prepared = this.of(resource);
    return (prepared.writer ??= writerOf(
      resource,
      this.toolsOf(resource),
      this.settings.validates ?? (() => false),
    ));
  }

  private toolsOf(resource: Resource): WriterTools {
    const { tables, dialect, connections, lookups, indexes, resources } = this;
    const { validate } = this.settings;
    return {
      tables,
      dialect,
      connections,
      lookups,
      indexes,
      reader: this.of(resource).reader,
      readerOf: (view: Resource) => this.of(view).reader,
      resources,
      ...(validate ? { validate } : {}),
    };
  }

  findParent(plan: ParentPlan): Promise<ParentValues | undefined> {
    return this.lookups.findParent(plan);
  }

  exists(plan: ExistsPlan): Promise<boolean> {
    return this.lookups.exists(plan);
  }

  list(plan: ListPlan): AsyncIterable<readonly Row[]> {
    return this.of(plan.resource).reader.list(plan);
  }

  listTexts(plan: ListPlan, writing: RowEncoder): MaybePromise<string | AsyncIterable<string>> | undefined {
    return this.of(plan.resource).reader.listJson(plan, writing);
  }

  page(plan: PagePlan): Promise<PageOf<readonly Row[]>> {
    return this.pagesOf(plan.resource).rows(plan);
  }

  pageText(plan: PagePlan, writing: RowEncoder): Promise<PageOf<string>> {
    return this.pagesOf(plan.resource).json(plan, writing);
  }

  countRows(plan: PagePlan): Promise<CountResult> {
    return this.pagesOf(plan.resource).count(plan);
  }

  related(plan: RelatedPlan): Promise<readonly RelatedRow[]> {
    const { tables, dialect, connections } = this;
    return readRelated(plan, { reader: this.of(plan.resource).reader, tables, dialect, connections });
  }

  retrieve(plan: RetrievePlan): Promise<Row | undefined> {
    return this.of(plan.resource).reader.retrieve(plan);
  }

  retrieveText(plan: RetrievePlan, writing: RowEncoder): MaybePromise<string | undefined> {
    return this.of(plan.resource).reader.retrieveJson(plan, writing);
  }

  retrieveStamped(plan: RetrievePlan, writing: RowEncoder): Promise<ValidatedJson | undefined> {
    return this.of(plan.resource).reader.retrieveStamped(plan, writing);
  }

  readsAsStored(resource: Resource): boolean {
    return !this.of(resource).reader.needsEntities();
  }

  create(plan: CreatePlan): MaybePromise<Row> {
    return this.writerOf(plan.resource).create(plan);
  }

  update(plan: UpdatePlan): MaybePromise<Row | undefined> {
    return this.writerOf(plan.resource).update(plan);
  }

  delete(plan: DeletePlan): Promise<boolean> {
    return this.writerOf(plan.resource).delete(plan);
  }

  writeAll(plan: BatchPlan): Promise<readonly Row[]> {
    const { connections, dialect, lookups } = this;
    const parts = {
      writerOf: (view: Resource) => this.writerOf(view),
      toolsOf: (view: Resource) => this.toolsOf(view),
      tools: { connections, dialect, lookups },
    };
    return new BatchWriter(parts).write(plan);
  }

  private pagesOf(resource: Resource): PageReader {
    const prepared = this.of(resource);
    return (prepared.pages ??= new PageReader(prepared.reader, {
      tables: this.tables,
      dialect: this.dialect,
      connections: this.connections,
    }));
  }

  private of(resource: Resource): Prepared {
    return this.prepared.get(resource) ?? this.prepareView(resource);
  }
}

function writerOf(
  resource: Resource,
  tools: WriterTools,
  validates: (target: unknown) => boolean,
): RowWriter {
  const { metadata, dataSource } = tools.tables.of(resource);
  if (metadata.isJunction) return new JunctionWriter(resource, tools);
  const general = new EntityWriter(resource, tools);
  const rules = directWriterRules(resource, metadata, { dataSource, dialect: tools.dialect });
  return rules
    ? new DirectWriter(resource, tools, { general, rules, validates: validates(metadata.target) })
    : general;
}
