import type { Permission } from './permission.js';
import type { RowFilter } from '../query/row-filter.js';

/** A permission class, instantiated by Nest's injector. */
export type PermissionClass = new (...dependencies: never[]) => Permission;

/** A permission class or a combination of permissions. A list of them is an `allOf`. */
export type PermissionExpression =
  | PermissionClass
  | { readonly kind: 'all-of' | 'any-of'; readonly permissions: readonly PermissionExpression[] }
  | { readonly kind: 'not-permission'; readonly permission: PermissionExpression };

/** Grants if all permissions grant. Their rows are AND-ed, and a field must be granted by each. */
export function allOf(...permissions: readonly PermissionExpression[]): PermissionExpression {
  return { kind: 'all-of', permissions };
}

/**
 * Grants if at least one permission grants. Their rows are OR-ed. If their fields differ, only fields that are readable in
 * every row are granted: any field of a permission that grants all rows, else the fields that all of them grant.
 */
export function anyOf(...permissions: readonly PermissionExpression[]): PermissionExpression {
  return { kind: 'any-of', permissions };
}

/** The negation of a row filter, or of a permission. A permission that grants all rows becomes a denial, and a denial grants all. */
export function not(filter: RowFilter): RowFilter;
export function not(permission: PermissionExpression): PermissionExpression;
export function not(operand: RowFilter | PermissionExpression): RowFilter | PermissionExpression {
  return isRowFilter(operand)
    ? { kind: 'not', filter: operand }
    : { kind: 'not-permission', permission: operand };
}

function isRowFilter(operand: RowFilter | PermissionExpression): operand is RowFilter {
  return typeof operand !== 'function' && ['where', 'and', 'or', 'not'].includes(operand.kind);
}
