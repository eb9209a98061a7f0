import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { resolveRowFilter } from '../../core/query/resolve-row-filter.js';
import type { RouteAction } from '../../core/schema/action.js';
import { isReading, QUERY_METHOD, servedMethod, TRASH_OPERATION_OF } from '../../core/schema/operation.js';
import type { Route } from '../../core/schema/route.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { grantRelatedKeys } from './grant-related-keys.js';
import { restrictFields } from './restrict-fields.js';
import type { Access, AccessControl, AskedAccess, WrittenView } from '../../core/contracts/access-control.js';
import { NotAuthenticated, NotFound, PermissionDenied } from '../../core/errors/http-exceptions.js';
import type { Actor } from '../../core/schema/caller.js';
import { ALWAYS } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type {
  AccessContext,
  FieldSet,
  Grant,
  Denial,
  PermissionSource,
  CompiledPermission,
} from '../../core/contracts/permission.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import { both, decide, visibleRows } from './evaluate-permission.js';
import type { RefusalRules } from './evaluate-permission.js';
import { asksForAggregates, intersectAccess, viewToAuthorize } from './view-deleted.js';
import { keyNames } from '../../core/query/readable-paths.js';

/** Methods whose generated responses contain the written object. */
const METHODS_RETURNING_OBJECT: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** What a model's permissions are evaluated with. */
export interface AuthorizeOptions {
  readonly rules: PermissionRules;
  /** Of an authentication scheme in use, if one has a challenge: without it an anonymous caller gets 403. */
  readonly challenge: string | undefined;
}

/** Evaluates the permissions of the route's model, or of the action, for the request's method. Throws 401, 403 and 404. */
export function authorize(route: Route, { rules, challenge }: AuthorizeOptions): Stage {
  return (context) => {
    const { method } = context;
    const action = route.actions.get(servedMethod(method));
    // Written out: V8 copies these objects by a spread in 10 µs.
    return authorizeMethod(context, { rules, challenge, method: requiredMethod(route, method), action });
  };
}

/**
 * The method whose permission a request needs: an action of an object needs the permission to read it for GET, and to change
 * it for other methods; a restoration is a change of a deleted object, and a purge its deletion.
 */
export function requiredMethod(
  { kind, operations, queryable }: Pick<Route, 'kind' | 'operations' | 'queryable'>,
  method: string,
): string {
  if (queryable && method === QUERY_METHOD) return 'GET';
  if (isReading(method)) return method;
  if (operations.get('POST') === 'purge') return 'DELETE';
  return kind === 'object-action' ? 'PATCH' : method;
}

/** Throws 403, and 401 for an anonymous caller of a model with a challenge. */
export function authorizeMethod(
  context: RestContext,
  {
    rules,
    challenge,
    method,
    action,
  }: AuthorizeOptions & { readonly method: string; readonly action?: RouteAction | undefined },
): MaybePromise<void> {
  const { actor, exchange, route } = context;
  const isOwnAction = action !== undefined && action.operation === undefined;
  const resource = isOwnAction ? route.resource : viewToAuthorize(context, method);
  const operation = !isOwnAction && asksForAggregates(context, method) ? 'aggregate' : undefined;
  const asked: AskedAccess = operation ? { method, operation } : method;
  const access = new CallerAccess({ actor, challenge, request: exchange?.request }, rules);
  const returnsObject = METHODS_RETURNING_OBJECT.has(method) && (!action || action.operation !== undefined);
  const granted = returnsObject
    ? access.authorizeWrite(resource, method, action?.permission)
    : access.authorize(resource, asked, action?.permission);
  const model = modelOf(resource);
  // A list with the other objects needs the right to view these, too.
  const all =
    isReading(method) && resource.deleted?.rows === 'with' && resource !== route.resource
      ? intersectAccess(granted, () => access.authorize(model, asked, action?.permission))
      : granted;
  return mapMaybe(all, (grant) => {
    context.access = access;
    context.grantCondition = grant.grantCondition;
    // For a nested URL, `resolveParent` restricts it further.
    context.scope = grant.grantCondition;
    context.isReading = isReading(method);
    context.isAggregate = operation !== undefined;
    return mapMaybe(grantRelatedKeys(restrictFields(resource, grant), access, method), (view) => {
      context.resource = view;
    });
  });
}

