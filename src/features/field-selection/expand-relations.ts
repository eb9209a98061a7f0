import { InvalidInput } from '../../core/errors/http-exceptions.js';
import type { Condition } from '../../core/query/condition.js';
import type { RelatedPlan } from '../../core/query/plan.js';
import type { ColumnPair } from '../../core/schema/relation.js';
import type { OrderTerm, Resource } from '../../core/schema/resource.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import type { FieldSelection } from '../../core/contracts/field-selection.js';
import { SlicedWork } from '../../core/event-loop.js';
import { keyText } from '../../core/values/keys.js';
import type { DataAdapter } from '../../core/data-adapter.js';

/** One relation that stands in answers as objects, and which of them this caller may see. */
export interface Expansion {
  readonly field: string;
  /** All that belong to a row, or the one. */
  readonly many: boolean;
  /** near: columns of the row; far: columns of what belongs to it. */
  readonly on: readonly ColumnPair[];
  readonly where: Condition;
  readonly order: readonly OrderTerm[];
  readonly behind: ShapedObject;
}

/** Objects of one kind in an answer: what is read and shown of each, and what is expanded in it. */
export interface ShapedObject {
  /** As this caller sees it, with the fields that are wanted. */
  readonly resource: Resource;
  readonly expansions: readonly Expansion[];
  /** The object, with `row.expanded` in the places of keys and links. */
  represent(row: Row): Representation;
}

/** A row with what belongs to it, and how many objects that is as it will be written. */
interface Grown {
  readonly row: Row;
  readonly size: number;
}

interface Written {
  readonly body: Representation;
  readonly size: number;
}

/**
 * Reads what an answer expands: for each page of rows one statement a relation, however many rows there are. Made for one
 * answer, whose objects it counts as they will be written.
 */
export class Expander {
  private left: number;
  private readonly work = new SlicedWork();

  constructor(
    private readonly adapter: DataAdapter,
    private readonly rules: Pick<FieldSelection, 'maxChildren' | 'maxObjects' | 'expandParameter'>,
    private readonly asked: Pick<RelatedPlan, 'forWriting' | 'requester'>,
  ) {
    this.left = rules.maxObjects;
  }

  /** Throws 400 where the answer comes to hold too many objects. */
  async expanded(rows: readonly Row[], shown: ShapedObject): Promise<readonly Row[]> {
    const grown = await this.grown(rows, shown);
    this.left -= this.bounded(sum(grown));
    return grown.map(({ row }) => row);
  }

  private async grown(rows: readonly Row[], shown: ShapedObject): Promise<readonly Grown[]> {
    if (rows.length === 0) return [];
    const found = new Map<string, Found>();
    for (const expansion of shown.expansions)
      found.set(expansion.field, await this.found(rows, shown.resource, expansion));
    return rows.map((row) => this.grownRow(row, shown.expansions, found));
  }

  private grownRow(row: Row, expansions: readonly Expansion[], found: ReadonlyMap<string, Found>): Grown {
    if (expansions.length === 0) return { row, size: 1 };
    const expanded = new Map<string, unknown>();
    let size = 1;
    for (const { field, many } of expansions) {
      const objects = found.get(field)?.get(identityText(row)) ?? [];
      // More than may stand here, or none that the caller may see: the link and the key stay.
      if (many ? objects.length > this.rules.maxChildren : objects.length === 0) continue;
      expanded.set(field, many ? objects.map(({ body }) => body) : objects[0]?.body);
      size = this.bounded(size + sum(many ? objects : objects.slice(0, 1)));
    }
    return { row: { ...row, expanded }, size };
  }

  /** What belongs to these rows, by their identities, each object with what is expanded in it. */
  private async found(
    rows: readonly Row[],
    parent: Resource,
    { many, on, where, order, behind }: Expansion,
  ): Promise<Found> {
    if (this.work.isLong) await this.work.pause();
    const identities = [...new Map(rows.map((row) => [identityText(row), row.identity ?? row.key])).values()];
    const most = many ? this.rules.maxChildren + 1 : undefined;
    const related = await this.adapter.related({
      kind: 'related',
      resource: behind.resource,
      where,
      order,
      parent,
      on,
      identities,
      most,
      limit: this.left + 1,
      ...this.asked,
    });
    this.bounded(related.length);
    // One that belongs to several rows is read, expanded and written once.
    const each = [...new Set(related.map(({ row }) => row))];
    const grown = await this.grown(each, behind);
    const written = new Map(
      each.map((row, index) => [row, writtenOf(grown[index] ?? { row, size: 1 }, behind)]),
    );
    const found = new Map<string, Written[]>();
    for (const { identity, row } of related) {
      const object = written.get(row);
      if (!object) continue;
      const text = keyText(identity);
      const known = found.get(text);
      if (known) known.push(object);
      else found.set(text, [object]);
    }
    return found;
  }

  private bounded(objects: number): number {
    if (objects > this.left)
      throw InvalidInput.of(
        this.rules.expandParameter ?? 'expand',
        `The answer would hold more than ${this.rules.maxObjects} objects. Expand less, or ask for less of the list.`,
      );
    return objects;
  }
}

type Found = ReadonlyMap<string, readonly Written[]>;

function writtenOf({ row, size }: Grown, shown: ShapedObject): Written {
  return { body: shown.represent(row), size };
}

function identityText({ identity, key }: Row): string {
  return keyText(identity ?? key);
}

function sum(objects: readonly { readonly size: number }[]): number {
  return objects.reduce((total, { size }) => total + size, 0);
}
