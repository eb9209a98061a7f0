import { aggregateNames, AGGREGATE_PARAMETERS } from '../../core/contracts/aggregates.js';
import { COUNT, MEASURE_KINDS } from '../../core/query/aggregate.js';
import type { MeasureKind } from '../../core/query/aggregate.js';
import type { DataKind } from '../../core/schema/data-type.js';
import { LABELS_MEMBER } from '../../core/schema/object-label.js';
import { isReadableFrom } from '../../core/schema/reachable-models.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import { namesIn } from '../compile-aggregates.js';
import { resolveReadablePath } from '../compile-queries.js';
import type { ResolvedPath } from '../compile-queries.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { featureParameters } from '../query-parameters.js';
import { problem } from './problems.js';
import type { Flaw, Problems } from './problems.js';
import { unknownPath } from './verify-queries.js';

/** Verifies that aggregates are of stored values, and that their names have no other meaning. */
export function* verifyAggregates(input: CompilerInput, { all, resources }: CompiledModel): Problems {
  for (const draft of input.declarations) {
    const resource = resources.find(({ entity }) => entity === draft.entity.id);
    if (!resource?.aggregates) continue;
    yield* listProblems(draft, resource, input);
    yield* pathProblems(draft, { resource, input });
  }
  for (const resource of all) yield* nameProblems(resource);
}

function* listProblems(
  { declaration }: EntityDeclaration,
  { operations }: Resource,
  { controllers }: CompilerInput,
): Problems {
  const where = `${declaration.name}.aggregate`;
  if (!operations.has('list'))
    yield problem(
      where,
      'the model has no list, at whose URL aggregates are read',
      "Add 'list' to its operations, or leave aggregate out.",
    );
  for (const each of controllers)
    if (each.declaration.entity === declaration.target && each.declaration.replaced.includes('list'))
      yield problem(
        where,
        `${each.declaration.name}.list replaces the list, whose rows aggregates would not have`,
        'Say which rows the list has by scope, or leave aggregate out.',
      );
}

interface Place {
  readonly resource: Resource;
  readonly input: CompilerInput;
}

function* pathProblems(draft: EntityDeclaration, place: Place): Problems {
  const { name, options } = draft.declaration;
  const { resource } = place;
  const named = (['group', ...MEASURE_KINDS] as const).flatMap((option) =>
    namesIn(options.aggregate?.[option]).map((path, index) => ({ option, path, index })),
  );
  for (const { option, path, index } of named) {
    const where = `${name}.aggregate.${option}[${index}]`;
    const resolved = resolveReadablePath(path, resource);
    if (!resolved) {
      yield unknownPath(path, { where, draft, resource });
      continue;
    }
    const flaw =
      changedValues(resolved, place) ??
      (option === 'group' ? unfitGroup(path, resolved) : unfitMeasure(option, path, resolved));
    if (flaw) yield { where, ...flaw };
  }
}

const TAKEN: readonly string[] = [COUNT, ...MEASURE_KINDS, LABELS_MEMBER];
const UNFIT_GROUPS: ReadonlySet<DataKind> = new Set(['binary', 'interval', 'json', 'list', 'set']);
const NUMBERS: ReadonlySet<DataKind> = new Set(['integer', 'bigint', 'decimal', 'float']);
const ORDERED: ReadonlySet<DataKind> = new Set([...NUMBERS, 'string', 'date', 'time', 'datetime']);

function unfitGroup(path: string, { operands }: ResolvedPath): Flaw | undefined {
  const unfit = operands.find(({ column }) => UNFIT_GROUPS.has(column.type.kind));
  if (unfit)
    return {
      what: `rows cannot be grouped by values of the kind ${unfit.column.type.kind}`,
      repair: 'Group by a number, a text, a date, a boolean or a relation.',
    };
  return TAKEN.includes(path)
    ? {
        what: `"${path}" is a member of each group that has another meaning`,
        repair: 'Give the property another name, or leave it out.',
      }
    : undefined;
}

function unfitMeasure(
  kind: MeasureKind,
  path: string,
  { leaf, row, operands: [operand] }: ResolvedPath,
): Flaw | undefined {
  const isAdded = kind === 'sum' || kind === 'avg';
  const repair = `Name ${isAdded ? 'a number' : 'a number, a text, a date or a time'} of the model itself.`;
  if (leaf !== 'column' || row.length > 0 || !operand)
    return { what: `"${path}" is not a column of the model itself`, repair };
  const { kind: type } = operand.column.type;
  return (isAdded ? NUMBERS : ORDERED).has(type)
    ? undefined
    : { what: `${isAdded ? 'a sum' : 'the least or greatest'} of the kind ${type} is not defined`, repair };
}

/** Aggregates are of what is stored: where responses show something else, they would disclose it. */
function changedValues({ operands, row }: ResolvedPath, { resource, input }: Place): Flaw | undefined {
  const repair = 'Leave it out: aggregates are computed by the database.';
  if (operands.some(({ column }) => column.transform))
    return { what: 'a transformer changes its values', repair };
  const unread = row.find(({ target }) => !isReadableFrom(resourceOf(target), resource))?.target;
  if (unread)
    return {
      what: `${unread.className} has no operation that reads it, or guards that do not run for ${resource.className}`,
      repair: 'Leave it out, or serve the related model in the same way.',
    };
  for (const model of [resource, ...row.map(({ target }) => target)]) {
    if (!resourceOf(model).hasDefaultSerializer)
      return { what: `the serializer of ${model.className} changes what is shown of its values`, repair };
    const listener = loadListenerOf(model, input);
    if (listener !== undefined)
      return { what: `${listener} changes the values of ${model.className} once they are loaded`, repair };
  }
  return undefined;
}

function loadListenerOf({ entity }: ResourceSchema, { description }: CompilerInput): string | undefined {
  return description.entities.find(({ id }) => id === entity)?.loadListener;
}

/** Rejects a field or another parameter with the name of a parameter of aggregates. */
function* nameProblems(resource: Resource): Problems {
  const { className, fieldsByName, filterTerms, renamed } = resource;
  if (!resource.aggregates) return;
  const others = new Set([
    ...filterTerms.keys(),
    ...featureParameters({ ...resource, aggregates: undefined }),
  ]);
  const names = aggregateNames(resource);
  for (const parameter of AGGREGATE_PARAMETERS) {
    const name = names[parameter];
    // A new name is verified with the option that gives it.
    if (renamed.has(parameter) || !(fieldsByName.has(name) || others.has(name))) continue;
    yield problem(
      `${className}.aggregate`,
      `"${name}" is a query parameter of aggregates, and ${fieldsByName.has(name) ? 'a field' : 'another parameter'} of ${className}`,
      `Give the parameter another name: parameters: { ${parameter}: '…' }.`,
    );
  }
  const ordering = parameterName('ordering', resource);
  if (filterTerms.has(ordering))
    yield problem(
      `${className}.aggregate`,
      `"${ordering}" orders the groups of aggregates, and filters a field of ${className}`,
      'Leave the field out of filterFields, or leave aggregate out.',
    );
}
