import { moreMember } from '../../core/contracts/field-selection.js';
import { InvalidInput, InvalidSearchPattern } from '../../core/errors/http-exceptions.js';
import type { ExpandedFields } from '../../core/contracts/renderer.js';
import type { Condition } from '../../core/query/condition.js';
import type { RelatedPlan } from '../../core/query/plan.js';
import { keyNames } from '../../core/query/readable-paths.js';
import type { ColumnPair } from '../../core/schema/relation.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { OrderTerm } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import type { FieldSelection } from '../../core/contracts/field-selection.js';
import { SlicedWork } from '../../core/event-loop.js';
import { keyText } from '../../core/values/keys.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { namedWithin } from './expansion-parameters.js';

/** A relation that is expanded in responses, with the rows that the caller may see. */
export interface Expansion {
  readonly field: string;
  /** True for a list of objects, false for one. */
  readonly many: boolean;
  /** localColumn: columns of the row; referencedColumn: columns of the related row. */
  readonly on: readonly ColumnPair[];
  readonly where: Condition;
  readonly order: readonly OrderTerm[];
  /** After so many objects the list is cut; undefined if a longer one remains a link. */
  readonly limit?: number | undefined;
  /** The names that lead to it from the model of the response: `question.choices`. */
  readonly path: string;
  /** The objects of the related model. */
  readonly nested: ShapedObject;
}

/** The expanded objects of one relation: what is read and represented of each, and which relations are expanded in it. */
export interface ShapedObject {
  /** The model as the caller may read it, with the selected fields. */
  readonly resource: Resource;
  readonly expansions: readonly Expansion[];
  /** Represents an object, with `row.expanded` in place of keys and links. */
  represent(row: Row): Representation;
}

/** The fields of the objects that replace keys. */
export function expandedFields({ expansions }: ShapedObject): ReadonlyMap<string, ExpandedFields> {
  return new Map(
    expansions
      .filter(({ many, nested }) => !many && nested.resource.hasDefaultSerializer)
      .map(({ field, nested }) => {
        const { fields } = nested.resource;
        const [key, ...others] = keyNames(nested.resource);
        return [
          field,
          {
            fields: fields.filter(({ readable }) => readable).map(({ name }) => name),
            key: others.length === 0 ? key : undefined,
            expanded: expandedFields(nested),
          },
        ];
      }),
  );
}

/** A row with its expanded objects, and their number as written to the response. */
interface ExpandedRow {
  readonly row: Row;
  readonly size: number;
}

interface ExpandedObject {
  readonly body: Representation;
  readonly size: number;
}

/**
 * Reads expanded objects: one statement for each relation and page of rows, however many rows there are. One instance
 * serves one response, and counts its objects as written.
 */
export class Expander {
  private remainingObjects: number;
  private readonly work = new SlicedWork();

  constructor(
    private readonly adapter: DataAdapter,
    private readonly rules: Pick<FieldSelection, 'maxChildren' | 'maxObjects' | 'expandParameter'>,
    private readonly readOptions: Pick<RelatedPlan, 'forWriting' | 'requester'>,
  ) {
    this.remainingObjects = rules.maxObjects;
  }

  /**
   * Throws 400 if the response would contain too many objects.
   * @param transaction the one that has just written the rows, which may be repeated.
   */
  async expand(rows: readonly Row[], shape: ShapedObject, transaction?: object): Promise<readonly Row[]> {
    if (transaction) this.remainingObjects = this.rules.maxObjects;
    const expanded = await this.expandRows(rows, shape, transaction);
    this.remainingObjects -= this.assertLimit(countObjects(expanded));
    return expanded.map(({ row }) => row);
  }

  private async expandRows(
    rows: readonly Row[],
    shape: ShapedObject,
    transaction: object | undefined,
  ): Promise<readonly ExpandedRow[]> {
    if (rows.length === 0) return [];
    const related = new Map<string, ExpandedByParent>();
    for (const expansion of shape.expansions)
      related.set(
        expansion.field,
        await this.readRelated(rows, { parent: shape.resource, transaction }, expansion),
      );
    return rows.map((row) => this.expandRow(row, shape.expansions, related));
  }

