import type { EntityMetadata } from 'typeorm';
import { RestrictedByReferrer } from '../../../core/errors/http-exceptions.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { DeletePlan, UpdatePlan, CreatePlan, FieldValues } from '../../../core/query/plan.js';
import { writtenColumns } from '../../../core/schema/field.js';
import type { Field } from '../../../core/schema/field.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { compileWhere } from '../../../sql/compile-where.js';
import type { DatabaseError } from '../../../sql/dialects/dialect.js';
import { Scope } from '../../../sql/query-scope.js';
import { restricts } from '../metadata/describe-relations.js';
import { entityIdOf } from '../table-metadata.js';
import { forbiddenDeletion, violatedConstraint } from './constraint-errors.js';
import type { WriterTools } from './row-writer.js';

type ForeignKey = EntityMetadata['foreignKeys'][number];
type Rejection = Extract<DatabaseError, { kind: 'foreign-key' }>;

/** A foreign key to a table, as far as the database says so: TypeORM may not have made it. */
interface Restricting {
  readonly table: unknown;
  /** The column to which it refers, if known. */
  readonly column: unknown;
}

/** The error of a deletion: 409 if a foreign key restricts it, 400 or 403 if another rule of the database does, else the same error. */
export async function deletionError(error: unknown, plan: DeletePlan, tools: WriterTools): Promise<unknown> {
  const rejection = await violatedConstraint(error, plan.resource, tools);
  if (!rejection) return error;
  return (
    (await restrictionError(plan, rejection, tools)) ??
    forbiddenDeletion(rejection, tools.triggerMessages) ??
    error
  );
}

/** The 409 of a deletion or a change that foreign keys of other rows restrict; undefined if the error is another one. */
export async function restrictionError(
  plan: DeletePlan | UpdatePlan,
  rejection: DatabaseError,
  tools: WriterTools,
): Promise<RestrictedByReferrer | undefined> {
  if (rejection.kind !== 'foreign-key' || rejection.isDangling === true) return undefined;
  if (plan.kind === 'update') return referredUpdateError(plan, rejection, tools);
  const restricting = await restrictingKeys(plan, rejection, tools);
  return new RestrictedByReferrer('deleted', await findReferrer(plan, restricting, tools));
}

/** Undefined if the foreign key may be one of the row itself: SQLite does not say whose it is. */
async function referredUpdateError(
  plan: UpdatePlan,
  rejection: Rejection,
  tools: WriterTools,
): Promise<RestrictedByReferrer | undefined> {
  const { tableName } = tools.tables.of(plan.resource).metadata;
  const isOfOthers = rejection.table !== undefined && rejection.table !== tableName;
  if (!isOfOthers && uncheckedKey(plan, plan.resource)) return undefined;
  const changed = changedColumns(plan);
  const restricting = (await restrictingKeys(plan, rejection, tools)).filter(
    ({ column }) => column === undefined || column === null || changed.has(column),
  );
  const referrer = await findReferrer(plan, restricting, tools);
  const isReferred = isOfOthers || referrer !== undefined || (rejection.table ?? restricting.length) !== 0;
  return isReferred ? new RestrictedByReferrer('changed', referrer) : undefined;
}

/** The columns that an update writes. */
function changedColumns({ resource, values }: UpdatePlan): ReadonlySet<unknown> {
  const fields = [...values.keys()].flatMap((name) => resource.fieldsByName.get(name) ?? []);
  return new Set(fields.flatMap(writtenColumns));
}

/**
 * The model that still refers to a row whose deletion or change the database has rejected, as `<app>.<model>`, or the
 * table's entity if it is not served. Queried after the rejection, for every restricting foreign key to this table. A model
 * that the caller may not view, or that is served by a many-to-many alone, is never named.
 */
async function findReferrer(
  plan: DeletePlan | UpdatePlan,
  restricting: readonly Restricting[],
  tools: WriterTools,
): Promise<string | undefined> {
  const { metadata: target, dataSource } = tools.tables.of(plan.resource);
  const named = new Set(restricting.map(({ table }) => table));
  const changed = plan.kind === 'update' ? changedColumns(plan) : undefined;
  for (const metadata of dataSource.entityMetadatas) {
    for (const key of metadata.foreignKeys) {
      // Compared by table: TypeORM keeps the foreign keys to and of a child entity with its base entity.
      if (key.referencedEntityMetadata.tablePath !== target.tablePath) continue;
      if (changed && !key.referencedColumns.some(({ databaseName }) => changed.has(databaseName))) continue;
      if (!restricts(key, plan.kind) && !named.has(metadata.tableName)) continue;
      if (!(await hasReferrer(plan, { metadata, key }, tools))) continue;
      const onTable = [...tools.resources].filter(
        (each) => tools.tables.of(each).metadata.tablePath === metadata.tablePath,
      );
      if (onTable.length === 0) return metadata.targetName === '' ? undefined : metadata.targetName;
      const served = servedAs(metadata, onTable, tools);
      if (served && (await plan.mayView(served))) return served.id;
    }
  }
  return undefined;
}

