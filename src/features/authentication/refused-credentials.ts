import { createHash } from 'node:crypto';
import type { RefusalLimits } from '../../core/contracts/authentication.js';
import { AttemptsByKey } from './failed-attempts-by-key.js';
import type { CredentialCheck } from './failed-attempts-by-key.js';
import { networkOf } from './client-network.js';

/** Tells other processes of one more refusal of an address, and learns from it for how many milliseconds it is shut. */
export type ShareRefusal = (address: string) => Promise<number>;

/** Credentials, and where they came from. */
export interface PresentedCredentials {
  readonly address: string;
  /** Undefined where the scheme has none, or it cannot be read. */
  readonly username: string | undefined;
}

/** Characters of a user name that are kept as they are. */
const KEPT_NAME = 64;

/**
 * Refused credentials below one prefix, by address and by user name from an address. What is shared between processes
 * can only be asked by counting: so this process remembers what it was told, and learns of refusals elsewhere by its own
 * next one.
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

  /** How many callers are remembered. */
  get size(): number {
    return this.addresses.size + this.users.size;
  }

  /** Before credentials are looked at. Rejects with 429 where too many have been refused, and with 503 at `ends`. */
  async begin({ address, username }: PresentedCredentials, ends: number): Promise<CredentialCheck> {
    const network = networkOf(address);
    this.addresses.refuseShut(network);
    // The user first: who waits for others of the same name holds nobody else of the address up.
    const ofUser =
      username === undefined ? undefined : await this.users.begin(`${network} ${keptName(username)}`, ends);
    const ofAddress = await this.addresses.begin(network, ends).catch((error: unknown) => {
      ofUser?.end('none');
      throw error;
    });
    return {
      end: (outcome) => {
        ofAddress.end(outcome);
        ofUser?.end(outcome);
        if (outcome === 'wrong') this.tellOthers(network);
      },
    };
  }

  /** Nobody waits for it: what this process knows is enough to refuse. */
  private tellOthers(network: string): void {
    void this.share(network).then((milliseconds) => {
      if (milliseconds > 0) this.addresses.shut(network, milliseconds);
    });
  }
}

function keptName(username: string): string {
  return username.length <= KEPT_NAME ? username : createHash('sha256').update(username).digest('base64');
}
