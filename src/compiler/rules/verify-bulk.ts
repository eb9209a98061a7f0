import { MANY_TO_MANY_DETAIL_ACTION } from '../../decorators/action.decorator.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import { BULK_OPERATIONS, bulkParameters } from '../../core/contracts/bulk.js';
import type { EntityDescription } from '../../core/schema/entity-metadata.js';
import { MOST_BULK_OBJECTS } from '../../core/schema/limits.js';
import type { Resource } from '../../core/schema/resource.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { optionLocations } from './option-locations.js';
import { deduplicateProblems } from './deduplicate-problems.js';

/** Verifies the options of bulk writes, and that they bypass nothing that applies to the write of one object. */
export function verifyBulk(input: CompilerInput, model: CompiledModel): readonly DeclarationProblem[] {
  const given = optionLocations(input).flatMap(({ where, options: { bulk } }) =>
    bulkOptionProblems(`${where}.bulk`, bulk),
  );
  const misread = new Set(given.map(({ where }) => where.split('.bulk')[0]));
  const entities = new Map(input.description.entities.map((entity) => [entity.id, entity]));
  return deduplicateProblems([
    ...given,
    ...model.all.flatMap((resource) =>
      resource.bulk && !misread.has(resource.label)
        ? [
            ...operationProblems(resource, input),
            ...nestedProblems(resource, input, model),
            ...upsertProblems(resource, entities.get(resource.entity)),
            ...bulkParameterProblems(resource),
          ]
        : [],
    ),
  ]);
}

const BULK_REPAIR =
  "Write true, false or { operations: ['create', 'partialUpdate', 'destroy'], upsert: ['code'], max: 100 }, with any of the three.";

function bulkOptionProblems(where: string, given: unknown): readonly DeclarationProblem[] {
  if (given === undefined || typeof given === 'boolean') return [];
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return [{ where, what: 'this does not configure bulk writes', repair: BULK_REPAIR }];
  const { operations, upsert, max, ...rest } = given as Readonly<Record<string, unknown>>;
  return [
    ...Object.keys(rest).map((name) => ({
      where: `${where}.${name}`,
      what: `"${name}" is not an option of bulk writes`,
      repair: BULK_REPAIR,
    })),
    ...(operations === undefined ? [] : listProblems(`${where}.operations`, operations, BULK_OPERATIONS)),
    ...(upsert === undefined ? [] : listProblems(`${where}.upsert`, upsert, undefined)),
    ...maxProblems(`${where}.max`, max),
  ];
}

function maxProblems(where: string, max: unknown): readonly DeclarationProblem[] {
  const isValid = Number.isSafeInteger(max) && Number(max) > 0 && Number(max) <= MOST_BULK_OBJECTS;
  if (max === undefined || isValid) return [];
  return [
    {
      where,
      what: `${String(max)} is not a valid maximum of objects for one request`,
      repair: `Give a whole number from 1 to ${MOST_BULK_OBJECTS}.`,
    },
  ];
}

function listProblems(
  where: string,
  given: unknown,
  known: readonly string[] | undefined,
): readonly DeclarationProblem[] {
  if (!Array.isArray(given) || given.length === 0)
    return [{ where, what: 'this is not a list of names', repair: BULK_REPAIR }];
  return given.flatMap((name: unknown, index): readonly DeclarationProblem[] => {
    if (typeof name !== 'string')
      return [{ where: `${where}[${index}]`, what: 'this is not a name', repair: BULK_REPAIR }];
    return known && !known.includes(name)
      ? [
          {
            where: `${where}[${index}]`,
            what: `"${name}" is not an operation that can be done to many objects`,
            repair: didYouMean(name, known),
          },
        ]
      : [];
  });
}

/** Operations that write in the same way as an upsert. */
const CHANGES = ['update', 'partialUpdate'] as const;

/** Rejects bulk writes with interceptors or overrides of single writes, which would not apply to them. */
function operationProblems(resource: Resource, input: CompilerInput): readonly DeclarationProblem[] {
  const names = [...(resource.bulk?.operations ?? [])];
  const where = `${resource.label}.bulk`;
  const missing = {
    where,
    what: 'the model has none of these operations',
    repair: 'Add them to its operations, or leave bulk out.',
  };
  return [
    ...(names.length === 0 ? [missing] : []),
    ...controllerProblems(resource, input),
    ...preconditionProblems(resource),
    ...(upserts(resource) && !CHANGES.some((operation) => resource.operations.has(operation))
      ? [
          {
            where: `${where}.upsert`,
            what: 'the model does not serve changes',
            repair: "Add 'update' to its operations, or leave upsert out.",
          },
        ]
      : []),
  ];
}

function upserts({ bulk }: Pick<Resource, 'bulk'>): boolean {
  return bulk !== undefined && bulk.upsert.length > 0;
}

