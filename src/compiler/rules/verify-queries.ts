import type { ThroughOptions } from '../../decorators/model-options.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { ModelDescription } from '../../core/schema/entity-metadata.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import { isScalar } from '../../core/schema/data-type.js';
import { filterEntries, orderEntry, orderOperands, searchEntry, withNulls } from '../compile-queries.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { resolveFilterPath, resolveReadablePath } from '../resolve-path.js';
import { unfitLookup } from './unfit-lookup.js';
import { unknownPath } from './unknown-path.js';

/** Verifies that filters, searches and orders use readable fields of a suitable type. */
export function verifyQueries(
  { drafts, description }: CompilerInput,
  model: CompiledModel,
): readonly DeclarationProblem[] {
  const resources = new Map(model.resources.map((resource) => [resource.entity, resource]));
  return drafts.flatMap((draft) => {
    const resource = resources.get(draft.entity.id);
    return resource
      ? [{ draft, resource }, ...junctionsOf(draft, resource)].flatMap((each) => [
          ...filterProblems(each.draft, each.resource),
          ...searchProblems(each.draft, each.resource, description),
          ...orderProblems(each.draft, each.resource),
        ])
      : [];
  });
}

/** Verifies the options of `through` for junctions without a declaration, like a declaration. */
function junctionsOf(
  draft: EntityDeclaration,
  { relations }: Resource,
): readonly { readonly draft: EntityDeclaration; readonly resource: Resource }[] {
  const { declaration } = draft;
  return Object.entries(
    (declaration.options.through ?? {}) as Readonly<Record<string, ThroughOptions>>,
  ).flatMap(([name, options]) => {
    const relation = relations.get(name);
    if (relation?.kind !== 'many-to-many' || relation.through.resource.registered) return [];
    return [
      {
        draft: {
          ...draft,
          declaration: { ...declaration, name: `${declaration.name}.through.${name}`, options },
        },
        resource: resourceOf(relation.through.resource),
      },
    ];
  });
}

function filterProblems(draft: EntityDeclaration, resource: Resource): readonly DeclarationProblem[] {
  const names = Array.isArray(draft.declaration.options.filterFields);
  return (filterEntries(draft.declaration.options) ?? []).flatMap(([path, lookup], index) => {
    const place = {
      where: `${draft.declaration.name}.filterFields${names ? `[${index}]` : `.${path}`}`,
      draft,
      resource,
    };
    const resolved = resolveFilterPath(path, resource);
    if (!resolved) return [unknownPath(path, place, 'many')];
    const why = unfitLookup(lookup, resolved);
    return why === undefined ? [] : [{ where: place.where, ...why }];
  });
}

function searchProblems(
  draft: EntityDeclaration,
  resource: Resource,
  { abilities }: ModelDescription,
): readonly DeclarationProblem[] {
  return (draft.declaration.options.searchFields ?? []).flatMap((text, index) => {
    const place = { where: `${draft.declaration.name}.searchFields[${index}]`, draft, resource };
    const { path, match } = searchEntry(text);
    const resolved = resolveReadablePath(path, resource);
    if (!resolved) return [unknownPath(path, place)];
    const column = resolved.leaf === 'column' ? resolved.operands[0]?.column : undefined;
    const problem =
      column?.type.kind === 'string'
        ? matchProblem(match, { path, column, abilities })
        : {
            what: `"${path}" is not a text`,
            repair: 'A search looks into texts; name it in filterFields instead.',
          };
    return problem ? [{ where: place.where, ...problem }] : [];
  });
}

interface SearchedColumn extends Pick<ModelDescription, 'abilities'> {
  readonly path: string;
  readonly column: object;
}

/** What the database or its indexes lack for this kind of search. */
function matchProblem(
  match: ReturnType<typeof searchEntry>['match'],
  { path, column, abilities }: SearchedColumn,
): Omit<DeclarationProblem, 'where'> | undefined {
  if (match === 'regex') return abilities.regex ? undefined : unsupportedSearch('$', 'regular expressions');
  if (match !== 'fulltext' || abilities.fullText === 'any-column') return undefined;
  if (abilities.fullText === 'none') return unsupportedSearch('@', 'full-text search');
  return 'fullText' in column && column.fullText === true
    ? undefined
    : {
        what: `"${path}" has no full-text index of its own`,
        repair: 'Put @Index({ fulltext: true }) on the property, or leave "@" out.',
      };
}

function unsupportedSearch(prefix: string, what: string): Omit<DeclarationProblem, 'where'> {
  return {
    what: `"${prefix}" asks for ${what}, and this database has none here`,
    repair: `Leave "${prefix}" out, or use "^" or "=".`,
  };
}

function orderProblems(draft: EntityDeclaration, resource: Resource): readonly DeclarationProblem[] {
  const { orderingFields = [], ordering = [] } = draft.declaration.options;
  const fields = orderingFields.flatMap((text, index) => {
    const place = { where: `${draft.declaration.name}.orderingFields[${index}]`, draft, resource };
    const { path } = withNulls(text);
    const resolved = resolveReadablePath(path, resource);
    if (!resolved) return [unknownPath(path, place)];
    return resolved.operands.every(({ column }) => isScalar(column.type))
      ? []
      : [unordered(path, place.where)];
  });
  const defaults = ordering.flatMap((text, index) => {
    const place = { where: `${draft.declaration.name}.ordering[${index}]`, draft, resource };
    const { path } = orderEntry(text);
    const operands = orderOperands(path, resource);
    if (operands.length === 0) return [unknownPath(path, place)];
    return operands.every(({ column }) => isScalar(column.type)) ? [] : [unordered(path, place.where)];
  });
  return [...fields, ...defaults];
}

function unordered(path: string, where: string): DeclarationProblem {
  return {
    where,
    what: `the values of "${path}" have no order`,
    repair: 'Order by a number, a text, a date or a relation.',
  };
}
