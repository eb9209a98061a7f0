import { expect, test } from '@jest/globals';
import { toOpenApi31 } from './convert-schema.js';

test.each<readonly [string, object, object]>([
  ['a type that may be null', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
  ['a type that may not', { type: 'string', nullable: false }, { type: 'string' }],
  [
    'an enum that may be null',
    { type: 'string', enum: ['a'], nullable: true },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [
    'a reference that may be null',
    { nullable: true, $ref: '#/x', description: 'd' },
    { description: 'd', anyOf: [{ $ref: '#/x' }, { type: 'null' }] },
  ],
  [
    'what stands in allOf for a reference',
    { type: 'object', nullable: true, allOf: [{ $ref: '#/x' }] },
    { anyOf: [{ allOf: [{ $ref: '#/x' }] }, { type: 'null' }] },
  ],
  [
    'a bound that is left out',
    { minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
    { exclusiveMinimum: 1, maximum: 9 },
  ],
  ['a bound of 3.1', { exclusiveMinimum: 1 }, { exclusiveMinimum: 1 }],
  [
    'schemas in schemas',
    { properties: { a: { items: { type: 'number', nullable: true } } } },
    { properties: { a: { items: { type: ['number', 'null'] } } } },
  ],
  [
    'a property that is called nullable',
    { properties: { nullable: { type: 'string', nullable: true } } },
    { properties: { nullable: { type: ['string', 'null'] } } },
  ],
  [
    'properties that are called as words of OpenAPI',
    { properties: { default: { type: 'string', nullable: true }, type: { nullable: true, type: 'number' } } },
    { properties: { default: { type: ['string', 'null'] }, type: { type: ['number', 'null'] } } },
  ],
  [
    'an answer by default',
    { responses: { default: { content: { 'text/plain': { schema: { type: 'string', nullable: true } } } } } },
    { responses: { default: { content: { 'text/plain': { schema: { type: ['string', 'null'] } } } } } },
  ],
  [
    'examples, which are no schemas',
    { example: { type: 'x', nullable: true }, default: { nullable: true } },
    { example: { type: 'x', nullable: true }, default: { nullable: true } },
  ],
])('%s is converted to OpenAPI 3.1', (_, given, expected) => {
  expect(toOpenApi31(given)).toEqual(expected);
});
