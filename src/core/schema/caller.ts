/**
 * The authenticated user, as the application's authentication has set it on the request; null for an anonymous caller. Its
 * permissions are read by `PermissionSource` only.
 */
export type Actor = object | null;

/** The actor and the client address, as determined by the application's proxy setting. */
export interface Caller {
  readonly actor: Actor;
  readonly address: string;
}

type Name = string | number;

/** The values of an actor's `id`, `sub`, `username` and `name`; undefined for those that are not strings or numbers. */
export function actorNames(actor: NonNullable<Actor>): readonly (Name | undefined)[] {
  const { id, sub, username, name } = actor as Readonly<Record<string, unknown>>;
  return [id, sub, username, name].map((each) =>
    typeof each === 'string' || typeof each === 'number' ? each : undefined,
  );
}

/** Identifies a caller by one string. Prefixed, so that those of actors and of addresses never collide. */
export function callerKey(
  { actor, address }: Caller,
  nameOf?: (actor: NonNullable<Actor>) => Name | undefined,
): string {
  const named =
    actor === null ? undefined : (nameOf?.(actor) ?? actorNames(actor).find((each) => each !== undefined));
  return named === undefined ? `address:${address}` : `actor:${named}`;
}
