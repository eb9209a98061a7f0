import type { EntitySpec, Json, ManySpec, SchemaSpec, ToOneSpec } from '../schema.js';
import { deletionOf, entityNamed, toOnesOf } from '../schema.js';

/** A row: the text of its key, and the canonical value of each column; for a to-one relation, the text of the related key or null. */
export interface Row {
  readonly key: string;
  readonly values: Readonly<Record<string, Json>>;
}

export interface Pair {
  readonly owner: string;
  readonly other: string;
}

/** The expected rows of the schema of one client. */
export class State {
  private readonly tables = new Map<string, Map<string, Row>>();
  private readonly junctions = new Map<string, Pair[]>();
  /** The highest key that each table has generated. */
  readonly latest = new Map<string, number>();
  private deletions = 0;

  constructor(
    readonly schema: SchemaSpec,
    readonly database: string,
  ) {
    for (const entity of schema.entities) this.tables.set(entity.name, new Map());
  }

  entity(name: string): EntitySpec {
    return entityNamed(this.schema, name);
  }

  private table(name: string): Map<string, Row> {
    const table = this.tables.get(name);
    if (!table) throw new Error(`No table ${name}`);
    return table;
  }

  /** The rows that are not deleted. */
  rows(name: string): Row[] {
    return this.allRows(name).filter((row) => !this.isDeleted(name, row));
  }

  row(name: string, key: string): Row | undefined {
    const row = this.anyRow(name, key);
    return row && this.isDeleted(name, row) ? undefined : row;
  }

  /** With those that are softly deleted. */
  allRows(name: string): Row[] {
    return [...this.table(name).values()];
  }

  anyRow(name: string, key: string): Row | undefined {
    return this.table(name).get(key);
  }

  isDeleted(name: string, row: Row): boolean {
    const column = deletionOf(this.entity(name));
    return column !== undefined && (row.values[column.name] ?? null) !== null;
  }

  /** A new date of a deletion, by its number: when it was is not predictable. */
  nextDeletion(): string {
    return `@${++this.deletions}`;
  }

  put(name: string, row: Row): void {
    this.table(name).set(row.key, row);
  }

  remove(name: string, key: string): void {
    this.table(name).delete(key);
  }

  pairs(relation: ManySpec): Pair[] {
    const name = `${relation.owner}.${relation.ownerRelation}`;
    let pairs = this.junctions.get(name);
    if (!pairs) {
      pairs = [];
      this.junctions.set(name, pairs);
    }
    return pairs;
  }

  setPairs(relation: ManySpec, pairs: readonly Pair[]): void {
    this.junctions.set(`${relation.owner}.${relation.ownerRelation}`, [...pairs]);
  }

  /** A copy of the state, to restore it. */
  snapshot(): () => void {
    const tables = new Map([...this.tables].map(([name, rows]) => [name, new Map(rows)]));
    const junctions = new Map([...this.junctions].map(([name, pairs]) => [name, [...pairs]]));
    return () => {
      for (const [name, rows] of tables) this.tables.set(name, rows);
      this.junctions.clear();
      for (const [name, pairs] of junctions) this.junctions.set(name, pairs);
    };
  }

  /** The junctions without an entity, by their owning relation. */
  plainJunctions(): ManySpec[] {
    return this.schema.entities.flatMap((entity) =>
      entity.relations.filter(
        (relation): relation is ManySpec =>
          relation.kind === 'many-to-many' &&
          relation.owner === entity.name &&
          relation.ownerRelation === relation.name &&
          !relation.through,
      ),
    );
  }

  /** The to-one relations to an entity, with the entities that have them. */
  referrers(name: string): { readonly entity: EntitySpec; readonly relation: ToOneSpec }[] {
    return this.schema.entities.flatMap((entity) =>
      toOnesOf(entity)
        .filter((relation) => relation.target === name)
        .map((relation) => ({ entity, relation })),
    );
  }
}

/** The text of a key: the value of a single column, or the percent-encoded values of a composite key, comma-separated. */
export function keyTextOf(entity: EntitySpec, values: Readonly<Record<string, Json>>): string {
  const texts = entity.key.columns.map((column) => String(values[column.name]));
  return texts.length === 1 ? (texts[0] ?? '') : texts.map((text) => encodeURIComponent(text)).join(',');
}

/** A key in the format of bodies. */
export function keyJson(entity: EntitySpec, key: string | null): Json {
  if (key === null) return null;
  const [column, ...others] = entity.key.columns;
  return others.length === 0 && column?.kind === 'int' ? Number(key) : key;
}

/** A key in the format of URLs. */
export function keyInUrl(entity: EntitySpec, key: string): string {
  return entity.key.columns.length === 1 ? encodeURIComponent(key) : key;
}

/** The canonical key of a URL segment; undefined if it is invalid. */
export function keyOfSegment(entity: EntitySpec, segment: string): string | undefined {
  const parts = entity.key.columns.length === 1 ? [segment] : segment.split(',');
  if (parts.length !== entity.key.columns.length) return undefined;
  try {
    const texts = parts.map((part, index) =>
      canonicalKeyPart(decodeURIComponent(part), entity.key.columns[index]?.kind === 'uuid'),
    );
    return texts.length === 1 ? texts[0] : texts.map((text) => encodeURIComponent(text)).join(',');
  } catch {
    return undefined;
  }
}

function canonicalKeyPart(text: string, isUuid: boolean): string {
  if (!isUuid) return text;
  const hex = text.toLowerCase().replaceAll('-', '');
  return /^[0-9a-f]{32}$/.test(hex)
    ? hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    : text;
}

/** A row of an entity. */
export interface Placed {
  readonly entity: EntitySpec;
  readonly row: Row;
}

/** The related rows of a to-many relation; for a many-to-many relation, those of the other side. */
export function relatedRows(state: State, { entity, row }: Placed, name: string): Row[] {
  const relation = entity.relations.find((each) => each.name === name);
  if (!relation) throw new Error(`${entity.name} has no relation ${name}`);
  switch (relation.kind) {
    case 'to-one': {
      const key = row.values[name];
      const found = typeof key === 'string' ? state.row(relation.target, key) : undefined;
      return found ? [found] : [];
    }
    case 'reverse-one':
    case 'to-many':
      return state.rows(relation.target).filter((each) => each.values[relation.forward] === row.key);
    case 'many-to-many':
      return throughKeys(state, relation, { name: entity.name, key: row.key }).flatMap((key) => {
        const found = state.row(relation.target, key);
        return found ? [found] : [];
      });
    default:
      return relation satisfies never;
  }
}

/** The keys of the other side, one for each through object. */
function throughKeys(
  state: State,
  relation: ManySpec,
  side: { readonly name: string; readonly key: string },
): string[] {
  const ownsIt = isOwningSide(relation, side.name);
  const { through } = relation;
  if (!through) {
    return state
      .pairs(relation)
      .filter((pair) => (ownsIt ? pair.owner : pair.other) === side.key)
      .map((pair) => (ownsIt ? pair.other : pair.owner));
  }
  const [mine, theirs] = ownsIt ? [through.near, through.far] : [through.far, through.near];
  return state
    .rows(through.entity)
    .filter((row) => row.values[mine] === side.key)
    .map((row) => String(row.values[theirs]));
}

/** Whether a relation is the owning side, which has the join table. */
export function isOwningSide(relation: ManySpec, entity: string): boolean {
  return relation.owner === entity && relation.name === relation.ownerRelation;
}
