import type { CustomFilter } from '../../core/contracts/filters.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { LOOKUP_RULES, LOOKUPS } from '../../core/query/lookups.js';
import type { Lookup } from '../../core/query/lookups.js';
import { isScalar } from '../../core/schema/data-type.js';
import type { DataType } from '../../core/schema/data-type.js';
import type { Operand } from '../../core/query/condition.js';
import type { ModelDescription } from '../../core/schema/entity-metadata.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import { PARAMETER_KINDS } from '../../core/contracts/filters.js';
import type { ThroughOptions } from '../../decorators/model-options.js';
import {
  orderEntry,
  orderOperands,
  searchEntry,
  plainPaths,
  resolveDeclaredPath,
  resolveFilterPath,
} from '../compile-queries.js';
import { declaredFilters, filterEntries, isList, parameterNames, withNulls } from '../declared-filters.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import type { ResolvedPath } from '../compile-queries.js';
import { problem } from './problems.js';
import { fullTextProblems } from './verify-full-text.js';
import { jsonPathFlaw } from './verify-json-paths.js';
import type { Flaw, Problems } from './problems.js';

/** A declaration with the resource that was compiled from it. */
interface Declared {
  readonly draft: EntityDeclaration;
  readonly resource: Resource;
}

/** Verifies that filters, searches and orders use readable fields of a suitable type. */
export function* verifyQueries(input: CompilerInput, model: CompiledModel): Problems {
  for (const declared of declaredResources(input, model))
    for (const each of [declared, ...junctionsOf(declared)]) {
      yield* filterProblems(each, input.description);
      yield* searchProblems(each, input.description);
      yield* fullTextProblems(each, input.description);
      yield* orderProblems(each);
    }
}

function declaredResources(
  { declarations }: CompilerInput,
  { resources }: CompiledModel,
): readonly Declared[] {
  const byEntity = new Map(resources.map((resource) => [resource.entity, resource]));
  return declarations.flatMap((draft) => {
    const resource = byEntity.get(draft.entity.id);
    return resource ? [{ draft, resource }] : [];
  });
}

