import type { CountResult } from '../../core/contracts/pagination.js';
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
import type {
  ExistsPlan,
  ListPlan,
  PagePlan,
  ParentPlan,
  ParentValues,
  ReadPlan,
  RelatedPlan,
  RetrievePlan,
} from '../../core/query/plan.js';
import type { AggregatePlan, AggregateResult } from '../../core/query/aggregate.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { ReadChoice } from '../choose-read.js';
import type { Session } from '../port.js';
import { readAggregates } from './aggregate-reader.js';
import { JsonReader } from './json-reader.js';
import { KeyLookups } from './key-lookups.js';
import { readRelated } from './related-reader.js';
import { RowReader } from './row-reader.js';
import type { ReaderTools } from './row-reader.js';

/** The readers of a resource or of a view: of a resource created at start, of a view when it is first used. */
export interface Readers<S extends Session> {
  readonly rows: RowReader<S>;
  readonly json: JsonReader<S>;
}

/** The methods of `DataAdapter` that read, over the port of an ORM. */
export class PlanReader<S extends Session> implements Pick<
  DataAdapter,
  'prepare' | 'bypassesEntityHooks' | 'read' | 'aggregate' | 'count' | 'exists'
> {
  readonly lookups: KeyLookups<S>;
  /** By resource, and by view of a resource with the fields that a caller may read. */
  private readonly readers = new WeakMap<ResourceSchema, Readers<S>>();

  constructor(private readonly tools: ReaderTools<S>) {
    const { tables, dialect, connections } = tools;
    this.lookups = new KeyLookups(tables, dialect, connections);
  }

  prepare(resource: ResourceSchema): void {
    this.createReaders(resource);
  }

  of(resource: ResourceSchema): Readers<S> {
    return this.readers.get(resource) ?? this.createReaders(resource);
  }

  private createReaders(resource: ResourceSchema): Readers<S> {
    const rows = new RowReader(resource, this.tools);
    const readers = { rows, json: new JsonReader(rows) };
    this.readers.set(resource, readers);
    return readers;
  }

  /** How rows are read now. `isStored`: their stored values are the response. */
  choose(resource: ResourceSchema, isStored: boolean): ReadChoice {
    return this.of(resource).rows.choices.choose(isStored);
  }

  bypassesEntityHooks(resource: ResourceSchema): boolean {
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

  aggregate(plan: AggregatePlan): Promise<AggregateResult> {
    return readAggregates(plan, this.tools);
  }

  count(plan: PagePlan): Promise<CountResult> {
    return this.of(plan.resource).rows.count(plan);
  }

  exists(plan: ExistsPlan): Promise<boolean> {
    return this.lookups.exists(plan);
  }

  /** @param session that of the transaction in which the rows were read, if any. */
  related(plan: RelatedPlan, session?: S): Promise<readonly RelatedRow[]> {
    return readRelated(plan, this.of(plan.resource).rows, session);
  }
}
