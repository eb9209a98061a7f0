import { basic, ModelPermissions, timingSafeEqual } from 'nestjs-restify';
import type { RestifyOptions } from 'nestjs-restify';

export interface User {
  readonly name: string;
  readonly isSuperuser: boolean;
  readonly permissions: readonly string[];
}

function everyRightOn(model: string): readonly string[] {
  return ['view', 'add', 'change', 'delete'].map((right) => `desk.${right}_${model}`);
}

/** The users of the help desk. A real application would store them in a database, with hashed passwords. */
const USERS: readonly User[] = [
  { name: 'admin', isSuperuser: true, permissions: [] },
  {
    name: 'clerk',
    isSuperuser: false,
    permissions: [
      ...everyRightOn('ticket'),
      'desk.view_deleted_ticket',
      'desk.restore_ticket',
      'desk.view_organisation',
    ],
  },
  { name: 'scribe', isSuperuser: false, permissions: everyRightOn('comment') },
  {
    name: 'planner',
    isSuperuser: false,
    permissions: [...everyRightOn('assignment'), 'desk.view_ticket', 'desk.view_agent'],
  },
  { name: 'guest', isSuperuser: false, permissions: [] },
];

/** In this sample, the password equals the user name. */
function verify(name: string, password: string): User | null {
  const user = USERS.find((each) => each.name === name);
  return timingSafeEqual(password, user?.name ?? '') && user ? user : null;
}

/** The authentication and permissions of all models of the help desk. */
export const DESK = {
  app: 'desk',
  authentication: [basic(verify)],
  permissions: [ModelPermissions],
} as const satisfies RestifyOptions;
