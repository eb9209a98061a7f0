import { createHash } from 'node:crypto';
import type { RefusalLimits } from '../../core/contracts/authentication.js';
import { isPromise, mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { AttemptsByKey } from './failed-attempts.js';
import type { CredentialCheck } from './failed-attempts.js';
import { isIPv6 } from 'node:net';

/**
 * Reports rejected credentials of an address to other processes, and resolves to the milliseconds for which the address is
 * locked out.
 */
export type ShareRefusal = (address: string) => Promise<number>;

/** Presented credentials and the address of the client. */
export interface PresentedCredentials {
  readonly address: string;
  /** Undefined if the scheme has no user names, or the name cannot be read. */
  readonly username: string | undefined;
}

/** Characters up to which a user name is kept as text; longer ones are hashed. */
const KEPT_NAME = 64;

/**
 * Rejected credentials of one prefix, by address and by user name and address. The store that processes share can only be
 * read by incrementing it: so this process caches what it returned, and learns of rejections elsewhere with its own next
 * one.
 */
export class RefusedCredentials {
  private readonly addresses: AttemptsByKey;
  private readonly users: AttemptsByKey;

  constructor(
    { perAddress, perUser, ttl }: RefusalLimits,
    private readonly share: ShareRefusal = () => Promise.resolve(0),
  ) {
    this.addresses = new AttemptsByKey({ limit: perAddress, ttl, clearedBySuccess: false });
    this.users = new AttemptsByKey({ limit: perUser, ttl, clearedBySuccess: true });
  }

  /** The number of keys in memory. */
  get size(): number {
    return this.addresses.size + this.users.size;
  }

  /**
   * Starts a check of credentials. Throws or rejects with 429 if too many have been rejected, and with 503 at the deadline
   * `ends`.
   */
  begin({ address, username }: PresentedCredentials, ends: number): MaybePromise<CredentialCheck> {
    const network = networkOf(address);
    this.addresses.refuseShut(network);
    // By user first: a check that waits for others of the same name must not block other users of the address.
    const ofUser =
      username === undefined ? undefined : this.users.begin(`${network} ${keptName(username)}`, ends);
    return mapMaybe(ofUser, (user) =>
      mapMaybe(this.beginAddress(network, ends, user), (ofAddress) => ({
        end: (outcome) => {
          ofAddress.end(outcome);
          user?.end(outcome);
          if (outcome === 'wrong') this.tellOthers(network);
        },
      })),
    );
  }

  /** Ends the check of the user if the address is locked. */
  private beginAddress(
    network: string,
    ends: number,
    ofUser: CredentialCheck | undefined,
  ): MaybePromise<CredentialCheck> {
    const abandon = (error: unknown): never => {
      ofUser?.end('none');
      throw error;
    };
    try {
      const begun = this.addresses.begin(network, ends);
      return isPromise(begun) ? begun.catch(abandon) : begun;
    } catch (error) {
      return abandon(error);
    }
  }

  /** Not awaited: the local count is enough to reject. */
  private tellOthers(network: string): void {
    void this.share(network).then((milliseconds) => {
      if (milliseconds > 0) this.addresses.shut(network, milliseconds);
    });
  }
}

function keptName(username: string): string {
  return username.length <= KEPT_NAME ? username : createHash('sha256').update(username).digest('base64');
}

/**
 * The groups of an IPv6 address that identify a network (/64): a client usually controls all addresses of its network.
 */
const NETWORK_GROUPS = 4;

/** The network by which an address is counted: IPv4 as it is, also if mapped into IPv6, and IPv6 by its /64. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [before = '', after] = address.toLowerCase().split('%')[0]?.split('::') ?? [];
  const head = groupsOf(before);
  const tail = after === undefined ? [] : groupsOf(after);
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0');
  const groups = [...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** An IPv4 address at the end replaces two groups. */
function groupsOf(text: string): readonly string[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}