/** Whether another row refers to the row. */
async function hasReferrer(
  { resource, where }: DeletePlan | UpdatePlan,
  { metadata, key }: { metadata: EntityMetadata; key: ForeignKey },
  tools: WriterTools,
): Promise<boolean> {
  const scope = Scope.begin(tools.dialect, tools.tables, resource);
  const { dataSource } = tools.tables.of(resource);
  const quote = (name: string): string => dataSource.driver.escape(name);
  const referring = tools.tables.named(entityIdOf(metadata, dataSource));
  const conditions = key.columns.map(
    (column, index) =>
      `r.${quote(column.databaseName)} = ${scope.alias}.${quote(key.referencedColumns[index]?.databaseName ?? '')}`,
  );
  if (referring.path === scope.table.path) {
    const own = resource.identity.map((each) => scope.table.name(each));
    conditions.push(`(${own.map((name) => `r.${name} <> ${scope.alias}.${name}`).join(' OR ')})`);
  }
  const condition = compileWhere(where, scope);
  const sql = `SELECT 1 AS c0 FROM ${scope.from()} WHERE ${condition} AND EXISTS (SELECT 1 FROM ${referring.path} r WHERE ${conditions.join(' AND ')})`;
  const found = await tools.connections.read({ sql, parameters: scope.parameters }, 'primary');
  return found.length > 0;
}

async function restrictingKeys(
  { kind, resource }: DeletePlan | UpdatePlan,
  { table }: Rejection,
  { dialect, connections, tables }: WriterTools,
): Promise<readonly Restricting[]> {
  if (table !== undefined || !dialect.restrictingTables) return [{ table, column: undefined }];
  const { tableName } = tables.of(resource).metadata;
  const records = await connections.read(dialect.restrictingTables(tableName, kind), 'primary');
  return records.map(([name, column]) => ({ table: name, column }));
}

/** The entity's own resource, or that of another entity in the same table; of a join table without an entity, its pairs. */
function servedAs(
  metadata: EntityMetadata,
  onTable: readonly ResourceSchema[],
  { tables }: WriterTools,
): ResourceSchema | undefined {
  const served = onTable.filter(({ registered }) => registered);
  return (
    served.find((each) => tables.of(each).metadata === metadata) ??
    served[0] ??
    onTable.find((each) => tables.of(each).metadata.isJunction)
  );
}

/** A foreign key of a body that was not looked up, because its model is not served. */
interface UncheckedKey {
  readonly path: readonly string[];
  readonly value: Json;
}

/**
 * The only unchecked key that a foreign key violation can refer to; undefined if it may be another one, or a value of
 * the application.
 */
export function uncheckedKey(
  plan: CreatePlan | UpdatePlan,
  { relations, fields }: ResourceSchema,
): UncheckedKey | undefined {
  const added = plan.kind === 'create' && plan.added.length > 0;
  if (added || plan.hooks.before || plan.hooks.after) return undefined;
  const columns = new Set(
    [...relations.values()].flatMap((relation) =>
      relation.kind === 'to-one' && !relation.target.registered
        ? relation.on.map(({ localColumn }) => localColumn.id)
        : [],
    ),
  );
  const [found, ...more] = valuesOf(plan.values, fields, columns);
  return more.length === 0 ? found : undefined;
}

function valuesOf(
  values: FieldValues,
  fields: readonly Field[],
  columns: ReadonlySet<string>,
): readonly UncheckedKey[] {
  return fields.flatMap((field): readonly UncheckedKey[] => {
    const value = values.get(field.name);
    if (value === null || value === undefined) return [];
    if (field.kind === 'embedded')
      return valuesOf(new Map(Object.entries(value)), field.fields, columns).map((inner) => ({
        ...inner,
        path: [field.name, ...inner.path],
      }));
    return field.kind === 'column' && columns.has(field.column.id)
      ? [{ path: [field.name], value: value as Json }]
      : [];
  });
}
