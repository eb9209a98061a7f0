import { allow, deny } from '../../core/contracts/permission.js';
import type { AccessContext, Grant, Permission, Denial } from '../../core/contracts/permission.js';
import { isReading } from '../../core/schema/operation.js';
import type { NamedOperation, TrashOperation } from '../../core/schema/operation.js';

/** The permission of a controller's `scope`: grants everything on some of the rows, and so only adds a row condition. */
export class RowScope implements Permission {
  constructor(readonly decide: (context: AccessContext) => Promise<Grant>) {}
}

function decided(yes: boolean): Grant | Denial {
  return yes ? allow() : deny();
}

/** Aggregates need the right to view the rows. */
function isOfTrash(operation: NamedOperation | undefined): operation is TrashOperation {
  return operation !== undefined && operation !== 'aggregate';
}

/** Allows everything. The default without a permission (contract 8.3). */
export class AllowAny implements Permission {
  decide(): Grant | Denial {
    return allow();
  }
}

/** Allows authenticated callers. */
export class IsAuthenticated implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    return decided(actor !== null);
  }
}

/** Allows authenticated callers, and anonymous ones to read what is not deleted. */
export class IsAuthenticatedOrReadOnly implements Permission {
  decide({ actor, method, operation }: AccessContext): Grant | Denial {
    return decided(actor !== null || (isReading(method) && !isOfTrash(operation)));
  }
}

/** Allows actors with `isAdmin` or `isSuperuser`. */
export class IsAdmin implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    const { isAdmin, isSuperuser } = (actor ?? {}) as { isAdmin?: unknown; isSuperuser?: unknown };
    return decided(isAdmin === true || isSuperuser === true);
  }
}

/** `<app>.<right>_<model>` by method (contract 8.2). An unsupported method needs none, so that 405 follows. */
const RIGHTS: Readonly<Record<string, string>> = {
  GET: 'view',
  HEAD: 'view',
  POST: 'add',
  PUT: 'change',
  PATCH: 'change',
  DELETE: 'delete',
};

/** The same for deleted objects. */
const TRASH_RIGHTS: Readonly<Record<TrashOperation, string>> = {
  listDeleted: 'view_deleted',
  restore: 'restore',
  purge: 'purge',
};

/** Requires the actor's model permissions. OPTIONS requires an actor without any. */
export class ModelPermissions implements Permission {
  async decide(context: AccessContext): Promise<Grant | Denial> {
    const { actor, method, operation, resource } = context;
    if (actor === null) return this.decideAnonymous(context);
    const right = isOfTrash(operation) ? TRASH_RIGHTS[operation] : RIGHTS[method];
    return decided(
      right === undefined || (await context.holds(`${resource.app}.${right}_${resource.model}`)),
    );
  }

  protected decideAnonymous(_question: AccessContext): Grant | Denial {
    return deny();
  }
}

/** As `ModelPermissions`, and anonymous callers may read what is not deleted. */
export class ModelPermissionsOrAnonReadOnly extends ModelPermissions {
  protected override decideAnonymous({ method, operation }: AccessContext): Grant | Denial {
    return decided(isReading(method) && !isOfTrash(operation));
  }
}

const BUILT_IN_PERMISSIONS: ReadonlySet<unknown> = new Set([
  AllowAny,
  IsAuthenticated,
  IsAuthenticatedOrReadOnly,
  IsAdmin,
  ModelPermissions,
  ModelPermissionsOrAnonReadOnly,
]);

/** True if the class is known to grant all rows and fields, or to deny. A subclass may decide otherwise. */
export function isBuiltIn(type: unknown): boolean {
  return BUILT_IN_PERMISSIONS.has(type);
}

const WITH_ACTOR: ReadonlySet<unknown> = new Set([IsAuthenticated, IsAdmin, ModelPermissions]);

/** True if the class is known to deny every anonymous caller. */
export function needsActor(type: unknown): boolean {
  return WITH_ACTOR.has(type);
}
