import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import { allOf, equals } from '../../../model/condition.js';
import type { Json } from '../../../errors/rest-error.js';
import type { Resource } from '../../../model/resource.js';
import { compileCondition } from '../sql/compile-condition.js';
import { Scope } from '../sql/scope.js';
import { setColumns } from './entity-values.js';
import type { WriterTools } from './row-writer.js';

/**
 * Puts the keys of forward relations in embedded objects on a loaded entity. TypeORM 0.3 fails where such an object has
 * no value but its relations, so that it is not there yet; here it is made.
 */
export async function loadEmbeddedKeys(entity: ObjectLiteral, identity: readonly Json[], { resource, metadata, tools, runner }: { resource: Resource; metadata: EntityMetadata; tools: WriterTools; runner: QueryRunner }): Promise<void> {
  const relations = metadata.relations.filter((relation) => relation.isWithJoinColumn && !relation.isLazy && relation.embeddedMetadata);
  const columns = relations.flatMap(({ joinColumns }) => joinColumns.flatMap(({ databaseName }) => resource.columns.get(databaseName) ?? []));
  if (columns.length === 0) return;
  const scope = Scope.begin(tools.dialect, tools.tables, resource);
  const list = columns.map((column, index) => `${tools.dialect.read(scope.own(column), column.type)} AS c${index}`).join(', ');
  const named = compileCondition(allOf(resource.identity.map((column, index) => equals(column, identity[index] ?? null))), scope);
  const [record] = (await runner.query(`SELECT ${list} FROM ${scope.from()} WHERE ${named}`, [...scope.parameters])) as readonly Record<string, unknown>[];
  if (!record) return;
  const values = columns.map((column, index) => ({ column, value: decoded(record[`c${index}`], (raw) => tools.dialect.decode(raw, column.type)) }));
  setColumns(entity, metadata, values);
}

/** TypeORM 0.3 cannot `save` an entity with an embedded object that has forward relations and no column of its own. */
export function savesEmbedded({ embeddeds }: Pick<EntityMetadata, 'embeddeds'>): boolean {
  return embeddeds.every((embedded) => savesEmbedded(embedded) && (embedded.columns.some((column) => !column.isVirtual) || !embedded.relations.some((relation) => relation.isWithJoinColumn)));
}

function decoded(raw: unknown, decode: (raw: unknown) => Json): Json {
  return raw === null || raw === undefined ? null : decode(raw);
}
