import type { AuthenticationScheme } from '../core/contracts/authentication.js';
import { isReading } from '../core/schema/operation.js';
import type { Resource } from '../core/schema/resource.js';
import type { CompiledPermission } from '../core/contracts/permission.js';
import {
  IsAdmin,
  IsAuthenticated,
  IsAuthenticatedOrReadOnly,
  ModelPermissions,
  ModelPermissionsOrAnonReadOnly,
  RowScope,
} from '../features/permissions/built-in-permissions.js';
import type { Schema, SecurityRequirement } from './open-api-types.js';

/** The statically known properties of a permission. */
export interface KnownAccess {
  /** Whether some callers may get a 401 or 403. */
  readonly refuses: boolean;
  /** Whether some callers may get a 404 regardless of the rows. */
  readonly hides: boolean;
  readonly anonymous: 'may' | 'may not' | 'unknown';
  /** Whether every permitted caller may read all fields. */
  readonly allFields: boolean;
}

const OPEN: KnownAccess = { refuses: false, hides: false, anonymous: 'may', allFields: true };
const CLOSED: KnownAccess = { refuses: true, hides: false, anonymous: 'may not', allFields: true };
/** A custom permission class: nothing is known. */
const UNKNOWN: KnownAccess = { refuses: true, hides: true, anonymous: 'unknown', allFields: false };

/** Only for these classes themselves, because subclasses may differ. */
const BUILT_IN = new Map<unknown, (reading: boolean) => KnownAccess>([
  [RowScope, () => OPEN],
  [IsAuthenticated, () => CLOSED],
  [IsAdmin, () => CLOSED],
  [ModelPermissions, () => CLOSED],
  [IsAuthenticatedOrReadOnly, (reading) => (reading ? OPEN : CLOSED)],
  [ModelPermissionsOrAnonReadOnly, (reading) => (reading ? { ...CLOSED, anonymous: 'may' } : CLOSED)],
]);

export function knownAccess(permission: CompiledPermission, method: string): KnownAccess {
  switch (permission.kind) {
    case 'anyone':
      return OPEN;
    case 'one':
      return BUILT_IN.get(permission.permission.constructor)?.(isReading(method)) ?? UNKNOWN;
    case 'not':
      return UNKNOWN;
    case 'all-of':
    case 'any-of': {
      const all = permission.permissions.map((each) => knownAccess(each, method));
      const isAny = permission.kind === 'any-of';
      const holds = (of: (access: KnownAccess) => boolean): boolean => (isAny ? all.every(of) : all.some(of));
      return {
        refuses: holds(({ refuses }) => refuses),
        hides: holds(({ hides }) => hides),
        anonymous: isAny ? anonymousOf(all, 'may', 'may not') : anonymousOf(all, 'may not', 'may'),
        allFields: all.every(({ allFields }) => allFields),
      };
    }
    default:
      return permission satisfies never;
  }
}

/** True if one of the permissions has the first property, or all have the second. */
function anonymousOf(
  all: readonly KnownAccess[],
  decisive: KnownAccess['anonymous'],
  other: KnownAccess['anonymous'],
): KnownAccess['anonymous'] {
  if (all.some(({ anonymous }) => anonymous === decisive)) return decisive;
  return all.every(({ anonymous }) => anonymous === other) ? other : 'unknown';
}

/** The names of security schemes for the known authentication schemes: guards may not declare theirs. */
export function schemeNames(schemes: readonly AuthenticationScheme[]): readonly string[] {
  return [...new Set(schemes.flatMap(({ name }) => name ?? []))];
}

/** A valid name of a component. */
export function schemeName(place: string): string {
  return place.replace(/^header /, 'header-').replace(/[^\w.-]/g, '_');
}

/** The location of the credentials of a scheme (`header x-api-key`, or the scheme of the Authorization header). */
export function securityScheme(place: string): Schema {
  const [, header] = /^header (.*)$/.exec(place) ?? [];
  return header === undefined
    ? { type: 'http', scheme: place }
    : { type: 'apiKey', in: 'header', name: header };
}

/** The security of an operation; undefined for that of the document. */
export function securityOf(
  { schemes }: Resource,
  access: KnownAccess,
  hasSecurity: boolean,
): readonly SecurityRequirement[] | undefined {
  if (schemeNames(schemes).length > 0) return requirementsOf(schemes, access);
  return hasSecurity ? undefined : [];
}

/** Alternatives; the empty requirement is an anonymous caller. */
function requirementsOf(
  schemes: readonly AuthenticationScheme[],
  { anonymous }: KnownAccess,
): readonly SecurityRequirement[] {
  const named = schemeNames(schemes).map((place): SecurityRequirement => ({ [schemeName(place)]: [] }));
  // A guard rejects anonymous callers regardless of the permissions.
  const passes = anonymous !== 'may not' && schemes.every(({ guards }) => guards === undefined);
  return passes ? [...named, {}] : named;
}
