import type { Grant, Permission, Denial } from './permission.js';

/** Told of each answer of a class of the application's own. */
export interface DecisionWatch {
  note(answer: Grant | Denial, method: string): void;
}

/** A permission expression whose classes have become instances. */
export type CompiledPermission =
  | {
      readonly kind: 'one';
      readonly permission: Permission;
      readonly watch?: DecisionWatch | undefined;
      /** What it grants, it grants with every field. */
      readonly allFields?: boolean;
    }
  | { readonly kind: 'all-of' | 'any-of'; readonly permissions: readonly CompiledPermission[] }
  | { readonly kind: 'not'; readonly permission: CompiledPermission };