/** The options of `through` for junctions without a declaration are verified like a declaration. */
function junctionsOf({ draft, resource: { relations } }: Declared): readonly Declared[] {
  const { declaration } = draft;
  const through = (declaration.options.through ?? {}) as Readonly<Record<string, ThroughOptions>>;
  return Object.entries(through).flatMap(([name, options]) => {
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

function* filterProblems({ draft, resource }: Declared, description: ModelDescription): Problems {
  const { name, options } = draft.declaration;
  for (const [index, [path, { lookups }]] of [...declaredFilters(options)].entries()) {
    const where = `${name}.filterFields${Array.isArray(options.filterFields) ? `[${index}]` : `.${path}`}`;
    const resolved = resolveDeclaredPath(path, resource, options);
    const flaw = jsonPathFlaw(path, { resource, options, description });
    if (!resolved) yield unknownPath(path, { where, draft, resource }, 'many');
    else if (flaw) yield { where, ...flaw };
    else
      yield* lookups
        .flatMap((lookup) => unfitLookup(lookup, resolved) ?? [])
        .map((each) => ({ where, ...each }));
  }
}

function* searchProblems({ draft, resource }: Declared, { abilities }: ModelDescription): Problems {
  for (const [index, text] of (draft.declaration.options.searchFields ?? []).entries()) {
    const where = `${draft.declaration.name}.searchFields[${index}]`;
    const { path, match } = searchEntry(text);
    const resolved = resolveFilterPath(path, resource);
    const column = resolved?.leaf === 'column' ? resolved.operands[0]?.column : undefined;
    if (!resolved) yield unknownPath(path, { where, draft, resource }, 'many');
    else if (column?.type.kind !== 'string')
      yield problem(
        where,
        `"${path}" is not a text`,
        'A search looks into texts; name it in filterFields instead.',
      );
    else if (match === 'regex' && !abilities.regex)
      yield unsupportedSearch(where, '$', 'regular expressions');
    else if (match === 'fulltext' && !draft.declaration.options.fullText)
      yield* unindexedText(
        { where, path, isIndexed: 'fullText' in column && column.fullText === true },
        abilities,
      );
  }
}

/** Without the option `fullText`, which has rules of its own. */
function* unindexedText(
  { where, path, isIndexed }: { readonly where: string; readonly path: string; readonly isIndexed: boolean },
  { fullText }: ModelDescription['abilities'],
): Problems {
  if (fullText === 'none')
    yield problem(
      where,
      '"@" is full-text search, which SQLite has only with an FTS5 table',
      'Name the table: fullText: { table: \'article_text\' }, or use no prefix, "^" or "=".',
    );
  else if (fullText !== 'any-column' && !isIndexed)
    yield problem(
      where,
      `"${path}" has no full-text index of its own`,
      'Put @Index({ fulltext: true }) on the property, or leave "@" out.',
    );
}

/** The database lacks this kind of search. */
function unsupportedSearch(where: string, prefix: string, what: string): DeclarationProblem {
  return problem(
    where,
    `"${prefix}" is a search by ${what}, which this database does not have`,
    `Leave "${prefix}" out, or use "^" or "=".`,
  );
}

function* orderProblems({ draft, resource }: Declared): Problems {
  const { name, options } = draft.declaration;
  const given = [
    ...(options.orderingFields ?? []).map((text, index) => {
      const { path } = withNulls(text);
      const resolved = resolveDeclaredPath(path, resource, options);
      const operands = resolved?.some.length === 0 ? resolved.operands : undefined;
      return { where: `${name}.orderingFields[${index}]`, path, operands };
    }),
    ...(options.ordering ?? []).map((text, index) => {
      const { path } = orderEntry(text);
      const operands = orderOperands(path, resource, options);
      return {
        where: `${name}.ordering[${index}]`,
        path,
        operands: operands.length === 0 ? undefined : operands,
      };
    }),
  ];
  for (const { where, path, operands } of given) {
    if (!operands) yield untypedPath(path, where, resource) ?? unknownPath(path, { where, draft, resource });
    else if (!operands.every((each) => isScalar(each.column.type) && !isListInJson(each)))
      yield problem(
        where,
        `the values of "${path}" have no order`,
        'Order by a number, a text, a date or a relation.',
      );
  }
}

function isListInJson({ column: { json } }: Operand): boolean {
  return json?.as === 'string[]';
}

/** A value in a column of JSON, whose type an order needs. */
function untypedPath(path: string, where: string, resource: Resource): DeclarationProblem | undefined {
  const asFilter = { filterFields: [path] };
  const isValue =
    resolveDeclaredPath(path, resource, asFilter)?.operands[0]?.column.json?.source.type.kind === 'json';
  return isValue
    ? problem(
        where,
        `"${path}" is a value in JSON, of which no type is declared`,
        `Name it in filterFields, with lookups or without: '${path}': { type: 'number', lookups: [] }.`,
      )
    : undefined;
}

/** Verifies that a custom filter has a unique name, a type, and the readable fields that it discloses. */
export function* verifyCustomFilters(input: CompilerInput, model: CompiledModel): Problems {
  for (const { draft, resource } of declaredResources(input, model)) {
    const { name: entity, options } = draft.declaration;
    if (!options.filters) continue;
    // Parameters that filter a field.
    const entries = filterEntries(options) ?? plainPaths(resource).map((path) => [path, 'exact'] as const);
    const meant = new Set(entries.flatMap(([path, lookup]) => parameterNames(path, lookup)));
    for (const [name, filter] of Object.entries(options.filters)) {
      const where = `${entity}.filters.${name}`;
      if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name))
        yield problem(
          where,
          `"${name}" is not a valid name of a parameter`,
          'Begin with a letter, and go on with letters, digits and "_".',
        );
      else if (meant.has(name))
        yield problem(
          where,
          `"${name}" filters a field already`,
          'Give it another name, or take the other one out of filterFields.',
        );
      yield* customFilterProblems(where, filter, { draft, resource });
    }
  }
}

function* customFilterProblems(where: string, filter: CustomFilter, { draft, resource }: Declared): Problems {
  const { reads, rows } = filter;
  const given: unknown = filter.type;
  const type = String(given);
  if (!PARAMETER_KINDS.includes(type))
    yield problem(
      `${where}.type`,
      `"${type}" is not a type that a parameter can have`,
      didYouMean(type, PARAMETER_KINDS),
    );
  if (filter.type === 'choice' && !(isList(filter.choices) && filter.choices.length > 0))
    yield problem(`${where}.choices`, 'this is not a list of texts', "Write choices: ['open', 'closed'].");
  if (typeof rows !== 'function')
    yield problem(
      `${where}.rows`,
      'this is not a function',
      "Write rows: (value) => where('votes', 'gte', value).",
    );
  if (!isList(reads) || reads.length === 0)
    yield problem(
      `${where}.reads`,
      'this is not a list of fields',
      "Write reads: ['votes'], so that callers cannot filter by fields that they may not read.",
    );
  for (const [index, path] of (isList(reads) ? reads : []).entries())
    if (!resolveFilterPath(path, resource))
      yield unknownPath(path, { where: `${where}.reads[${index}]`, draft, resource }, 'many');
}

/** The problem of a path that leads to no readable field. `reach`: whether it may lead over to-many relations. */
export function unknownPath(
  path: string,
  { where, draft, resource }: Declared & { readonly where: string },
  reach: 'one' | 'many' = 'one',
): DeclarationProblem {
  const [first = path] = path.split('.');
  const field = resource.fieldsByName.get(first);
  if ((field?.kind === 'link' || field?.kind === 'keys') && reach === 'one')
    return problem(
      where,
      `"${first}" leads to many objects`,
      'Name a field of this model or of one that it refers to.',
    );
  if (field && !field.readable)
    return problem(where, `"${first}" is write-only, and would leak through a query`, 'Take it out.');
  if (field && 'relation' in field) {
    const { target } = field.relation;
    const known = plainPaths(target).map((each) => `${first}.${each}`);
    return problem(
      where,
      `"${path}" leads to no readable field of ${target.className}`,
      didYouMean(path, known),
    );
  }
  return problem(
    where,
    `"${path}" is not a readable field of ${draft.declaration.name}`,
    didYouMean(path, plainPaths(resource)),
  );
}

/** The reason why a lookup does not apply to the target of a path; undefined if it does. */
function unfitLookup(lookup: string, { leaf, operands }: ResolvedPath): Flaw | undefined {
  if (!(LOOKUPS as readonly string[]).includes(lookup))
    return { what: `"${lookup}" is not a lookup`, repair: didYouMean(lookup, LOOKUPS) };
  const { fitsKeys } = LOOKUP_RULES[lookup as Lookup];
  const type = operands[0]?.column.type;
  if (leaf !== 'column' && !fitsKeys)
    return {
      what: `"${lookup}" does not fit a relation`,
      repair: 'A related key is compared by exact, in, ne or isnull.',
    };
  if (operands.length > 1 && lookup !== 'exact' && lookup !== 'isnull')
    return { what: `"${lookup}" does not fit a composite key`, repair: 'Use exact or isnull.' };
  if (operands[0] && isListInJson(operands[0]))
    return lookup === 'contains' || lookup === 'isnull'
      ? undefined
      : { what: `"${lookup}" does not fit a list in JSON`, repair: 'Use contains or isnull.' };
  return type && unfitType(lookup as Lookup, type);
}

/** The same of values of a type. */
function unfitType(lookup: Lookup, type: DataType): Flaw | undefined {
  const { value, isOrdered } = LOOKUP_RULES[lookup];
  if (type.kind === 'boolean' && (value === 'text' || isOrdered))
    return { what: `"${lookup}" does not fit a boolean`, repair: 'Use exact, ne, in or isnull.' };
  if (value === 'text' && type.kind !== 'string')
    return {
      what: `"${lookup}" compares texts, and this is ${type.kind}`,
      repair: 'Use exact, in, gt, gte, lt or lte.',
    };
  if (!isScalar(type) && lookup !== 'isnull')
    return {
      what: `${type.kind} values cannot be compared in a URL`,
      repair: 'Use isnull, or leave it out.',
    };
  return undefined;
}
