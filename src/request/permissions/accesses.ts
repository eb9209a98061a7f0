import { NotAuthenticated, NotFound, PermissionDenied } from '../../errors/request-errors.js';
import type { Actor } from '../../model/actor.js';
import type { Condition } from '../../model/condition.js';
import { servedMethod } from '../../model/operation.js';
import type { AccessQuestion, FieldSet, Grant, Refusal } from '../../model/permission.js';
import type { PermissionSource } from '../../model/permission-source.js';
import type { Resource } from '../../model/resource.js';
import type { RowFilter } from '../../model/row-filter.js';
import { whenThere } from '../../values/soon.js';
import type { Soon } from '../../values/soon.js';
import { decide, visibleRows } from './combine-grants.js';

/** What the permissions of a model leave a caller. */
export interface Access {
  readonly rows: Condition;
  readonly readable: FieldSet;
  readonly writable: FieldSet;
}

/** Makes a condition of an author's rows; given from outside, because planning is another step. */
export type ResolveRows = (rows: 'all' | RowFilter, resource: Resource) => Condition;

export interface Caller {
  readonly actor: Actor;
  readonly source: PermissionSource;
  /** The challenge of an authentication scheme that is in use, if one can. */
  readonly challenge: string | undefined;
  /** As the HTTP library gives it; undefined where the application asks itself. */
  readonly request: object | undefined;
}

/** All that one caller may do, asked model by model and remembered for one request. */
export class Accesses {
  // Made when they are wanted: most requests want none of them.
  private held: Map<string, Promise<boolean>> | undefined;
  private seen: Map<Resource, Soon<Condition>> | undefined;

  constructor(
    private readonly caller: Caller,
    private readonly resolveRows: ResolveRows,
  ) {}

  /** Throws 401, 403 or 404 for a no. An action may have permissions in place of the model's. */
  admit(resource: Resource, method: string, permission = resource.permission): Soon<Access> {
    return whenThere(decide(permission, this.question(resource, method)), (answer) => {
      if (answer.kind !== 'grant') throw this.refused(answer);
      return this.accessOf(answer, resource);
    });
  }

  /** Undefined for a no. */
  async find(resource: Resource, method: string): Promise<Access | undefined> {
    const answer = await decide(resource.permission, this.question(resource, method));
    return answer.kind === 'grant' ? this.accessOf(answer, resource) : undefined;
  }

  /** Rows that the caller may name from elsewhere: as a parent in a URL, or as a key in a body (contract 8). */
  visible(resource: Resource): Soon<Condition> {
    this.seen ??= new Map();
    let seen = this.seen.get(resource);
    if (!seen) {
      seen = whenThere(visibleRows(resource.permission, this.question(resource, 'GET')), (rows) => this.resolveRows(rows, resource));
      this.seen.set(resource, seen);
    }
    return seen;
  }

  private question(resource: Resource, method: string): AccessQuestion {
    return { actor: this.caller.actor, method: servedMethod(method), resource, request: this.caller.request, holds: (name) => this.holds(name) };
  }

  private holds(name: string): Promise<boolean> {
    this.held ??= new Map();
    let held = this.held.get(name);
    if (!held) {
      held = Promise.resolve(this.caller.source.holds(this.caller.actor, name)).then((yes) => yes);
      this.held.set(name, held);
    }
    return held;
  }

  private accessOf({ rows, readable, writable }: Grant, resource: Resource): Access {
    return { rows: this.resolveRows(rows, resource), readable, writable };
  }

  private refused({ reason }: Refusal): Error {
    if (reason === 'hidden') return new NotFound();
    const { actor, challenge } = this.caller;
    return actor === null && challenge !== undefined ? new NotAuthenticated(challenge) : new PermissionDenied();
  }
}
