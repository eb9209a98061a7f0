import type { Representation, Row } from '../core/contracts/serializer.js';
import type { JsonOutput } from '../core/data-adapter.js';
import { eachInSlices } from '../core/event-loop.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { CompletedRows } from '../core/query/plan.js';
import { chooseForm } from '../execution/choose-read.js';
import type { RestContext } from './rest-context.js';

/**
 * The representations of rows that a request writes. Where code of the application makes them, or other rows are part of
 * them, they are made inside of the transaction, so that an error undoes the write, unless the model responds after it.
 */
export class WrittenRows {
  /** To be run as the last step of the transaction; undefined if the representations cannot fail. */
  readonly completed: CompletedRows | undefined;
  private represented: readonly Representation[] | undefined;

  /** @param changed the view in which the caller reads rows that an upsert has changed. */
  constructor(
    private readonly context: RestContext,
    private readonly changed = context,
  ) {
    if (!mayFail(context) && !mayFail(changed)) return;
    this.completed = async (rows, transaction) => {
      this.represented = await this.representNow(rows, transaction);
      // Values of the application may have no JSON.
      JSON.stringify(this.represented);
    };
  }

  /** In the order of the rows. Those of an earlier request are represented now. */
  represent(rows: readonly Row[]): MaybePromise<readonly Representation[]> {
    return this.represented ?? this.representNow(rows);
  }

  /** Expanded objects are read once for the rows of each view. */
  private async representNow(rows: readonly Row[], transaction?: object): Promise<readonly Representation[]> {
    const represented = new Map<Row, Representation>();
    const viewOf = (row: Row): RestContext => (row.changed === true ? this.changed : this.context);
    for (const context of new Set(rows.map(viewOf))) {
      const ofView = rows.filter((row) => viewOf(row) === context);
      const expanded = context.fieldSelection
        ? await context.fieldSelection.expanded(ofView, transaction)
        : ofView;
      await eachInSlices(ofView.entries(), ([index, row]) => {
        represented.set(row, represent(expanded[index] ?? row, context));
      });
    }
    return rows.map((row) => represented.get(row) ?? {});
  }
}

/**
 * Whether code of the application, or what is read of other rows, may keep a row from being represented, and then undoes
 * its write.
 */
export function mayFail(context: Pick<RestContext, 'resource' | 'fieldSelection'>): boolean {
  const { fields, respondsAfterCommit } = context.resource;
  const form = chooseForm(context);
  if (form === 'expanded' || respondsAfterCommit) return form === 'expanded';
  return form === 'serialized' || fields.some(({ kind, readable }) => kind === 'computed' && readable);
}

/** The representation of a row; of a replayed row, the stored one. */
export function represent(row: Row, context: RestContext): Representation {
  const { resource, actor, fieldSelection } = context;
  if (fieldSelection) return fieldSelection.represent(row);
  return (
    row.answered ?? resource.serializer.represent(row, { resource, actor, basePath: basePathOf(context) })
  );
}

/** The representation of a row with its expanded objects. */
export function representExpanded(row: Row, context: RestContext): MaybePromise<Representation> {
  return context.fieldSelection
    ? mapMaybe(context.fieldSelection.expanded([row]), ([expanded = row]) => represent(expanded, context))
    : represent(row, context);
}

/** The JSON of a response: written by the database where possible. */
export function jsonOutput(context: RestContext): JsonOutput {
  return {
    view: context.resource,
    basePath: basePathOf(context),
    isDefault: chooseForm(context) === 'stored',
    represent: (row) => represent(row, context),
  };
}

/** The path prefix of the links in a row. */
export function basePathOf({ base, resource }: Pick<RestContext, 'base' | 'resource'>): string {
  return `${base}/${resource.app}/${resource.model}`;
}
