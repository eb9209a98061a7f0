import type { DataSource } from 'typeorm';
import { deletionOf, toOnesOf } from '../schema.js';
import type { Model } from '../model/answers.js';
import type { StoredRows } from '../model/learning.js';
import type { Row, State } from '../model/state.js';
import { keyTextOf } from '../model/state.js';
import type { EntitySpec, Json, ToOneSpec } from '../schema.js';
import { junctionOf } from './entities.js';
import type { FuzzRequest, FuzzResponse } from './transport.js';

type Stored = Readonly<Record<string, Json>>;

/** The differences of keys, foreign keys and pairs between the database and the model. */
export async function rowDifferences(dataSource: DataSource, state: State): Promise<string[]> {
  const found: string[] = [];
  for (const entity of state.schema.entities) {
    const relations = toOnesOf(entity);
    const date = deletionOf(entity)?.name;
    const loadRelationIds = relations.length > 0 ? { disableMixedMap: true } : false;
    const stored = (await dataSource
      .getRepository(entity.name)
      .find({ loadRelationIds, withDeleted: true })) as Stored[];
    const line = (values: Stored, related: (name: string) => string): string =>
      [
        keyTextOf(entity, values),
        ...relations.map(({ name }) => related(name)),
        ...(date !== undefined && (values[date] ?? null) !== null ? ['deleted'] : []),
      ].join(' ');
    const actual = stored.map((values) =>
      line(values, (name) => {
        const target = toOnesOf(entity).find((relation) => relation.name === name)?.target ?? '';
        const key = values[name] ?? null;
        return relatedText(state.entity(target), key as Stored | null);
      }),
    );
    const expected = state
      .allRows(entity.name)
      .map(({ values }) => line(values, (name) => String(values[name] ?? null)));
    found.push(...setDifferences(entity.name, actual, expected));
  }
  for (const relation of state.plainJunctions()) {
    const name = dataSource.driver.escape(junctionOf(relation));
    const [counted] = await dataSource.query<{ count: number | string }[]>(
      `SELECT COUNT(*) AS count FROM ${name}`,
    );
    const expected = state.pairs(relation).length;
    if (Number(counted?.count) !== expected)
      found.push(`table ${name} has ${String(counted?.count)} pairs, expected ${expected}`);
  }
  return found;
}

/** The rows that a successful write may have made, whose keys and versions its response does not show. */
export async function unseenRows(
  dataSource: DataSource,
  model: Model,
  { asked, given }: { readonly asked: FuzzRequest; readonly given: FuzzResponse },
): Promise<StoredRows> {
  const found = new Map<string, Row[]>();
  if (given.status > 201) return found;
  for (const entity of model.unseenEntities(asked)) {
    const relations = toOnesOf(entity);
    const loadRelationIds = relations.length > 0 ? { disableMixedMap: true } : false;
    const rows = await dataSource.getRepository(entity.name).find({ loadRelationIds, withDeleted: true });
    const keyOf = (row: Stored, { name, target }: ToOneSpec): [string, Json] => {
      const text = relatedText(model.state.entity(target), (row[name] ?? null) as Stored | null);
      return [name, text === 'null' ? null : text];
    };
    found.set(
      entity.name,
      (rows as Stored[]).map((row) => ({
        key: keyTextOf(entity, row),
        values: { ...row, ...Object.fromEntries(relations.map((relation) => keyOf(row, relation))) },
      })),
    );
  }
  return found;
}

/** TypeORM returns an empty composite foreign key, and one of which a part is null, as an object with nulls. */
function relatedText(entity: EntitySpec, key: Stored | null): string {
  const isEmpty = key === null || entity.key.columns.some(({ name }) => (key[name] ?? null) === null);
  return isEmpty ? 'null' : keyTextOf(entity, key);
}

function setDifferences(name: string, actual: readonly string[], expected: readonly string[]): string[] {
  const [given, wanted] = [[...actual].sort(), [...expected].sort()];
  if (given.join('\n') === wanted.join('\n')) return [];
  return [`table ${name} has ${JSON.stringify(given)}, expected ${JSON.stringify(wanted)}`];
}
