import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import { InvalidInput, NotFound, PermissionDenied, RestrictedDeletion } from '../../../errors/request-errors.js';
import { isRestError } from '../../../errors/rest-error.js';
import type { FieldErrors, Json } from '../../../errors/rest-error.js';
import { allOf, equals } from '../../../model/condition.js';
import type { Condition } from '../../../model/condition.js';
import type { CreatePlan, DeletePlan, UpdatePlan } from '../../../model/plan.js';
import type { Resource } from '../../../model/resource.js';
import type { Row } from '../../../model/serializer.js';
import { applyValues, identityOf, setColumns, whereIdentity } from './entity-values.js';
import { findReferrer } from './find-referrer.js';
import { findIdentity } from './find-identity.js';
import { refusedWrite } from './refusals.js';
import type { RowWriter, WriterTools } from './row-writer.js';

/**
 * Writes rows of an entity through TypeORM, so that its listeners, subscribers, defaults and cascades do their work.
 * Each write is one transaction; the answer is read back inside it.
 */
export class EntityWriter implements RowWriter {
  private readonly metadata: EntityMetadata;

  constructor(
    private readonly resource: Resource,
    private readonly tools: WriterTools,
  ) {
    this.metadata = tools.tables.of(resource).metadata;
  }

  async create(plan: CreatePlan): Promise<Row> {
    const { referenced, errors } = await this.tools.lookups.lookUp(plan.keys);
    const entity = this.metadata.create() as ObjectLiteral;
    applyValues(entity, this.resource, this.metadata, { values: plan.values, referenced });
    setColumns(entity, this.metadata, plan.fixed);
    await this.refuseInvalid(entity, [plan.errors, errors]);
    return this.writing(plan.keys, plan.fixed, () =>
      this.tools.connections.transact(async (runner) => {
        await this.insert(entity, runner);
        const row = await this.readBack(identityOf(entity, this.resource, this.metadata), plan.where, runner);
        if (!row) throw new PermissionDenied();
        return row;
      }),
    );
  }

  async update(plan: UpdatePlan): Promise<Row | undefined> {
    return this.writing(plan.keys, [], () =>
      this.tools.connections.transact(async (runner) => {
        const key = await findIdentity(this.resource, plan.where, { runner, tools: this.tools });
        if (!key) return undefined;
        const entity = await this.load(key, runner);
        if (!entity) return undefined;
        const { referenced, errors } = await this.tools.lookups.lookUp(plan.keys, runner);
        applyValues(entity, this.resource, this.metadata, { values: plan.values, referenced });
        await this.refuseInvalid(entity, [plan.errors, errors]);
        if (plan.values.size > 0) await this.store(entity, key, runner);
        const row = await this.readBack(identityOf(entity, this.resource, this.metadata), plan.after, runner);
        if (!row) throw new PermissionDenied();
        return row;
      }),
    );
  }

  async delete(plan: DeletePlan): Promise<boolean> {
    try {
      return await this.tools.connections.transact(async (runner) => {
        const key = await findIdentity(this.resource, plan.where, { runner, tools: this.tools });
        const entity = key ? await this.load(key, runner) : undefined;
        if (!entity) return false;
        if (this.metadata.deleteDateColumn) await runner.manager.softRemove(this.metadata.target, entity);
        else await runner.manager.remove(this.metadata.target, entity);
        return true;
      });
    } catch (error) {
      if (isRestError(error) || this.tools.dialect.refusal(error)?.kind !== 'foreign-key') throw error;
      throw new RestrictedDeletion(await findReferrer(this.resource, plan.where, this.tools));
    }
  }

  /** With the keys of its forward relations, as validators and listeners expect them. */
  private async load(identity: readonly Json[], runner: QueryRunner): Promise<ObjectLiteral | null> {
    const forward = this.metadata.relations.filter((relation) => relation.isWithJoinColumn && !relation.isLazy);
    return runner.manager.findOne<ObjectLiteral>(this.metadata.target, {
      where: whereIdentity(identity, this.resource, this.metadata),
      loadEagerRelations: false,
      loadRelationIds: { relations: forward.map((relation) => relation.propertyPath), disableMixedMap: true },
    });
  }

  /** A pair whose side changes is another row: the old one goes, and the new one is inserted (contract 2). */
  private async store(entity: ObjectLiteral, identity: readonly Json[], runner: QueryRunner): Promise<void> {
    const same = identityOf(entity, this.resource, this.metadata).every((value, index) => value === identity[index]);
    if (same) {
      await runner.manager.save(this.metadata.target, entity, { reload: false });
      return;
    }
    const before = await this.load(identity, runner);
    if (before) await runner.manager.remove(this.metadata.target, before);
    await this.insert(entity, runner);
  }

  /** An INSERT and never a save: `save` would overwrite a row that has the key already. */
  private async insert(entity: ObjectLiteral, runner: QueryRunner): Promise<void> {
    await runner.manager.createQueryBuilder().insert().into(this.metadata.target).values(entity).execute();
  }

  private async readBack(identity: readonly Json[], condition: Condition, runner: QueryRunner): Promise<Row | undefined> {
    const named = this.resource.identity.map((column, index) => equals(column, identity[index] ?? null));
    return this.tools.reader.retrieve(allOf([...named, condition]), runner);
  }

  /** All errors together: of the body, of its keys, and of the application's validators. */
  private async refuseInvalid(entity: ObjectLiteral, found: readonly FieldErrors[]): Promise<void> {
    const errors: FieldErrors = Object.assign(Object.create(null) as FieldErrors, ...found) as FieldErrors;
    const own = await this.tools.validate?.(entity, this.resource);
    for (const [field, messages] of Object.entries(own ?? {})) errors[field] ??= messages;
    if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
  }

  private async writing<Result>(keys: CreatePlan['keys'], fixed: CreatePlan['fixed'], write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      if (isRestError(error)) throw error;
      const refusal = this.tools.dialect.refusal(error);
      if (!refusal) throw error;
      if (refusal.kind !== 'foreign-key') throw refusedWrite(refusal, this.resource, this.metadata) ?? error;
      // A related row went away between the look and the write.
      const { errors } = await this.tools.lookups.lookUp(keys);
      if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
      // Nothing is wrong with the body: what the URL names has gone.
      throw fixed.length > 0 ? new NotFound() : InvalidInput.ofNoField('A related object does not exist.');
    }
  }
}
