import { expect, test } from '@jest/globals';
import type { ValidationOptions } from 'class-validator';
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

/** The option is new in class-validator 0.15; earlier versions ignore it. */
const neverValidated: ValidationOptions & { validateIf: () => boolean } = { validateIf: () => false };

async function isOptionSupported(): Promise<boolean> {
  const { Min, validate } = await import('class-validator');
  class Note {
    size = 0;
  }
  Min(1, neverValidated)(Note.prototype, 'size');
  return (await validate(new Note())).length === 0;
}

test('distinguishes validators of the application from those of class-validator', async () => {
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
    option: [library.Min(1, neverValidated)],
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
    option: (await isOptionSupported()) ? 'own' : 'built-in',
    nested: 'own',
  });
});
