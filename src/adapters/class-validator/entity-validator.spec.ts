import { expect, test } from '@jest/globals';
import { loadEntityValidator } from './entity-validator.js';

test('is loaded only if a class has a decorator of class-validator', async () => {
  expect(await loadEntityValidator()).toBeUndefined();
  const { MaxLength } = await import('class-validator');
  expect(await loadEntityValidator()).toBeUndefined();
  class Note {
    text = '';
  }
  MaxLength(3)(Note.prototype, 'text');
  const validator = await loadEntityValidator();
  class Other {
    text = '';
  }
  expect([validator?.validates(Note), validator?.validates(Other)]).toEqual([true, false]);
});
