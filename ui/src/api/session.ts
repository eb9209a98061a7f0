/** What the page sends as `Authorization`. */
export interface Credentials {
  readonly header: string;
  /** The name of the user as the server or the user gave it, for display; undefined if it is unknown. */
  readonly name: string | undefined;
  /** Whether the server has said that it accepts them. */
  readonly isConfirmed?: boolean;
}

const STORED = 'restify.credentials';
const CHANNEL = 'restify';
/** Whose drafts the tab keeps. */
const OWNER = 'restify.owner';

/** The credentials of one tab: in memory, or in the tab's own storage by choice. All tabs log out together. */
export class Session {
  /** Whether the user was logged in before the page was loaded again. */
  readonly wasLost: boolean;
  private current: Credentials | undefined;
  private readonly channel =
    typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(CHANNEL);

  /** @param onLogOut called when this or another tab logs out. */
  constructor(private readonly onLogOut: () => void) {
    this.current = readStored();
    this.wasLost = !this.current && sessionStorage.getItem(OWNER) !== null;
    this.channel?.addEventListener('message', () => {
      this.forget();
      this.onLogOut();
    });
  }

  get credentials(): Credentials | undefined {
    return this.current;
  }

  logIn(credentials: Credentials, keep: boolean): void {
    const owner = credentials.name ?? '';
    // What somebody else has typed must not be shown.
    if ((sessionStorage.getItem(OWNER) ?? owner) !== owner) sessionStorage.clear();
    sessionStorage.setItem(OWNER, owner);
    this.current = credentials;
    if (keep) sessionStorage.setItem(STORED, JSON.stringify(credentials));
    else sessionStorage.removeItem(STORED);
  }

  /** Forgets credentials that the server rejects. What was typed into forms stays. */
  drop(): void {
    this.current = undefined;
    sessionStorage.removeItem(STORED);
  }

  logOut(): void {
    this.forget();
    this.channel?.postMessage('log out');
    this.onLogOut();
  }

  private forget(): void {
    this.current = undefined;
    sessionStorage.clear();
  }
}

function readStored(): Credentials | undefined {
  const stored = sessionStorage.getItem(STORED);
  if (stored === null) return undefined;
  try {
    return JSON.parse(stored) as Credentials;
  } catch {
    return undefined;
  }
}

/** The header of HTTP Basic authentication, with the user name and the password in UTF-8. */
export function basicCredentials(name: string, password: string): Credentials {
  const bytes = new TextEncoder().encode(`${name}:${password}`);
  return { header: `Basic ${btoa(String.fromCharCode(...bytes))}`, name };
}

export function bearerCredentials(token: string): Credentials {
  return { header: `Bearer ${token.trim()}`, name: undefined };
}
