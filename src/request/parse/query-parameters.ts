import { aggregateNames } from '../../core/contracts/aggregates.js';
import { bulkParameters } from '../../core/contracts/bulk.js';
import { fieldSelectionParameters } from '../../core/contracts/field-selection.js';
import type { ListKind } from '../../core/contracts/filters.js';
import { FORMAT_PARAMETER } from '../../core/contracts/renderer.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import { trashParameters } from '../../core/schema/trash.js';
import type { Resource } from '../../core/schema/resource.js';
import { splitValues } from '../../core/values/parse-text.js';
import { isRepeated, parametersFrom, parameterValues } from './parse-query-string.js';

/** In a strict model, throws 400 for parameters that no backend reads. */
export function rejectUnknownParameters(
  parameters: ReadonlyMap<string, string>,
  resource: Resource,
  reads: 'list' | 'object' | 'nothing',
): void {
  rejectParametersExcept(parameters, resource.strict, () => {
    if (reads === 'list') return listParameters(resource);
    const trash = reads === 'object' ? trashParameters(resource) : [];
    return [...bulkParameters(resource), ...commonParameters(resource), ...trash];
  });
}

/** The same for a list that is expanded in the response of another model, if one of the two is strict. */
export function rejectUnknownOfExpansion(
  parameters: ReadonlyMap<string, string>,
  resource: Resource,
  expandedIn: Resource,
): void {
  rejectParametersExcept(parameters, resource.strict || expandedIn.strict, () =>
    parametersOfBackends(resource),
  );
}

function parametersOfBackends(resource: Resource): readonly string[] {
  return resource.backends.flatMap((backend) => [...(backend.parameters?.(resource) ?? [])]);
}

/** The parameters that a list reads. */
export function listParameters(resource: Resource): readonly string[] {
  return [
    ...parametersOfBackends(resource),
    ...(resource.pagination?.parameters() ?? []),
    ...commonParameters(resource),
    ...trashParameters(resource),
  ];
}

function commonParameters(resource: Resource): readonly string[] {
  return [
    ...fieldSelectionParameters(resource.fieldSelection),
    ...(resource.renderers.length > 0 ? [parameterName(FORMAT_PARAMETER, resource)] : []),
  ];
}

/** If `strict`, throws 400 for parameters other than these. */
export function rejectParametersExcept(
  parameters: ReadonlyMap<string, string>,
  strict: boolean,
  known: () => readonly string[],
): void {
  if (!strict) return;
  const names = new Set(known());
  const errors = emptyFieldErrors();
  for (const name of parameters.keys()) if (!names.has(name)) errors[name] = ['Unknown parameter.'];
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
}

/** The suffix of list parameters as written by generated clients and axios: `[]`, or with the index of the value. */
const BRACKETS = /\[\d*\]$/;

/** Parameters of a request that hold lists, by name. */
interface Lists {
  readonly kinds: ReadonlyMap<string, ListKind>;
  /** True if a backend reads a parameter of exactly this name, brackets included. */
  readonly isRead: (name: string) => boolean;
}

/**
 * The parameters with lists joined: `id__in=1&id__in=2`, `id__in[]=1&id__in[]=2` and `id__in[0]=1&id__in[1]=2` become `id__in=1,2`. `resource` is
 * the model as the caller may query it: a name that he may not use stays as it is, like an unknown one.
 */
export function joinRepeatedParameters(
  parameters: ReadonlyMap<string, string>,
  resource: Resource,
): ReadonlyMap<string, string> {
  return mayHoldLists(parameters) ? fold(parameters, listsOf(resource)) : parameters;
}

/** As `joinRepeatedParameters`, for the parameters of field selection only. */
export function foldFieldSelection(
  parameters: ReadonlyMap<string, string>,
  { fieldSelection }: Resource,
): ReadonlyMap<string, string> {
  return mayHoldLists(parameters)
    ? fold(parameters, { kinds: namesOfSelection(fieldSelection), isRead: () => false })
    : parameters;
}

/** As `joinRepeatedParameters`, for the parameters of aggregates only. */
export function foldAggregates(
  parameters: ReadonlyMap<string, string>,
  resource: Resource,
): ReadonlyMap<string, string> {
  if (!mayHoldLists(parameters)) return parameters;
  const { aggregate, group } = aggregateNames(resource);
  const names = [aggregate, group, parameterName('ordering', resource)];
  return fold(parameters, { kinds: new Map(names.map((name) => [name, 'names'])), isRead: () => false });
}

/** Lists joined under their received names, for pipes, which see one text for each parameter. */
export function joinLists(
  parameters: ReadonlyMap<string, string>,
  resource: Resource,
): ReadonlyMap<string, string> {
  if (!isRepeated(parameters)) return parameters;
  const lists = listsOf(resource);
  return parametersFrom(
    new Map(
      [...parameters.keys()].map(
        (name) =>
          [name, folded(parameterValues(name, parameters), lists.kinds.get(plainName(name, lists)))] as const,
      ),
    ),
  );
}

function mayHoldLists(parameters: ReadonlyMap<string, string>): boolean {
  return isRepeated(parameters) || [...parameters.keys()].some((name) => BRACKETS.test(name));
}

function fold(parameters: ReadonlyMap<string, string>, lists: Lists): ReadonlyMap<string, string> {
  const values = new Map<string, string[]>();
  for (const given of parameters.keys()) {
    const name = plainName(given, lists);
    const known = values.get(name);
    if (known) for (const value of parameterValues(given, parameters)) known.push(value);
    else values.set(name, [...parameterValues(given, parameters)]);
  }
  return parametersFrom(
    new Map([...values].map(([name, each]) => [name, folded(each, lists.kinds.get(name))] as const)),
  );
}

function listsOf(resource: Resource): Lists {
  const { backends, fieldSelection } = resource;
  return {
    kinds: new Map([
      ...backends.flatMap((backend) => [...(backend.lists?.(resource) ?? [])]),
      ...namesOfSelection(fieldSelection),
    ]),
    isRead: (name) => backends.some((backend) => backend.parameters?.(resource).includes(name)),
  };
}

/** Whether a parameter, with brackets or without, is a list of values. */
export function valueLists(resource: Resource): (name: string) => boolean {
  const lists = listsOf(resource);
  return (name) => lists.kinds.get(plainName(name, lists)) === 'values';
}

function namesOfSelection(selection: Resource['fieldSelection']): ReadonlyMap<string, ListKind> {
  return new Map(fieldSelectionParameters(selection).map((name) => [name, 'names']));
}

/** The name without brackets, if they denote a list. */
function plainName(name: string, { kinds, isRead }: Lists): string {
  const plain = name.replace(BRACKETS, '');
  return plain !== name && kinds.has(plain) && !isRead(name) ? plain : name;
}

function folded(values: readonly string[], kind: ListKind | undefined): readonly string[] {
  if (values.length < 2) return values;
  switch (kind) {
    case 'names':
      return [values.every((value) => value === '') ? '' : values.join(',')];
    case 'values':
      return [joined(values.filter((value) => value !== ''))];
    case 'each':
    case undefined:
      return values;
    default:
      return kind satisfies never;
  }
}

/** A quote must end within its own value: an unclosed one is the same error as in a single value. */
function joined(texts: readonly string[]): string {
  return texts.find((text) => splitValues(text).errors !== undefined) ?? texts.join(',');
}
