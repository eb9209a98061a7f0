// @tags core
import { METHODS } from 'node:http';
import { expect, test } from '@jest/globals';
import { RequestMethod } from '@nestjs/common';
import { unknownQuery } from './nest.js';

test('the running Node and the installed Nest support QUERY', () => {
  expect(unknownQuery(METHODS, RequestMethod)).toBeUndefined();
});

test('a Node or a Nest without QUERY is a problem with its repair', () => {
  expect(unknownQuery(['GET'], RequestMethod)).toMatchObject({
    what: expect.stringMatching(/^query is set, and Node \d/),
    repair: expect.stringMatching(/update Node/),
  });
  expect(unknownQuery(METHODS, { GET: 0 })).toMatchObject({
    what: expect.stringMatching(/no RequestMethod\.QUERY/),
    repair: 'Remove the option, or update @nestjs/common.',
  });
});