/** Bulk writes that would bypass the overrides and interceptors of a controller class. */
function controllerProblems(
  resource: Resource,
  { controllers, drafts }: CompilerInput,
): readonly DeclarationProblem[] {
  const where = `${resource.label}.bulk`;
  const target = drafts.find((draft) => draft.entity.id === resource.entity)?.declaration.target;
  return controllers
    .filter(({ declaration }) => declaration.entity === target)
    .flatMap(({ declaration: { name, replaced }, wraps }) => {
      const overridden = [...(resource.bulk?.operations ?? [])].filter((operation) =>
        replaced.some((each) => each === operation),
      );
      const changes = upserts(resource) ? CHANGES.filter((operation) => replaced.includes(operation)) : [];
      return [
        ...overridden.map((operation) => ({
          where,
          what: `bulk writes would bypass ${name}.${operation}`,
          repair: `Leave '${operation}' out: bulk: { operations: [${others(operation)}] }; or put what the method does into beforeWrite and afterWrite, which are called for each object.`,
        })),
        ...changes.map((operation) => ({
          where: `${where}.upsert`,
          what: `upserts would bypass ${name}.${operation}`,
          repair:
            'Leave upsert out; or put what the method does into beforeWrite and afterWrite, which are called for each object.',
        })),
        ...(wraps
          ? [
              {
                where,
                what: `bulk writes would bypass the interceptors of ${name}`,
                repair: 'Give them as interceptors of @Restify, or leave bulk out.',
              },
            ]
          : []),
      ];
    });
}

/** Changes that require a precondition, which a bulk write cannot have. */
function preconditionProblems(resource: Resource): readonly DeclarationProblem[] {
  const { label, bulk, conditional } = resource;
  if (conditional?.require !== true) return [];
  const changes = [...(bulk?.operations ?? [])].some((operation) => operation !== 'create');
  return [
    ...(changes
      ? [
          {
            where: `${label}.bulk`,
            what: 'the model requires If-Match, which a change of many objects cannot send',
            repair: "Leave 'partialUpdate' and 'destroy' out: bulk: { operations: ['create'] }.",
          },
        ]
      : []),
    ...(upserts(resource)
      ? [
          {
            where: `${label}.bulk.upsert`,
            what: 'the model requires If-Match, which an upsert cannot send',
            repair: 'Leave upsert out.',
          },
        ]
      : []),
  ];
}

/** Rejects bulk writes that would bypass an action on the through object. */
function nestedProblems(
  { label, bulk }: Resource,
  { controllers, drafts }: CompilerInput,
  { all }: CompiledModel,
): readonly DeclarationProblem[] {
  return controllers.flatMap(({ declaration: { name, entity, actions } }) => {
    const parent = all.find(
      (each) => each.entity === drafts.find((draft) => draft.declaration.target === entity)?.entity.id,
    );
    return actions.flatMap((action): readonly DeclarationProblem[] => {
      const relation =
        action.kind === 'nested' && action.replaces === MANY_TO_MANY_DETAIL_ACTION
          ? parent?.relations.get(action.relation)
          : undefined;
      if (relation?.kind !== 'many-to-many' || relation.through.resource.label !== label) return [];
      const methods = action.options.methods ?? [];
      const bypassed = BULK_OPERATION_METHODS.filter(
        ([operation, method]) => bulk?.operations.has(operation) === true && methods.includes(method),
      );
      return bypassed.map(([operation]) => ({
        where: `${label}.bulk`,
        what: `bulk writes would bypass ${name}.${action.method}`,
        repair: `Leave '${operation}' out: bulk: { operations: [${others(operation)}] }.`,
      }));
    });
  });
}

/** The bulk operations on existing objects, and the method of each on a single object. */
const BULK_OPERATION_METHODS = [
  ['partialUpdate', 'PATCH'],
  ['destroy', 'DELETE'],
] as const;

function others(operation: string): string {
  return BULK_OPERATIONS.filter((each) => each !== operation)
    .map((each) => `'${each}'`)
    .join(', ');
}

/** Requires a unique index: without one, concurrent upserts could insert two rows. */
function upsertProblems(
  { label, bulk, fieldsByName }: Resource,
  entity: EntityDescription | undefined,
): readonly DeclarationProblem[] {
  const names = bulk?.upsert ?? [];
  if (names.length === 0) return [];
  const where = `${label}.bulk.upsert`;
  if (bulk?.operations.has('create') !== true)
    return [
      {
        where,
        what: 'the model does not create lists of objects',
        repair: "Add 'create' to bulk.operations, or leave upsert out.",
      },
    ];
  const columns = names.map((name) => upsertColumns(name, fieldsByName));
  const wrong = names.filter((_, index) => columns[index] === undefined);
  if (wrong.length > 0)
    return wrong.map((name) => ({
      where,
      what: `"${name}" is neither a column nor a relation that bodies may write`,
      repair: didYouMean(
        name,
        [...fieldsByName.keys()].filter((each) => each !== name),
      ),
    }));
  const ids = new Set(columns.flatMap((each) => each ?? []));
  const isUnique = entity?.unique.some((set) => set.length === ids.size && set.every((id) => ids.has(id)));
  return isUnique === true
    ? []
    : [
        {
          where,
          what: `the database lets several rows have the same ${names.join(' and ')}`,
          repair: `Give the entity a unique index of just these: @Unique([${names.map((name) => `'${name}'`).join(', ')}]).`,
        },
      ];
}

function upsertColumns(name: string, fields: Resource['fieldsByName']): readonly string[] | undefined {
  const field = fields.get(name);
  if (field?.kind === 'column' && field.insertable) return [field.column.id];
  return field?.kind === 'to-one' && field.relation.byKey && field.insertable
    ? field.relation.on.map(({ near }) => near.id)
    : undefined;
}

function bulkParameterProblems(resource: Resource): readonly DeclarationProblem[] {
  const { label, backends } = resource;
  const names = bulkParameters(resource);
  const read = new Set(backends.flatMap((backend) => [...(backend.parameters?.(resource) ?? [])]));
  return [
    ...names
      .filter((name) => read.has(name))
      .map((name) => ({
        where: `${label}.bulk`,
        what: `its query parameter "${name}" is already used for something else`,
        repair: 'Give the filter another name.',
      })),
  ];
}