/** The permission rules of one prefix. */
export interface PermissionRules extends RefusalRules {
  readonly source: PermissionSource;
}

export interface AccessCaller {
  readonly actor: Actor;
  /** The challenge of an authentication scheme in use, if one has any. */
  readonly challenge: string | undefined;
  /** The request of the HTTP library; undefined for operations that the application runs itself. */
  readonly request: object | undefined;
}

interface Denied {
  readonly denial: Denial;
}

/** The permissions of one caller, evaluated per model and cached for one request. */
export class CallerAccess implements AccessControl {
  // Created on first use: most requests need none of them.
  private permissionChecks: Map<string, Promise<boolean>> | undefined;
  private readScopes: Map<ResourceSchema, MaybePromise<Condition>> | undefined;
  private readAccess: Map<ResourceSchema, { readonly access: MaybePromise<Access | undefined> }> | undefined;

  constructor(
    private readonly caller: AccessCaller,
    private readonly rules: PermissionRules,
  ) {}

  /** Throws 401, 403 or 404 for a denial. An action may have permissions that replace the model's. */
  authorize(
    resource: ResourceSchema,
    asked: AskedAccess,
    permission = resourceOf(resource).permission,
  ): MaybePromise<Access> {
    return mapMaybe(this.decideAccess(resource, asked, permission), (access) => {
      if ('denial' in access) throw this.denialOf(access.denial);
      return access;
    });
  }

  /**
   * As `authorize`, for a request whose response contains the written object: its readable fields are also restricted by
   * the grant of GET, except for the key; if GET is denied, by the write's alone (contract 8.7).
   */
  authorizeWrite(
    resource: ResourceSchema,
    method: string,
    permission = resourceOf(resource).permission,
  ): MaybePromise<Access> {
    const written = this.authorize(resource, method, permission);
    if (!resourceOf(resource).grantsSomeFields) return written;
    return mapMaybe(written, (access) => this.withoutHidden(modelOf(resource), access));
  }

  /** As `authorizeWrite`; undefined for a denial. */
  async tryAuthorizeWrite(
    resource: ResourceSchema,
    method: string,
    permission?: CompiledPermission,
  ): Promise<Access | undefined> {
    const access = await this.tryAuthorize(resource, method, permission);
    return access && resourceOf(resource).grantsSomeFields
      ? this.withoutHidden(modelOf(resource), access)
      : access;
  }

  /** The grant of a write without the fields that GET hides. */
  private withoutHidden(resource: ResourceSchema, access: Access): MaybePromise<Access> {
    return mapMaybe(this.evaluateRead(resource), (read) => ({
      ...access,
      readable: responseFields(resource, access.readable, read?.readable ?? 'all'),
    }));
  }

  /** Undefined for a denial. */
  async tryAuthorize(
    resource: ResourceSchema,
    asked: AskedAccess,
    permission = resourceOf(resource).permission,
  ): Promise<Access | undefined> {
    const isOwn = permission === resourceOf(resource).permission;
    return isOwn && asked === 'GET'
      ? this.evaluateRead(resource)
      : this.evaluate(resource, asked, permission);
  }

  /** Evaluated once: the response to a write, its entity tag, its expansions and its filters all depend on it. */
  private evaluateRead(resource: ResourceSchema): MaybePromise<Access | undefined> {
    this.readAccess ??= new Map();
    const known = this.readAccess.get(resource);
    if (known) return known.access;
    const access = this.evaluate(resource, 'GET');
    this.readAccess.set(resource, { access });
    return access;
  }

