import type { ActionBinding } from './route-pattern.js';

/** What a handler does that this package has added to a controller. */
export type HandlerKind =
  /** A method of the application; its result is the body. */
  | { readonly kind: 'action'; readonly binding: ActionBinding }
  /** The generated operations of a URL, for all methods. */
  | { readonly kind: 'generated' };

const KEY = 'restify:handler';

/**
 * Stores the kind as metadata of the handler. Nest and tracers replace handlers by functions of their own and copy the
 * metadata, so that a handler is never recognized by its identity.
 */
export function setHandlerKind(handler: object, kind: HandlerKind): void {
  Reflect.defineMetadata(KEY, kind, handler);
}

/** The kind of a handler, or of a function that wraps it; undefined for handlers of the application's own routes. */
export function findHandlerKind(handler: unknown): HandlerKind | undefined {
  return typeof handler === 'function'
    ? (Reflect.getMetadata(KEY, handler) as HandlerKind | undefined)
    : undefined;
}

/** @throws where code that replaces handlers has not copied their metadata: it is unknown what the handler may do. */
export function getHandlerKind(handler: object): HandlerKind {
  const kind = findHandlerKind(handler);
  if (kind) return kind;
  throw new Error(
    `The handler "${(handler as { readonly name?: string }).name ?? ''}" has no metadata "${KEY}", and is not called. Code that wraps the handlers of controllers must copy their metadata: Reflect.getMetadataKeys(handler).`,
  );
}