  private expandRow(
    row: Row,
    expansions: readonly Expansion[],
    related: ReadonlyMap<string, ExpandedByParent>,
  ): ExpandedRow {
    if (expansions.length === 0) return { row, size: 1 };
    const expanded = new Map<string, unknown>();
    let size = 1;
    for (const { field, many } of expansions) {
      const { objects, more } = related.get(field)?.get(identityText(row)) ?? NO_OBJECTS;
      // Too many, or none that the caller may see: the link or the key remains.
      if (!objects || (!many && objects.length === 0)) continue;
      expanded.set(field, many ? objects.map(({ body }) => body) : objects[0]?.body);
      if (more) expanded.set(moreMember(field), true);
      size = this.assertLimit(size + countObjects(objects));
    }
    return { row: { ...row, expanded }, size };
  }

  /** The related objects of these rows by identity, each with its own expanded objects. */
  private async readRelated(
    rows: readonly Row[],
    { parent, transaction }: { readonly parent: Resource; readonly transaction: object | undefined },
    { many, on, where, order, limit, path, nested }: Expansion,
  ): Promise<ExpandedByParent> {
    if (this.work.isLong) await this.work.pause();
    const identities = [...new Map(rows.map((row) => [identityText(row), row.identity ?? row.key])).values()];
    const most = many ? (limit ?? this.rules.maxChildren) + 1 : undefined;
    const related = await this.adapter
      .related({
        kind: 'related',
        resource: nested.resource,
        where,
        order,
        parent,
        on,
        identities,
        most,
        limit: this.remainingObjects + 1,
        ...this.readOptions,
        transaction,
      })
      .catch((error: unknown) => {
        throw namedSearchError(error, path, nested.resource);
      });
    this.assertLimit(related.length);
    const lists = new Map<string, Row[]>();
    for (const { identity, row } of related) {
      const text = keyText(identity);
      const known = lists.get(text);
      if (known) known.push(row);
      else lists.set(text, [row]);
    }
    const shown = [...lists].map(([text, found]) => {
      const kept = found.slice(0, many ? limit : 1);
      const isTooLong = many && kept.length > this.rules.maxChildren;
      return { text, kept: isTooLong ? undefined : kept, more: many && kept.length < found.length };
    });
    // An object related to several rows is read, expanded and serialized once.
    const distinct = [...new Set(shown.flatMap(({ kept = [] }) => kept))];
    const expanded = await this.expandRows(distinct, nested, transaction);
    const objects = new Map(
      distinct.map((each, index) => {
        const { row, size } = expanded[index] ?? { row: each, size: 1 };
        return [each, { body: nested.represent(row), size }];
      }),
    );
    return new Map(
      shown.map(({ text, kept, more }) => [
        text,
        { objects: kept?.flatMap((row) => objects.get(row) ?? []), more },
      ]),
    );
  }

  /** Throws 400 if the response would contain too many objects. */
  private assertLimit(objects: number): number {
    if (objects > this.remainingObjects)
      throw InvalidInput.of(
        this.rules.expandParameter ?? 'expand',
        `The answer would hold more than ${this.rules.maxObjects} objects. Expand less, or ask for less of the list.`,
      );
    return objects;
  }
}

/** The objects of a row, undefined if there are too many, and whether others are left out. */
interface ExpandedList {
  readonly objects: readonly ExpandedObject[] | undefined;
  readonly more: boolean;
}

const NO_OBJECTS: ExpandedList = { objects: [], more: false };

type ExpandedByParent = ReadonlyMap<string, ExpandedList>;

/** The error of a search term that the database rejects, under the name that the search has in the request. */
function namedSearchError(error: unknown, path: string, resource: Resource): unknown {
  return error instanceof InvalidSearchPattern
    ? namedWithin(path, new InvalidSearchPattern(parameterName('search', resource)))
    : error;
}

function identityText({ identity, key }: Row): string {
  return keyText(identity ?? key);
}

function countObjects(objects: readonly { readonly size: number }[]): number {
  return objects.reduce((total, { size }) => total + size, 0);
}
