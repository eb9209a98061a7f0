import type { AuthenticationScheme } from '../core/contracts/authentication.js';
import { isReading } from '../core/schema/operation.js';
import type { Permission } from '../core/contracts/permission.js';
import type { CompiledPermission } from '../core/contracts/compiled-permission.js';
import {
  AllowAny,
  IsAdmin,
  IsAuthenticated,
  IsAuthenticatedOrReadOnly,
  ModelPermissions,
  ModelPermissionsOrAnonReadOnly,
} from '../features/permissions/built-in-permissions.js';
import { RowScope } from '../features/permissions/row-scope.js';
import type { Schema, SecurityRequirement } from './open-api-types.js';

/** What can be known of a permission without asking it. */
export interface KnownAccess {
  /** Some caller may be told that he is not permitted. */
  readonly refuses: boolean;
  /** Some caller may be told that there is nothing, whatever the rows. */
  readonly hides: boolean;
  readonly anonymous: 'may' | 'may not' | 'unknown';
  /** Whoever is let in sees every field. */
  readonly allFields: boolean;
}

const OPEN: KnownAccess = { refuses: false, hides: false, anonymous: 'may', allFields: true };
const CLOSED: KnownAccess = { refuses: true, hides: false, anonymous: 'may not', allFields: true };
/** A class of the application's own: anything. */
const UNKNOWN: KnownAccess = { refuses: true, hides: true, anonymous: 'unknown', allFields: false };

/** By the class itself: one that extends it may say something else. */
const BUILT_IN = new Map<unknown, (reading: boolean) => KnownAccess>([
  [AllowAny, () => OPEN],
  [RowScope, () => OPEN],
  [IsAuthenticated, () => CLOSED],
  [IsAdmin, () => CLOSED],
  [ModelPermissions, () => CLOSED],
  [IsAuthenticatedOrReadOnly, (reading) => (reading ? OPEN : CLOSED)],
  [ModelPermissionsOrAnonReadOnly, (reading) => (reading ? { ...CLOSED, anonymous: 'may' } : CLOSED)],
]);

export function knownAccess(permission: CompiledPermission, method: string): KnownAccess {
  switch (permission.kind) {
    case 'one':
      return accessByClass(permission.permission, method);
    case 'not':
      return UNKNOWN;
    case 'all-of': {
      const all = permission.permissions.map((each) => knownAccess(each, method));
      return {
        refuses: all.some(({ refuses }) => refuses),
        hides: all.some(({ hides }) => hides),
        anonymous: anonymousOf(all, 'may not', 'may'),
        allFields: all.every(({ allFields }) => allFields),
      };
    }
    case 'any-of': {
      const all = permission.permissions.map((each) => knownAccess(each, method));
      return {
        refuses: all.every(({ refuses }) => refuses),
        hides: all.every(({ hides }) => hides),
        anonymous: anonymousOf(all, 'may', 'may not'),
        allFields: all.every(({ allFields }) => allFields),
      };
    }
    default:
      return permission satisfies never;
  }
}

function accessByClass(permission: Permission, method: string): KnownAccess {
  return BUILT_IN.get(permission.constructor)?.(isReading(method)) ?? UNKNOWN;
}

/** One of the first decides; else all have to be the second. */
function anonymousOf(
  all: readonly KnownAccess[],
  decisive: KnownAccess['anonymous'],
  other: KnownAccess['anonymous'],
): KnownAccess['anonymous'] {
  if (all.some(({ anonymous }) => anonymous === decisive)) return decisive;
  return all.every(({ anonymous }) => anonymous === other) ? other : 'unknown';
}

/** Names of places of credentials that a document can tell: guards may not say theirs. */
export function schemeNames(schemes: readonly AuthenticationScheme[]): readonly string[] {
  return [...new Set(schemes.flatMap(({ name }) => name ?? []))];
}

/** A name that a component may have. */
export function schemeName(place: string): string {
  return place.replace(/^header /, 'header-').replace(/[^\w.-]/g, '_');
}

/** Where the credentials of a scheme stand (`header x-api-key`, or the scheme of the Authorization header). */
export function securityScheme(place: string): Schema {
  const [, header] = /^header (.*)$/.exec(place) ?? [];
  return header === undefined
    ? { type: 'http', scheme: place }
    : { type: 'apiKey', in: 'header', name: header };
}

/** Any of them is enough; the empty one is for callers who say nothing. */
export function requirementsOf(
  schemes: readonly AuthenticationScheme[],
  { anonymous }: KnownAccess,
): readonly SecurityRequirement[] {
  const named = schemeNames(schemes).map((place): SecurityRequirement => ({ [schemeName(place)]: [] }));
  // A guard lets nobody pass whom it does not know, whatever the permissions say.
  const passes = anonymous !== 'may not' && schemes.every(({ guards }) => guards === undefined);
  return passes ? [...named, {}] : named;
}
