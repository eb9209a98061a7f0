import type { Actor } from './actor.js';

/** Who asks, and from where: the address that the application's proxy setting vouches for. */
export interface Caller {
  readonly actor: Actor;
  readonly address: string;
}

type Name = string | number;

/** What an actor is called, in its `id`, `sub`, `username` and `name`; undefined where one says nothing. */
export function namesOf(actor: NonNullable<Actor>): readonly (Name | undefined)[] {
  const { id, sub, username, name } = actor as Readonly<Record<string, unknown>>;
  return [id, sub, username, name].map((each) =>
    typeof each === 'string' || typeof each === 'number' ? each : undefined,
  );
}

/** Who it is, as one text. An actor and an address never share one, whatever they are called. */
export function callerKey(
  { actor, address }: Caller,
  nameOf?: (actor: NonNullable<Actor>) => Name | undefined,
): string {
  const named =
    actor === null ? undefined : (nameOf?.(actor) ?? namesOf(actor).find((each) => each !== undefined));
  return named === undefined ? `address:${address}` : `actor:${named}`;
}
