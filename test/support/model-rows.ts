import { isRestException } from '../../src/core/errors/rest-exception.js';
import type { Json } from '../../src/core/errors/rest-exception.js';
import { ALWAYS } from '../../src/core/query/condition.js';
import type { Condition } from '../../src/core/query/condition.js';
import type { FilterResult } from '../../src/core/contracts/filters.js';
import type { CursorPosition } from '../../src/core/contracts/pagination.js';
import type { CreatePlan, ListPlan, UpdatePlan } from '../../src/core/query/plan.js';
import type { Resource } from '../../src/core/schema/resource.js';
import type { ParsedBody, Row } from '../../src/core/contracts/serializer.js';
import type { DataAdapter, JsonOutput, PageOf } from '../../src/core/data-adapter.js';
import { planPage } from '../../src/features/pagination/paginate.stage.js';
import { planList } from '../../src/features/filtering/plan-rows.stage.js';
import { keyCondition } from '../../src/request/plan/row-conditions.js';

/** A row as JSON. */
export type Shown = Readonly<Record<string, unknown>>;

const BASE_PATH = '/rest/v1/app/model';

/** Reads and writes the rows of one resource with plans of the adapter, including body parsing, filters and serialization. */
export class ModelRows {
  readonly output: JsonOutput;

  constructor(
    private readonly adapter: DataAdapter,
    private readonly resource: Resource,
    /** Lists and pages hold the rows that match. */
    private readonly within: Condition = ALWAYS,
  ) {
    const { serializer } = resource;
    this.output = {
      view: resource,
      basePath: BASE_PATH,
      isDefault: true,
      represent: (row) => serializer.represent(row, { resource, basePath: BASE_PATH, actor: null }),
    };
  }

  async create(body: Shown): Promise<Shown> {
    return this.shown(await this.adapter.write(this.creation(body)));
  }

  /** In one transaction. */
  async createAll(bodies: readonly Shown[]): Promise<readonly Shown[]> {
    const steps = bodies.map((body) => this.creation(body));
    const rows = await this.adapter.writeAll({ kind: 'batch', steps, skipsMissing: false });
    return rows.map((row) => this.shown(row));
  }

  /** `update` replaces the whole object; otherwise only the fields of the body are written. */
  async change(
    key: readonly Json[],
    body: Shown,
    operation: 'update' | 'partialUpdate' = 'partialUpdate',
  ): Promise<Shown> {
    const row = await this.adapter.write(this.alteration(key, body, operation));
    if (!row) throw new Error(`No row ${JSON.stringify(key)}`);
    return this.shown(row);
  }

  /** In one transaction. */
  async changeAll(
    changes: readonly (readonly [key: readonly Json[], body: Shown])[],
    operation: 'update' | 'partialUpdate' = 'partialUpdate',
  ): Promise<readonly Shown[]> {
    const steps = changes.map(([key, body]) => this.alteration(key, body, operation));
    const rows = await this.adapter.writeAll({ kind: 'batch', steps, skipsMissing: false });
    return rows.map((row) => this.shown(row));
  }

  async retrieve(key: readonly Json[]): Promise<Shown | undefined> {
    const { adapter, resource } = this;
    const where = keyCondition(key, resource);
    const row = await adapter.read({ kind: 'retrieve', resource, where }, this.output);
    return row && (JSON.parse(row.text) as Shown);
  }

  async delete(key: readonly Json[]): Promise<boolean> {
    const { adapter, resource } = this;
    const where = keyCondition(key, resource);
    return adapter.write({
      kind: 'delete',
      resource,
      where,
      mayView: () => Promise.resolve(true),
      hooks: {},
    });
  }

  /** All rows, serialized by the database if it supports them. */
  async list(parameters: Readonly<Record<string, string>> = {}): Promise<readonly Shown[]> {
    const all: Shown[] = [];
    for await (const rows of this.pages(parameters)) all.push(...rows);
    return all;
  }

  /** The same, each page once the one before has been used. */
  async *pages(parameters: Readonly<Record<string, string>>): AsyncGenerator<readonly Shown[]> {
    const pages = await this.adapter.read(await this.plan(parameters), this.output);
    for await (const text of typeof pages === 'string' ? [pages] : pages)
      yield JSON.parse(`[${text}]`) as readonly Shown[];
  }

  /** One page, and the cursor values of its first and last row. */
  async page(
    parameters: Readonly<Record<string, string>>,
    { limit, from }: { readonly limit: number; readonly from?: CursorPosition | undefined },
  ): Promise<PageOf<readonly Shown[]>> {
    const list = await this.plan(parameters);
    const plan = planPage(
      list,
      { window: { kind: 'cursor', limit, position: from } },
      { open: true, defaultSize: limit },
    );
    const page = await this.adapter.read(plan, this.output);
    return { ...page, rows: JSON.parse(`[${page.rows}]`) as readonly Shown[] };
  }

  private async plan(parameters: Readonly<Record<string, string>>): Promise<ListPlan> {
    const { resource } = this;
    const given = new Map(Object.entries(parameters));
    const results: FilterResult[] = [];
    for (const backend of resource.backends)
      results.push(
        await backend.filter({
          resource,
          parameters: given,
          values: (name) => [given.get(name) ?? []].flat(),
          actor: null,
        }),
      );
    return planList(resource, { within: this.within, results, requester: undefined, parent: undefined });
  }

  private creation(body: Shown): CreatePlan {
    const { resource } = this;
    return {
      kind: 'create',
      resource,
      ...this.parsed('create', body),
      keys: [],
      hiddenKeys: [],
      fixed: [],
      added: [],
      where: ALWAYS,
      hooks: {},
    };
  }

  private alteration(key: readonly Json[], body: Shown, operation: 'update' | 'partialUpdate'): UpdatePlan {
    const { resource } = this;
    return {
      kind: 'update',
      resource,
      where: keyCondition(key, resource),
      after: ALWAYS,
      ...this.parsed(operation, body),
      keys: [],
      hiddenKeys: [],
      given: new Set(),
      fixed: [],
      mayView: () => Promise.resolve(true),
      hooks: {},
    };
  }

  private parsed(operation: 'create' | 'update' | 'partialUpdate', body: Shown): ParsedBody {
    const { resource } = this;
    // As transferred over HTTP: only JSON values.
    const given = JSON.parse(JSON.stringify(body)) as Shown;
    return resource.serializer.parse(given, { resource, operation, actor: null, given: new Set() });
  }

  private shown(row: Row): Shown {
    return JSON.parse(JSON.stringify(this.output.represent(row))) as Shown;
  }
}

/** The status and body of the error response; the argument if it is not an error. */
export async function refusalOf(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return { answered: await run() };
  } catch (error) {
    if (!isRestException(error)) throw error;
    // Compared in serialized form, without a prototype.
    return [error.response.status, JSON.parse(JSON.stringify(error.response.body))];
  }
}
