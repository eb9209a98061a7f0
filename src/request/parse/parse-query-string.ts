import { InvalidInput, MalformedRequest } from '../../core/errors/http-exceptions.js';
import { unstorableText } from '../../core/values/texts.js';

/** All values of repeated parameters. Kept separately, because they are rare. */
const REPEATED = new WeakMap<ReadonlyMap<string, string>, Map<string, string[]>>();

/**
 * The decoded parameters of a query string; the last value of a repeated one. Brackets have no meaning. Throws 400 for
 * invalid text: broken escapes, NUL, lone surrogates (contract 4.4).
 */
export function parseQueryString(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decoded(equals < 0 ? part : part.slice(0, equals));
    if (name === undefined || unstorableText(name) !== undefined)
      throw new MalformedRequest('The name of a query parameter is no text.');
    const value = decoded(equals < 0 ? '' : part.slice(equals + 1));
    if (value === undefined)
      throw InvalidInput.of(name, 'Enter a valid text: its percent escapes are broken.');
    const unstorable = unstorableText(value);
    if (unstorable !== undefined) throw InvalidInput.of(name, unstorable);
    const before = parameters.get(name);
    if (before !== undefined) repeat(name, { before, value, parameters });
    parameters.set(name, value);
  }
  return parameters;
}

function repeat(
  name: string,
  {
    before,
    value,
    parameters,
  }: { readonly before: string; readonly value: string; readonly parameters: ReadonlyMap<string, string> },
): void {
  const repeated = REPEATED.get(parameters) ?? new Map<string, string[]>();
  REPEATED.set(parameters, repeated);
  const values = repeated.get(name);
  if (values) values.push(value);
  else repeated.set(name, [before, value]);
}

/** All values of a parameter, in the order of the query string; for parameters from another source, their only value. */
export function parameterValues(name: string, parameters: ReadonlyMap<string, string>): readonly string[] {
  const value = parameters.get(name);
  return REPEATED.get(parameters)?.get(name) ?? (value === undefined ? [] : [value]);
}

export function isRepeated(parameters: ReadonlyMap<string, string>): boolean {
  return REPEATED.has(parameters);
}

/** Builds parameters from lists of values. */
export function parametersFrom(given: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, string> {
  const parameters = new Map([...given].map(([name, values]) => [name, values.at(-1) ?? ''] as const));
  const repeated = new Map(
    [...given].filter(([, values]) => values.length > 1).map(([name, values]) => [name, [...values]]),
  );
  if (repeated.size > 0) REPEATED.set(parameters, repeated);
  return parameters;
}

/** The parameters of these names, with all their values. */
export function selectParameters(
  parameters: ReadonlyMap<string, string>,
  isWanted: (name: string) => boolean,
): ReadonlyMap<string, string> {
  const wanted = new Map([...parameters].filter(([name]) => isWanted(name)));
  const repeated = REPEATED.get(parameters);
  if (repeated) REPEATED.set(wanted, new Map([...repeated].filter(([name]) => isWanted(name))));
  return wanted;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
