import type { Permission } from './permission.js';

/** A permission expression whose classes have become instances. */
export type ResolvedPermission =
  | { readonly kind: 'one'; readonly permission: Permission }
  | { readonly kind: 'all-of' | 'any-of'; readonly permissions: readonly ResolvedPermission[] }
  | { readonly kind: 'not'; readonly permission: ResolvedPermission };
