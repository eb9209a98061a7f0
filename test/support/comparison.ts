import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DataSource } from 'typeorm';

/** Counters of the fast-path reads and writes of one application that were compared with the general path. */
export interface Compared {
  /** Pages of whole lists. */
  readonly pages: number;
  readonly rows: number;
  /** Pages requested by clients. */
  readonly askedPages: number;
  readonly created: number;
  /** Rows returned by the statement that wrote them. */
  readonly changed: number;
  /** Rows changed by one statement that were compared with an update by TypeORM. */
  readonly compared: number;
}

/** The counters and differences of the comparison of one application. */
export class Comparison implements Compared {
  pages = 0;
  rows = 0;
  askedPages = 0;
  created = 0;
  changed = 0;
  compared = 0;
  /** Rows written by the statements that load and write entities. */
  loaded = 0;
  /** Updates that were begun by either path. */
  updates = 0;
  private readonly found: string[] = [];

  /** All differences, including those of responses that a test ignored. */
  get differences(): readonly string[] {
    return this.found;
  }

  /** Fails the request, and `close()` of the application. */
  report(difference: string): never {
    this.found.push(difference);
    throw new Error(difference);
  }
}

const BY_DATA_SOURCE = new WeakMap<DataSource, Comparison>();

/** Undefined if the data source belongs to an application without comparison. */
export function comparisonOf(dataSource: DataSource): Comparison | undefined {
  return BY_DATA_SOURCE.get(dataSource);
}

/** Enables the comparison for all data sources of the application. Other applications in the process are not affected. */
export function compareIn(app: INestApplication): Comparison {
  return compareOver(dataSourcesOf(app));
}

/** The same for data sources without an application. */
export function compareOver(dataSources: readonly DataSource[]): Comparison {
  const comparison = new Comparison();
  for (const dataSource of dataSources) BY_DATA_SOURCE.set(dataSource, comparison);
  return comparison;
}

function dataSourcesOf(app: INestApplication): readonly DataSource[] {
  const modules = app.get(ModulesContainer, { strict: false });
  return [...modules.values()].flatMap(({ providers }) =>
    [...providers.values()]
      .map(({ instance }): unknown => instance)
      .filter((each) => each instanceof DataSource),
  );
}
