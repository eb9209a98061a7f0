/**
 * Who asks: whatever the application's authentication has put on the request. Only `PermissionSource` looks inside.
 * Null is an anonymous caller.
 */
export type Actor = object | null;
