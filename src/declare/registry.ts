import type { ResourceDeclaration } from './restify-declaration.js';

const REGISTRY = Symbol.for('nestjs-restify.declarations');

/**
 * All declarations of this process, by their class or schema. Kept on the global object, so that a second copy of the
 * package (ESM beside CommonJS) reads what the first was told. Which of them an application serves is decided by its
 * own data source at boot.
 */
export function declarations(): Map<object, ResourceDeclaration> {
  const holder = globalThis as { [REGISTRY]?: Map<object, ResourceDeclaration> };
  return (holder[REGISTRY] ??= new Map<object, ResourceDeclaration>());
}
