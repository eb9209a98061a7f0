import type { Permission } from './permission.js';
import type { RowFilter } from '../query/row-filter.js';

/** A class of a permission, made by Nest's injector. */
export type PermissionClass = new (...dependencies: never[]) => Permission;

/** Permissions put together. A list of them is an `allOf`. */
export type PermissionExpression =
  | PermissionClass
  | { readonly kind: 'all-of' | 'any-of'; readonly permissions: readonly PermissionExpression[] }
  | { readonly kind: 'not-permission'; readonly permission: PermissionExpression };

/** All must say yes. Their rows are AND-ed, and a field must be granted by each. */
export function allOf(...permissions: readonly PermissionExpression[]): PermissionExpression {
  return { kind: 'all-of', permissions };
}

/**
 * One must say yes. Their rows are OR-ed. Where their fields differ, those are granted that every row may show: of the
 * ones that grant all rows any field, else only fields that all of them grant.
 */
export function anyOf(...permissions: readonly PermissionExpression[]): PermissionExpression {
  return { kind: 'any-of', permissions };
}

/** The other rows: of a row filter, or of a permission. A permission that grants all rows becomes a no, and a no grants all. */
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
