import { BULK_OPERATIONS } from '../../core/contracts/bulk.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import type { Resource } from '../../core/schema/resource.js';
import { MANY_TO_MANY_DETAIL_ACTION } from '../../decorators/action.decorator.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { bulk as bulkKind } from './option-values.js';
import { problem } from './problems.js';
import type { Problems } from './problems.js';
import { optionLocations } from './verify-options.js';

/** Operations that write in the same way as an upsert. */
const CHANGES = ['update', 'partialUpdate'] as const;

/** The bulk operations on existing objects, and the method of each on a single object. */
const METHODS = [
  ['partialUpdate', 'PATCH'],
  ['destroy', 'DELETE'],
] as const;

const HOOKS = 'put what the method does into beforeWrite and afterWrite, which are called for each object.';

/** Verifies that bulk writes bypass nothing that applies to the write of one object. */
export function* verifyBulk(input: CompilerInput, model: CompiledModel): Problems {
  const misread = new Set(
    optionLocations(input)
      .filter(({ options: { bulk } }) => bulk !== undefined && [...bulkKind(bulk)].length > 0)
      .map(({ where }) => where),
  );
  for (const resource of model.all) {
    if (!resource.bulk || misread.has(resource.className)) continue;
    yield* operationProblems(resource, input);
    yield* preconditionProblems(resource);
    yield* nestedProblems(resource, input, model);
    yield* upsertProblems(resource, input);
  }
}

/** Rejects bulk writes with interceptors or overrides of single writes, which would not apply to them. */
function* operationProblems(resource: Resource, { controllers, declarations }: CompilerInput): Problems {
  const { className } = resource;
  const where = `${className}.bulk`;
  const bulk = [...(resource.bulk?.operations ?? [])];
  if (bulk.length === 0)
    yield problem(
      where,
      'the model has none of these operations',
      'Add them to its operations, or leave bulk out.',
    );
  const target = declarations.find((draft) => draft.entity.id === resource.entity)?.declaration.target;
  for (const { declaration, wraps } of controllers) {
    const { name, replaced, entity } = declaration;
    if (entity !== target) continue;
    for (const operation of bulk)
      if (replaced.includes(operation))
        yield problem(
          where,
          `bulk writes would bypass ${name}.${operation}`,
          `${leaveOut(operation)}; or ${HOOKS}`,
        );
    for (const operation of CHANGES)
      if (upserts(resource) && replaced.includes(operation))
        yield problem(
          `${where}.upsert`,
          `upserts would bypass ${name}.${operation}`,
          `Leave upsert out; or ${HOOKS}`,
        );
    if (wraps)
      yield problem(
        where,
        `bulk writes would bypass the interceptors of ${name}`,
        'Give them as interceptors of @Restify, or leave bulk out.',
      );
  }
}

/** Rejects changes that require a precondition, which a bulk write cannot have, and upserts of a model without changes. */
function* preconditionProblems(resource: Resource): Problems {
  const { className, bulk, conditional, operations } = resource;
  const where = `${className}.bulk`;
  const changes = [...(bulk?.operations ?? [])].some((operation) => operation !== 'create');
  if (conditional?.require === true && changes)
    yield problem(
      where,
      'the model requires If-Match, which a change of many objects cannot send',
      "Leave 'partialUpdate' and 'destroy' out: bulk: { operations: ['create'] }.",
    );
  if (conditional?.require === true && upserts(resource))
    yield problem(
      `${where}.upsert`,
      'the model requires If-Match, which an upsert cannot send',
      'Leave upsert out.',
    );
  if (upserts(resource) && !CHANGES.some((operation) => operations.has(operation)))
    yield problem(
      `${where}.upsert`,
      'the model does not serve changes',
      "Add 'update' to its operations, or leave upsert out.",
    );
}

function upserts({ bulk }: Resource): boolean {
  return bulk !== undefined && bulk.upsert.length > 0;
}

function leaveOut(operation: string): string {
  const others = BULK_OPERATIONS.filter((each) => each !== operation).map((each) => `'${each}'`);
  return `Leave '${operation}' out: bulk: { operations: [${others.join(', ')}] }`;
}

/** Rejects bulk writes that would bypass an action on the through object. */
function* nestedProblems(
  { className, bulk }: Resource,
  { controllers, declarations }: CompilerInput,
  { all }: CompiledModel,
): Problems {
  for (const { declaration } of controllers) {
    const { name, entity, actions } = declaration;
    const draft = declarations.find((each) => each.declaration.target === entity);
    const parent = all.find((each) => each.entity === draft?.entity.id);
    for (const action of actions) {
      if (action.kind !== 'nested' || action.replaces !== MANY_TO_MANY_DETAIL_ACTION) continue;
      const relation = parent?.relations.get(action.relation);
      if (relation?.kind !== 'many-to-many' || relation.through.resource.className !== className) continue;
      const bypassed = METHODS.filter(
        ([operation, method]) =>
          bulk?.operations.has(operation) === true && action.options.methods?.includes(method) === true,
      );
      for (const [operation] of bypassed)
        yield problem(
          `${className}.bulk`,
          `bulk writes would bypass ${name}.${action.method}`,
          `${leaveOut(operation)}.`,
        );
    }
  }
}

/** Requires a unique index: without one, concurrent upserts could insert two rows. */
function* upsertProblems(resource: Resource, { description }: CompilerInput): Problems {
  const { className, bulk, fieldsByName, entity } = resource;
  if (!bulk || !upserts(resource)) return;
  const where = `${className}.bulk.upsert`;
  if (!bulk.operations.has('create')) {
    yield problem(
      where,
      'the model does not create lists of objects',
      "Add 'create' to bulk.operations, or leave upsert out.",
    );
    return;
  }
  const columns = bulk.upsert.map((name) => upsertColumns(name, fieldsByName));
  for (const [index, name] of bulk.upsert.entries())
    if (!columns[index])
      yield problem(
        where,
        `"${name}" is neither a column nor a relation that bodies may write`,
        didYouMean(
          name,
          [...fieldsByName.keys()].filter((each) => each !== name),
        ),
      );
  const ids = new Set(columns.flatMap((each) => each ?? []));
  const unique = description.entities.find(({ id }) => id === entity)?.unique ?? [];
  const isUnique = unique.some((set) => set.length === ids.size && set.every((id) => ids.has(id)));
  if (!isUnique && columns.every((each) => each !== undefined))
    yield problem(
      where,
      `the database lets several rows have the same ${bulk.upsert.join(' and ')}`,
      `Give the entity a unique index of just these: @Unique([${bulk.upsert.map((name) => `'${name}'`).join(', ')}]).`,
    );
}

function upsertColumns(name: string, fields: Resource['fieldsByName']): readonly string[] | undefined {
  const field = fields.get(name);
  if (field?.kind === 'column' && field.insertable) return [field.column.id];
  return field?.kind === 'to-one' && field.relation.byKey && field.insertable
    ? field.relation.on.map(({ localColumn }) => localColumn.id)
    : undefined;
}