  private evaluate(
    resource: ResourceSchema,
    asked: AskedAccess,
    permission = resourceOf(resource).permission,
  ): MaybePromise<Access | undefined> {
    return mapMaybe(this.decideAccess(resource, asked, permission), (access) =>
      'denial' in access ? undefined : access,
    );
  }

  viewToWrite(resource: ResourceSchema, method: string): MaybePromise<WrittenView> {
    const granted = METHODS_RETURNING_OBJECT.has(method)
      ? this.authorizeWrite(resource, method)
      : this.authorize(resource, method);
    return mapMaybe(granted, (access) =>
      mapMaybe(grantRelatedKeys(restrictFields(resourceOf(resource), access), this, method), (view) => ({
        resource: view,
        grantCondition: access.grantCondition,
      })),
    );
  }

  /** Rows that the caller may refer to: as a parent in a URL, or as a key in a body (contract 8.6). */
  readScope(resource: ResourceSchema): MaybePromise<Condition> {
    const { permission } = resourceOf(resource);
    if (permission.kind === 'anyone') return ALWAYS;
    this.readScopes ??= new Map();
    let scope = this.readScopes.get(resource);
    if (!scope) {
      scope = mapMaybe(visibleRows(permission, this.contextOf(resource, 'GET'), this.rules), (rows) =>
        resolveRows(rows, resource),
      );
      this.readScopes.set(resource, scope);
    }
    return scope;
  }

  private decideAccess(
    resource: ResourceSchema,
    asked: AskedAccess,
    permission: CompiledPermission,
  ): MaybePromise<Access | Denied> {
    if (permission.kind === 'anyone') return UNRESTRICTED;
    return mapMaybe(decide(permission, this.contextOf(resource, asked)), (decision) =>
      decision.kind === 'grant' ? accessOf(decision, resource) : { denial: decision },
    );
  }

  private contextOf(resource: ResourceSchema, asked: AskedAccess): AccessContext {
    const { method, operation } = typeof asked === 'string' ? { method: asked, operation: undefined } : asked;
    return {
      actor: this.caller.actor,
      method: servedMethod(method),
      operation: resource.deleted ? TRASH_OPERATION_OF[servedMethod(method)] : operation,
      resource: resource.deleted?.of ?? resource,
      request: this.caller.request,
      holds: (name) => this.hasPermission(name),
    };
  }

  private hasPermission(name: string): Promise<boolean> {
    this.permissionChecks ??= new Map();
    let check = this.permissionChecks.get(name);
    if (!check) {
      check = Promise.resolve(this.rules.source.holds(this.caller.actor, name)).then((yes) => yes);
      this.permissionChecks.set(name, check);
    }
    return check;
  }

  private denialOf({ reason }: Denial): Error {
    if (reason === 'hidden') return new NotFound();
    const { actor, challenge } = this.caller;
    return actor === null && challenge !== undefined
      ? new NotAuthenticated(challenge)
      : new PermissionDenied();
  }
}

/** The model of a view on deleted objects; any other one itself. */
function modelOf(resource: ResourceSchema): Resource {
  return resourceOf(resource.deleted?.of ?? resource);
}

const UNRESTRICTED: Access = { grantCondition: ALWAYS, readable: 'all', writable: 'all' };

function accessOf({ rows, readable, writable }: Grant, resource: ResourceSchema): Access {
  return { grantCondition: resolveRows(rows, resource), readable, writable };
}

function resolveRows(rows: Grant['rows'], resource: ResourceSchema): Condition {
  return rows === 'all' ? ALWAYS : resolveRowFilter(rows, resource);
}

function responseFields(resource: ResourceSchema, written: FieldSet, read: FieldSet): FieldSet {
  const fields = both(written, read);
  return fields === 'all' ? fields : new Set([...fields, ...keyNames(resource)]);
}
