/** Live bindings, which are set to the functions of a test file before it is imported. */
const NAMES = 'afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test';
const URL_OF_GLOBALS = 'restify-test:globals';
const SOURCE = `
export let ${NAMES};
globalThis.restifyBindTestGlobals = (globals) => { ({ ${NAMES} } = globals); };
`;

export function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: URL_OF_GLOBALS, shortCircuit: true };
  return next(specifier, context);
}

export function load(url, context, next) {
  if (url === URL_OF_GLOBALS) return { format: 'module', source: SOURCE, shortCircuit: true };
  return next(url, context);
}
