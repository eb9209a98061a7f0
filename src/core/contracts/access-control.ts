import type { MaybePromise } from '../maybe-promise.js';
import { NEVER } from '../query/condition.js';
import type { Condition } from '../query/condition.js';
import type { ResourceSchema } from '../schema/resource-schema.js';
import type { Resource } from '../schema/resource.js';
import type { CompiledPermission, FieldSet } from './permission.js';
import { PermissionDenied } from '../errors/http-exceptions.js';

/** What the permissions of a model grant a caller. */
export interface Access {
  readonly grantCondition: Condition;
  readonly readable: FieldSet;
  readonly writable: FieldSet;
}

/** The method for which access is asked; an object for aggregates of the rows that GET lists. */
export type AskedAccess = string | { readonly method: string; readonly operation: 'aggregate' | undefined };

/** The fields and rows of a model that a caller may write. */
export interface WrittenView {
  readonly resource: Resource;
  readonly grantCondition: Condition;
}

/** The permissions of one caller, evaluated model by model and cached for one request. */
export interface AccessControl {
  /** Throws 401, 403 or 404 where access is denied. An action may have permissions in place of the model's. */
  authorize(
    resource: ResourceSchema,
    asked: AskedAccess,
    permission?: CompiledPermission,
  ): MaybePromise<Access>;
  /**
   * As `authorize`, for a request whose response shows the written object: fields that GET lets the caller read too, and the
   * key; where GET is denied, those of the write (contract 8.7).
   */
  authorizeWrite(
    resource: ResourceSchema,
    method: string,
    permission?: CompiledPermission,
  ): MaybePromise<Access>;
  /** Undefined where access is denied. */
  tryAuthorize(
    resource: ResourceSchema,
    asked: AskedAccess,
    permission?: CompiledPermission,
  ): Promise<Access | undefined>;
  /** As `authorizeWrite`; undefined where access is denied. */
  tryAuthorizeWrite(
    resource: ResourceSchema,
    method: string,
    permission?: CompiledPermission,
  ): Promise<Access | undefined>;
  /** The view and the rows of a model in a write by this method, as at its own URL. Throws 401, 403 and 404. */
  viewToWrite(resource: ResourceSchema, method: string): MaybePromise<WrittenView>;
  /** Rows that the caller may name from elsewhere: as a parent in a URL, or as a key in a body (contract 8.6). */
  readScope(resource: ResourceSchema): MaybePromise<Condition>;
}

/** Denies everything: the access of a request before `authorize` has run. */
export const NO_ACCESS: AccessControl = {
  authorize: () => {
    throw new PermissionDenied();
  },
  authorizeWrite: () => {
    throw new PermissionDenied();
  },
  tryAuthorize: () => Promise.resolve(undefined),
  tryAuthorizeWrite: () => Promise.resolve(undefined),
  viewToWrite: () => {
    throw new PermissionDenied();
  },
  readScope: () => NEVER,
};
