import type { Grant, Permission, Denial } from './permission.js';

/** An observer of the decisions of the application's permission classes. */
export interface DecisionWatch {
  record(decision: Grant | Denial, method: string): void;
}

/** A permission expression with its classes resolved to instances. */
export type CompiledPermission =
  /** Grants everything to every caller. */
  | { readonly kind: 'anyone' }
  | {
      readonly kind: 'one';
      readonly permission: Permission;
      readonly watch?: DecisionWatch | undefined;
      /** Its grants never restrict the fields. */
      readonly allFields?: boolean;
    }
  | { readonly kind: 'all-of' | 'any-of'; readonly permissions: readonly CompiledPermission[] }
  | { readonly kind: 'not'; readonly permission: CompiledPermission };
