import type { Actor } from '../schema/actor.js';

/**
 * The source of an actor's permissions. The application replaces it with a provider of this token:
 *
 * ```ts
 * { provide: PermissionSource, useClass: RolesFromDatabase }
 * ```
 */
export interface PermissionSource {
  /** Whether the actor holds `<app>.<view|add|change|delete>_<model>`. Called once per request and name. */
  holds(actor: Actor, name: string): boolean | Promise<boolean>;
}

/** The injection token, identical in all copies of the package in a process. */
export const PermissionSource: unique symbol = Symbol.for('nestjs-restify.PermissionSource') as never;

interface ActorLike {
  readonly isSuperuser?: unknown;
  readonly permissions?: unknown;
}

/** Reads `isSuperuser` and `permissions` (an array or a set of names) from the actor itself. */
export class ActorPermissionSource implements PermissionSource {
  holds(actor: Actor, name: string): boolean {
    const { isSuperuser, permissions } = (actor ?? {}) as ActorLike;
    if (isSuperuser === true) return true;
    if (permissions instanceof Set) return permissions.has(name);
    return Array.isArray(permissions) && permissions.includes(name);
  }
}
