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
  expect([validator?.classValidatorsOf(Note), validator?.classValidatorsOf(Other)]).toEqual([
    'built-in',
    'none',
  ]);
});

test('knows validators of the application from those of class-validator', async () => {
  const library = await import('class-validator');
  const validator = await loadEntityValidator();
  const { Validate, ValidateBy, ValidateIf, ValidateNested } = library;
  class IsShort {
    validate(): boolean {
      return true;
    }
  }
  const decorators = {
    builtIn: [
      library.IsOptional(),
      library.IsDefined(),
      library.Allow(),
      library.Min(1),
      library.IsISO8601(),
    ],
    class: [library.Min(1), Validate(IsShort)],
    decorator: [ValidateBy({ name: 'isShort', validator: { validate: () => true } })],
    condition: [ValidateIf(() => true)],
    option: [library.Min(1, { validateIf: () => true })],
    nested: [ValidateNested()],
  };
  const found = Object.entries(decorators).map(([name, all]): [string, unknown] => {
    class Note {
      text = '';
    }
    for (const decorate of all) decorate(Note.prototype, 'text');
    return [name, validator?.classValidatorsOf(Note)];
  });
  expect(Object.fromEntries(found)).toEqual({
    builtIn: 'built-in',
    class: 'own',
    decorator: 'own',
    condition: 'own',
    option: 'own',
    nested: 'own',
  });
});
