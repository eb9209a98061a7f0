import { didYouMean } from '../../core/errors/declaration-error.js';
import type { Column } from '../../core/schema/column.js';
import { isNested, NESTED_VERBS, writtenColumns } from '../../core/schema/field.js';
import type { Field, LinkField, NestedVerb, ReverseOneField } from '../../core/schema/field.js';
import type { OperationName } from '../../core/schema/operation.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import type { RestifyOptions } from '../../decorators/model-options.js';
import { OPERATION_OF_VERB, verbsIn } from '../compile-nested.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { problem } from './problems.js';
import type { Flaw, Problems } from './problems.js';
import { controllersOf, differentGuards } from './verify-related-keys.js';

/** Verifies that `nested` names relations whose objects are written in bodies of the model exactly as at their own URLs. */
export function* verifyNested(input: CompilerInput, { resources }: CompiledModel): Problems {
  for (const draft of input.declarations) {
    const { nested } = draft.declaration.options;
    const resource = resources.find(({ entity }) => entity === draft.entity.id);
    if (resource && typeof nested === 'object')
      for (const name of namesIn(nested)) yield* problemsOf(draft, name, { nested, resource, input });
  }
}

function namesIn(nested: Nested): readonly string[] {
  return Array.isArray(nested) ? (nested as readonly string[]) : Object.keys(nested);
}

type Nested = NonNullable<RestifyOptions['nested']>;

interface Place {
  readonly nested: Nested;
  readonly resource: Resource;
  readonly input: CompilerInput;
}

function* problemsOf({ declaration }: EntityDeclaration, name: string, place: Place): Problems {
  const where = `${declaration.name}.nested.${name}`;
  const known = place.resource.fields.filter(isOfChildren);
  const field = known.find((each) => each.name === name);
  if (!field)
    yield problem(
      where,
      `"${name}" is neither a one-to-many relation nor the other side of a one-to-one that ${declaration.name} shows`,
      didYouMean(
        name,
        known.map((each) => each.name),
      ),
    );
  else {
    const unknown = unknownVerbs(place.nested, name);
    for (const verb of unknown)
      yield problem(`${where}.${verb}`, `"${verb}" is not a verb`, didYouMean(verb, NESTED_VERBS));
    if (unknown.length === 0) for (const flaw of flawsOf(field, declaration, place)) yield { where, ...flaw };
  }
}

function unknownVerbs(nested: Nested, name: string): readonly string[] {
  if (Array.isArray(nested)) return [];
  const given = (nested as Readonly<Record<string, object | undefined>>)[name] ?? {};
  return Object.keys(given).filter((verb) => !NESTED_VERBS.some((each) => each === verb));
}

function isOfChildren(field: Field): field is LinkField | ReverseOneField {
  return field.kind === 'reverse-one' || (field.kind === 'link' && field.relation.kind === 'one-to-many');
}

function* flawsOf(
  field: LinkField | ReverseOneField,
  { name, options: { readOnly = [] } }: EntityDeclaration['declaration'],
  place: Place,
): Iterable<Flaw> {
  const { nested, resource } = place;
  const child = resourceOf(field.relation.target);
  const named = verbsIn(nested, field.name) ?? [];
  if (readOnly.includes(field.name))
    yield {
      what: `"${field.name}" is among the readOnly fields of ${name}`,
      repair: 'Name it in one of both.',
    };
  const lacking = named.filter((verb) => !child.operations.has(OPERATION_OF_VERB[verb]));
  const verbs = named.filter((verb) => !lacking.includes(verb));
  if (!Array.isArray(nested) && lacking.length > 0)
    yield {
      what: `${child.className} has no operation for ${lacking.map((verb) => `"${verb}"`).join(', ')}`,
      repair: `Add ${lacking.map((verb) => `'${OPERATION_OF_VERB[verb]}'`).join(', ')} to its operations, or leave the verb out.`,
    };
  else if (verbs.length === 0)
    yield {
      what: 'it has no verb by which objects are written',
      repair: `Write { ${field.name}: { create: true } }, with any of ${NESTED_VERBS.join(', ')}.`,
    };
  if (!isWritten(resource))
    yield { what: `no operation of ${name} writes objects`, repair: 'Leave the relation a link.' };
  if (child.fields.some((each) => each.kind === 'column' && each.polymorphic && isOfKey(each.column, field)))
    yield {
      what: `the key by which ${child.className} refers to ${name} is one of several tables`,
      repair: 'Write these objects at their own URL.',
    };
  if (verbs.includes('update') && field.kind === 'link' && !showsKey(child))
    yield {
      what: `objects of ${child.className} cannot be named: it does not show its key`,
      repair: "Show the key, or leave the verb 'update' out.",
    };
  if (isNested(field)) yield* unlike(child, verbs, { ...place, field });
}

function showsKey({ key, fields }: Resource): boolean {
  return key.columns.every(({ id }) =>
    fields.some((field) => field.readable && writtenColumns(field).includes(id)),
  );
}

function isOfKey({ id }: Column, { relation }: LinkField | ReverseOneField): boolean {
  return (
    relation.kind !== 'many-to-many' && relation.on.some(({ referencedColumn }) => referencedColumn.id === id)
  );
}

function isWritten({ operations }: Resource): boolean {
  return operations.has('create') || operations.has('update') || operations.has('partialUpdate');
}

const SAME = 'Say it by permissions, or write these objects at their own URL.';

/** What runs at the URLs of the children, and would not run in a request to their parent. */
function* unlike(
  child: Resource,
  verbs: readonly NestedVerb[],
  { resource, input, field }: Place & { readonly field: Field },
): Iterable<Flaw> {
  const found = [...differentGuards(child, resource), ...requirements(child, verbs)].map((what) => ({
    what,
    repair: SAME,
  }));
  for (const { what, repair } of [...found, ...replacements(child, verbs, { resource, input, field })])
    yield {
      what: `${child.className} has ${what}, which requests to ${resource.className} would bypass`,
      repair,
    };
}

/** What a request to the URL of one child has to have, and what sees its body. */
function* requirements(
  { piping, idempotency, conditional }: Resource,
  verbs: readonly NestedVerb[],
): Iterable<string> {
  const isChanged = verbs.includes('update') || verbs.includes('delete');
  if (piping) yield 'pipes';
  if (idempotency?.require === true && verbs.includes('create')) yield 'a required Idempotency-Key';
  if (conditional?.require === true && isChanged) yield 'a required If-Match';
}

/** A method of the application in the place of what writes the children. */
function* replacements(
  child: Resource,
  verbs: readonly NestedVerb[],
  { resource, input, field }: Pick<Place, 'resource' | 'input'> & { readonly field: Field },
): Iterable<Flaw> {
  const names: readonly OperationName[] = verbs.map((verb) => OPERATION_OF_VERB[verb]);
  // A PUT may do what a PATCH must not.
  const replaced = names.includes('partialUpdate') ? [...names, 'update'] : names;
  for (const { declaration, wraps } of controllersOf(child, input))
    if (wraps || declaration.replaced.some((each) => replaced.includes(each)))
      yield {
        what: `operations that ${declaration.name} replaces`,
        repair:
          'Use beforeWrite and afterWrite there, which run for each object, or write these at their own URL.',
      };
  for (const { declaration } of controllersOf(resource, input))
    for (const action of declaration.actions)
      if (
        action.kind === 'nested' &&
        action.relation === field.name &&
        action.options.methods?.some((method) => method !== 'GET') === true
      )
        yield {
          what: `URLs that ${declaration.name}.${action.method} replaces`,
          repair: 'Write these objects at their own URL.',
        };
}
