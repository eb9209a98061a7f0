import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import { NotRestorable } from '../../../core/errors/http-exceptions.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import { conjunction, equals } from '../../../core/query/condition.js';
import type { RestorePlan } from '../../../core/query/plan.js';
import { fieldColumns } from '../../../core/query/readable-paths.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { Scope, selectList } from '../../../sql/query-scope.js';
import { classOf } from '../metadata/inheritance.js';
import { constraintError, violatedConstraint } from './constraint-errors.js';
import { notStored } from './dropped-rows.js';
import { whereIdentity } from './entity-values.js';
import { copyEntity, ListenerRelations, LoadedEntities } from './loaded-entities.js';
import { NO_ERRORS, notFound, prepared, runHook } from './row-writer.js';
import type { PreparableWrite, WriterTools } from './row-writer.js';
import { selectForDeletion } from './row-locks.js';
import { inOwnTransaction } from './step-writer.js';

/** A deleted row under its lock. */
interface DeletedRow {
  readonly identity: readonly Json[];
  readonly entity: ObjectLiteral;
  readonly runner: QueryRunner;
}

/** Restores soft-deleted rows, and calls the listeners and subscribers as TypeORM's `recover` does. */
export class EntityRestorer {
  private readonly metadata: EntityMetadata;
  private readonly entities: LoadedEntities;
  private readonly unique: readonly Column[];

  /** @param resource the view of the model on its deleted rows. */
  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
  ) {
    this.metadata = tools.tables.of(resource).metadata;
    this.entities = new LoadedEntities(resource, tools);
    this.unique = uniqueColumns(resource, this.metadata);
  }

  restore(plan: RestorePlan): Promise<Row | undefined> {
    return inOwnTransaction(this.prepare(plan), plan, this.tools);
  }

  private prepare(plan: RestorePlan): PreparableWrite<Row | undefined> {
    const { resource, tools, unique } = this;
    let values: ReadonlyMap<string, Json> = new Map();
    return {
      errors: NO_ERRORS,
      prepare: async (runner) => {
        const read = await selectForDeletion(
          resource,
          { columns: [...resource.identity, ...unique], where: plan.where, expected: plan.expected },
          { runner, tools },
        );
        const identity = read?.slice(0, resource.identity.length);
        const entity = identity && (await this.entities.load(identity, runner));
        if (!identity || !entity) return notFound(undefined);
        values = new Map(unique.map(({ id }, index) => [id, read?.[identity.length + index] ?? null]));
        return prepared(() => this.perform(plan, { identity, entity, runner }));
      },
      translateError: (error) => this.translate(error, plan, values),
    };
  }

  private async perform(plan: RestorePlan, { identity, entity, runner }: DeletedRow): Promise<Row> {
    const { resource, metadata, tools } = this;
    const { dialect } = tools;
    this.entities.restoreKey(entity, identity);
    await ListenerRelations.of(resource, metadata)?.load(entity, runner);
    const loaded = copyEntity(entity);
    await runHook(plan.hooks.before, entity, { runner, dialect });
    await this.assertReferences(plan, identity, runner);
    const own = tools.tables.of(resource).dataSource.getMetadata(classOf(entity, metadata));
    await runner.broadcaster.broadcast('BeforeRecover', own, entity, loaded);
    await runner.manager
      .createQueryBuilder()
      .callListeners(false)
      .restore()
      .from(metadata.target)
      .whereEntity(entity)
      .whereInIds([whereIdentity(identity, resource, metadata)])
      .execute();
    metadata.deleteDateColumn?.setEntityValue(entity, null);
    await runner.broadcaster.broadcast('AfterRecover', own, entity, loaded);
    await runHook(plan.hooks.after, entity, { runner, dialect });
    const row = await tools.readerOf(plan.shown).retrieveWithin(this.entities.conditionOf(identity), runner);
    if (!row) throw notStored();
    await runHook(plan.completed, [row], { runner, dialect });
    return row;
  }

  /** @throws NotRestorable if a row to which the deleted one refers is gone: where no foreign key keeps it, for one that is deleted is there. */
  private async assertReferences(
    { shown }: RestorePlan,
    identity: readonly Json[],
    runner: QueryRunner,
  ): Promise<void> {
    const { resource, tools } = this;
    const relations = [...resource.relations.values()].filter((relation) => relation.kind === 'to-one');
    if (relations.length === 0) return;
    const scope = Scope.begin(tools.dialect, tools.tables, resource);
    const isGone = relations.map((relation) => {
      const [referenced] = relation.on.map((pair) =>
        scope.operand({ joinPath: [{ ...relation, evenDeleted: true }], column: pair.referencedColumn }),
      );
      const set = relation.on.map(({ localColumn }) => `${scope.own(localColumn)} IS NOT NULL`);
      return `CASE WHEN ${[...set, `${referenced ?? 'NULL'} IS NULL`].join(' AND ')} THEN 1 ELSE 0 END`;
    });
    const from = scope.from();
    const where = resource.identity.map(
      (column, index) => `${scope.own(column)} = ${scope.bind(identity[index] ?? null, column.type)}`,
    );
    const [record] = await tools.connections.records(runner, {
      sql: `SELECT ${selectList(isGone)} FROM ${from} WHERE ${where.join(' AND ')}`,
      parameters: scope.parameters,
    });
    const gone = relations.find((_, index) => Number(record?.[index]) === 1);
    if (!gone) return;
    const field = shown.fields.find(
      (each) => each.kind === 'to-one' && each.readable && each.relation === gone,
    );
    throw NotRestorable.dangling(field?.name);
  }

  private async translate(
    error: unknown,
    plan: RestorePlan,
    values: ReadonlyMap<string, Json>,
  ): Promise<unknown> {
    const { tools } = this;
    const rejection = await violatedConstraint(error, plan.resource, tools);
    if (!rejection) return error;
    if (rejection.kind === 'unique')
      return NotRestorable.duplicate(await this.namesOf(rejection.columns ?? [], plan, values));
    const { triggerMessages } = tools;
    return constraintError(rejection, { resource: plan.shown, sent: new Map(), triggerMessages }) ?? error;
  }

  /** The fields of a unique set, if the caller may view them and the row that has the same values. */
  private async namesOf(
    columns: readonly string[],
    { shown, visible, requester }: RestorePlan,
    values: ReadonlyMap<string, Json>,
  ): Promise<readonly string[] | undefined> {
    const fields = columns.map((id) =>
      shown.fields.find((field) => field.readable && fieldColumns(field).includes(id)),
    );
    const names = fields.flatMap((field) => field?.name ?? []);
    if (names.length === 0 || names.length < columns.length) return undefined;
    const same = this.unique.filter(({ id }) => columns.includes(id));
    const where = conjunction([
      await visible(),
      ...same.map((column) => equals(column, values.get(column.id) ?? null)),
    ]);
    const exists = await this.tools.lookups.exists({ resource: shown, where, forWriting: true, requester });
    return exists ? [...new Set(names)] : undefined;
  }
}

/** The columns of unique constraints and indexes. */
function uniqueColumns(
  { columns }: ResourceSchema,
  { uniques, indices, relations }: EntityMetadata,
): readonly Column[] {
  const sets = [
    ...uniques.map((each) => each.columns),
    ...indices.filter(({ isUnique }) => isUnique).map((each) => each.columns),
    ...relations.filter(({ isOneToOneOwner }) => isOneToOneOwner).map(({ joinColumns }) => joinColumns),
  ];
  return [...new Set(sets.flat())].flatMap(({ databaseName }) => columns.get(databaseName) ?? []);
}
