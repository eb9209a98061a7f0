import { isReading } from '../../core/schema/operation.js';
import { allow, deny } from '../../core/contracts/permission.js';
import type { AccessContext, Grant, Permission, Denial } from '../../core/contracts/permission.js';

function decided(yes: boolean): Grant | Denial {
  return yes ? allow() : deny();
}

/** Everybody may do everything. What holds where nobody names a permission (contract 8.3). */
export class AllowAny implements Permission {
  decide(): Grant | Denial {
    return allow();
  }
}

/** Everybody who has said who they are. */
export class IsAuthenticated implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    return decided(actor !== null);
  }
}

/** Anonymous callers may read. */
export class IsAuthenticatedOrReadOnly implements Permission {
  decide({ actor, method }: AccessContext): Grant | Denial {
    return decided(actor !== null || isReading(method));
  }
}

/** Actors with `isAdmin` or `isSuperuser`. */
export class IsAdmin implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    const { isAdmin, isSuperuser } = (actor ?? {}) as { isAdmin?: unknown; isSuperuser?: unknown };
    return decided(isAdmin === true || isSuperuser === true);
  }
}

/** `<app>.<right>_<model>` by method (contract 8.2). A method that nothing serves needs none: 405 comes later. */
const RIGHTS: Readonly<Record<string, string>> = {
  GET: 'view',
  HEAD: 'view',
  POST: 'add',
  PUT: 'change',
  PATCH: 'change',
  DELETE: 'delete',
};

/** The model permissions of the actor. OPTIONS needs an actor and no right. */
export class ModelPermissions implements Permission {
  async decide(question: AccessContext): Promise<Grant | Denial> {
    const { actor, method, resource } = question;
    if (actor === null) return this.decideAnonymous(question);
    const right = RIGHTS[method];
    return decided(
      right === undefined || (await question.holds(`${resource.app}.${right}_${resource.model}`)),
    );
  }

  protected decideAnonymous(_question: AccessContext): Grant | Denial {
    return deny();
  }
}

/** As `ModelPermissions`, and anonymous callers may read. */
export class ModelPermissionsOrAnonReadOnly extends ModelPermissions {
  protected override decideAnonymous({ method }: AccessContext): Grant | Denial {
    return decided(isReading(method));
  }
}

const BUILT_IN: ReadonlySet<unknown> = new Set([
  AllowAny,
  IsAuthenticated,
  IsAuthenticatedOrReadOnly,
  IsAdmin,
  ModelPermissions,
  ModelPermissionsOrAnonReadOnly,
]);

/** Whether what a class answers is known: it grants all rows and fields, or refuses. One that extends it may say something else. */
export function isBuiltIn(type: unknown): boolean {
  return BUILT_IN.has(type);
}
