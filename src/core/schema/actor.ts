/**
 * The authenticated user, as the application's authentication has set it on the request; null for an anonymous caller. Its
 * permissions are read by `PermissionSource` only.
 */
export type Actor = object | null;
