import { afterAll } from '@jest/globals';
import passport from 'passport';
import { declarations } from '../../src/decorators/metadata-storage.js';

/**
 * Undoes, when the file has ended, what its tests declare of classes that other files use too: registries of the process outlive
 * a file where many files run in one process. A class that the file defines itself needs none of it.
 */
export function restoreDeclarationsOf(...targets: readonly object[]): void {
  const before = targets.map((target) => [target, declarations().get(target)] as const);
  afterAll(() => {
    for (const [target, declaration] of before) {
      if (declaration) declarations().set(target, declaration);
      else declarations().delete(target);
    }
  });
}

/** Registers a strategy with Passport's global registry until the file has ended. */
export function usePassportStrategy(name: string, strategy: passport.Strategy): void {
  passport.use(name, strategy);
  afterAll(() => {
    passport.unuse(name);
  });
}
