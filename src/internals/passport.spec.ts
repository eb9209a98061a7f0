// @tags core
import { expect, test } from '@jest/globals';
import passport from 'passport';
import { probeStrategies } from './passport.js';

test('the strategies of the installed Passport are found', () => {
  passport.use('probed', { authenticate: () => undefined });
  const isRegistered = probeStrategies(passport);
  const found = ['probed', 'other'].map((name) => isRegistered?.(name));
  passport.unuse('probed');
  expect(found).toEqual([true, false]);
});

test.each([
  ['without the function', {}],
  ['that has each name', { _strategy: () => ({}) }],
  [
    'whose function throws',
    {
      _strategy: () => {
        throw new Error('No strategies.');
      },
    },
  ],
])('the strategies of a Passport %s cannot be read', (_, other) => {
  expect(probeStrategies(other)).toBeUndefined();
});
