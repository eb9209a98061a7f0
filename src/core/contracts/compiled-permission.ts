import type { Grant, Permission, Refusal } from './permission.js';

/** Told of each answer of a class of the application's own. */
export interface AnswerWatch {
  note(answer: Grant | Refusal, method: string): void;
}

/** A permission expression whose classes have become instances. */
export type ResolvedPermission =
  | {
      readonly kind: 'one';
      readonly permission: Permission;
      readonly watch?: AnswerWatch | undefined;
      /** What it grants, it grants with every field. */
      readonly allFields?: boolean;
    }
  | { readonly kind: 'all-of' | 'any-of'; readonly permissions: readonly ResolvedPermission[] }
  | { readonly kind: 'not'; readonly permission: ResolvedPermission };
