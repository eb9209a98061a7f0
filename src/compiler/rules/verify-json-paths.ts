import { didYouMean } from '../../core/errors/declaration-error.js';
import type { Lookup } from '../../core/query/lookups.js';
import type { Column } from '../../core/schema/column.js';
import type { ModelDescription } from '../../core/schema/entity-metadata.js';
import { isPathKey, JSON_TYPES } from '../../core/schema/json-value.js';
import type { Resource } from '../../core/schema/resource.js';
import type { RestifyOptions } from '../../decorators/model-options.js';
import { resolveDeclaredPath } from '../compile-queries.js';
import { declaredFilters, parameterNames } from '../declared-filters.js';
import type { FilterPath } from '../compile-queries.js';
import type { Flaw } from './problems.js';

/** A model, and the options whose paths are verified. */
interface Declaring {
  readonly resource: Resource;
  readonly options: RestifyOptions;
  readonly description: ModelDescription;
}

/** What is wrong with a path of `filterFields` as a value in JSON, or with what is declared of it; undefined if nothing is. */
export function jsonPathFlaw(path: string, { resource, options, description }: Declaring): Flaw | undefined {
  const declared = declaredFilters(options).get(path);
  const resolved = resolveDeclaredPath(path, resource, options);
  const column = resolved?.operands[0]?.column;
  if (!declared || !resolved || !column) return undefined;
  if (!column.json)
    return declared.type === undefined && declared.column === undefined
      ? undefined
      : {
          what: `"${path}" is no path into a column of JSON, which type and column are for`,
          repair: `Write its lookups alone: '${path}': ['exact'].`,
        };
  return (
    documentFlaw(column.json.source) ??
    keyFlaw(column.json.keys) ??
    typeFlaw(declared.type) ??
    generatedFlaw(declared.column, { resolved, resource, description, type: declared.type }) ??
    nameFlaw(path, options)
  );
}

function documentFlaw({ path, type, transform }: Column): Flaw | undefined {
  if (type.kind !== 'json')
    return {
      what: `"${path}" is a column of the type ${type.kind}, which has no values by key`,
      repair: 'Name the column alone, or a path into a column of JSON.',
    };
  if (transform !== undefined)
    return {
      what: `a transformer converts the values of "${path}", and the database knows only the stored ones`,
      repair: 'Leave the path out, or store the value in a column of its own.',
    };
  return type.unsearchable === true
    ? {
        what: `PostgreSQL stores "${path}" as a text, and fails for some texts when it looks for a value in it`,
        repair: "Make it jsonb: @Column({ type: 'jsonb' }).",
      }
    : undefined;
}

function keyFlaw(keys: readonly string[]): Flaw | undefined {
  const unfit = keys.find((key) => !isPathKey(key));
  return unfit === undefined
    ? undefined
    : {
        what: `${JSON.stringify(unfit)} is not a key that a path can have`,
        repair:
          'A key is not empty, begins with no "-", and has no blank at an end, no quote ("), no backslash, no control character and none of ? , = ! ( ) [ ] in it.',
      };
}

function typeFlaw(type: string = JSON_TYPES[0]): Flaw | undefined {
  return (JSON_TYPES as readonly string[]).includes(type)
    ? undefined
    : { what: `"${type}" is not a type of values in JSON`, repair: didYouMean(type, JSON_TYPES) };
}

/** The column has to be computed from the document by the database: another one could have other values. */
function generatedFlaw(
  name: string | undefined,
  {
    resolved,
    resource,
    description,
    type,
  }: Pick<Declaring, 'resource' | 'description'> & {
    readonly resolved: FilterPath;
    readonly type: string | undefined;
  },
): Flaw | undefined {
  if (name === undefined) return undefined;
  const [operand] = resolved.operands;
  const owner = (operand?.joinPath.at(-1) ?? resolved.some.at(-1)?.relation)?.target ?? resource;
  const columns = description.entities.find(({ id }) => id === owner.entity)?.columns ?? [];
  const computed = columns.filter(({ isComputed }) => isComputed === true).map((column) => column.path);
  if (type === 'string[]')
    return { what: 'no index on a column serves "contains" of a list', repair: 'Leave column out.' };
  return computed.includes(name)
    ? undefined
    : {
        what: `"${name}" is not a generated column of ${owner.className}`,
        repair:
          `Declare it: @Column({ asExpression: '…', generatedType: 'VIRTUAL' }). ${computed.length > 0 ? didYouMean(name, computed) : ''}`.trimEnd(),
      };
}

/** `meta.a__gte` and `meta.a` with `gte` would be one parameter. */
function nameFlaw(path: string, options: RestifyOptions): Flaw | undefined {
  const names = (each: string, lookups: readonly Lookup[]): readonly string[] =>
    lookups.flatMap((lookup) => parameterNames(each, lookup));
  const own = names(path, declaredFilters(options).get(path)?.lookups ?? []);
  for (const [other, { lookups }] of declaredFilters(options)) {
    const shared = other === path ? undefined : names(other, lookups).find((name) => own.includes(name));
    if (shared !== undefined)
      return {
        what: `"${path}" and "${other}" have the same parameter "${shared}"`,
        repair: 'Leave one of them out.',
      };
  }
  return undefined;
}
