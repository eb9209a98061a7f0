// @tags core
import { afterEach, expect, test } from '@jest/globals';
import { probeHttpSpan } from './opentelemetry.js';

const API = Symbol.for('opentelemetry.js.api.1');

afterEach(() => {
  Reflect.deleteProperty(globalThis, API);
});

const DATA = { type: 'http' };

test('the data of the HTTP span is found', () => {
  Object.assign(globalThis, {
    [API]: {
      context: {
        active: () => ({
          getValue: (key: symbol) => (key.description?.endsWith('RPC_METADATA') === true ? DATA : undefined),
        }),
      },
    },
  });
  expect(probeHttpSpan()).toBe(DATA);
});

test.each([
  ['without OpenTelemetry', undefined],
  ['without a context', {}],
  ['of a context without a manager', { context: {} }],
  ['of a manager with other methods', { context: { active: 'other' } }],
  ['without an active context', { context: { active: () => undefined } }],
  ['of a context without values', { context: { active: () => ({}) } }],
  ['outside of a span', { context: { active: () => ({ getValue: () => undefined }) } }],
  ['of another kind', { context: { active: () => ({ getValue: () => ({ type: 'rpc' }) }) } }],
])('the data of a span is not found %s', (_, api) => {
  Object.assign(globalThis, { [API]: api });
  expect(probeHttpSpan()).toBeUndefined();
});
