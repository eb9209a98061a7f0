import { InvalidInput, MalformedRequest } from '../../errors/request-errors.js';
import { unstorableText } from '../../values/texts.js';

/**
 * The parameters of a query string, decoded; of a repeated one the last value. Brackets mean nothing. Throws a 400 for
 * what is no text: broken escapes, NUL, lone surrogates (contract 4).
 */
export function parseQueryString(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decoded(equals < 0 ? part : part.slice(0, equals));
    if (name === undefined || unstorableText(name) !== undefined) throw new MalformedRequest('The name of a query parameter is no text.');
    const value = decoded(equals < 0 ? '' : part.slice(equals + 1));
    if (value === undefined) throw InvalidInput.of(name, 'Enter a valid text: its percent escapes are broken.');
    const unstorable = unstorableText(value);
    if (unstorable !== undefined) throw InvalidInput.of(name, unstorable);
    parameters.set(name, value);
  }
  return parameters;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
