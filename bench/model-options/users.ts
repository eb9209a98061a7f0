import { createHash } from 'node:crypto';

/** Users who read and change rows. Each of them owns seeded rows. */
export const READERS = 50;
/** Users who create rows. They own no seeded rows, so that the lists of the readers keep their length. */
export const WRITERS = 50;

export interface User {
  readonly id: number;
  readonly name: string;
  readonly password: string;
  readonly token: string;
}

export const USERS: readonly User[] = Array.from({ length: READERS + WRITERS }, (_, index) => {
  const id = index + 1;
  const secret = createHash('sha256').update(`user ${id}`).digest('hex');
  return { id, name: `user${id}`, password: secret.slice(0, 16), token: secret.slice(16, 56) };
});

export function userOf(id: number): User {
  const user = USERS[id - 1];
  if (!user) throw new RangeError(`There is no user ${id}`);
  return user;
}

export function basicHeader({ name, password }: User): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

export function bearerHeader({ token }: User): string {
  return `Bearer ${token}`;
}
