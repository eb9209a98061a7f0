import { afterAll } from '@jest/globals';
import passport from 'passport';
import { declarations } from '../../src/decorators/metadata-storage.js';

/**
 * Reverts, at the end of the file, declarations on classes that other files use too: global registries outlive a file if many
 * files run in one process. Classes that the file defines itself do not need it.
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
