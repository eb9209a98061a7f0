import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DataSource } from 'typeorm';

/** How many lists and rows of one application were read and written on a fast path, each compared with the general path. */
export interface Compared {
  /** Pages of whole lists. */
  readonly pages: number;
  readonly rows: number;
  /** Pages that clients ask for. */
  readonly askedPages: number;
  readonly created: number;
  /** Rows that a statement which wrote them has returned. */
  readonly changed: number;
}

/** What the comparison of one application has done and found. */
export class Comparison implements Compared {
  pages = 0;
  rows = 0;
  askedPages = 0;
  created = 0;
  changed = 0;
  private readonly found: string[] = [];

  /** Every difference, whether or not a test has looked at the answer that failed of it. */
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

/** Undefined where the data source belongs to an application that does not compare. */
export function comparisonOf(dataSource: DataSource): Comparison | undefined {
  return BY_DATA_SOURCE.get(dataSource);
}

/** Compares what is read and written over all data sources of the application from now on. Other applications of the process are not affected. */
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
