import type { ResourceDeclaration } from './model-options.js';

const REGISTRY = Symbol.for('nestjs-restify.declarations');

/**
 * All declarations of this process, by their class or schema. Kept on the global object, so that a second copy of the
 * package (ESM beside CommonJS) reads the declarations of the first. An application serves those that are in its data source
 * at boot.
 */
export function declarations(): Map<object, ResourceDeclaration> {
  const holder = globalThis as { [REGISTRY]?: Map<object, ResourceDeclaration> };
  return (holder[REGISTRY] ??= new Map<object, ResourceDeclaration>());
}

const SEEN = Symbol.for('nestjs-restify.seen');

/** The state that all applications of a process share. */
interface Seen {
  /** Declared classes and schemas that are in a data source, or have been reported in the log. */
  readonly entities: WeakSet<object>;
  /** Every `forRoot` whose prefix has not booted: its data source may contain unknown entities. */
  readonly waiting: Set<WeakRef<object>>;
}

/** Kept on the global object, as the declarations are. */
export function seen(): Seen {
  const holder = globalThis as { [SEEN]?: Seen };
  return (holder[SEEN] ??= { entities: new WeakSet(), waiting: new Set() });
}
