import { allow, basic, deny, timingSafeEqual, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission, Denial } from 'nestjs-restify';

export interface Caller {
  readonly name: string;
  readonly isSuperuser: boolean;
}

/** The password of a user equals the user name. */
export const CALLERS = basic((name, password): Caller | null =>
  timingSafeEqual(name, password) && ['admin', 'ada', 'bob'].includes(name)
    ? { name, isSuperuser: name === 'admin' }
    : null,
);

/** Grants the caller's own rows, without the field for administrators. */
export class OwnNotes implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    const caller = actor as Caller | null;
    if (!caller) return deny({ hides: 'rows' });
    if (caller.isSuperuser) return allow();
    return allow({
      rows: where('owner', caller.name),
      readable: ['id', 'text', 'owner', 'stars', 'person', 'made'],
      writable: ['text', 'owner', 'stars', 'person'],
    });
  }
}
