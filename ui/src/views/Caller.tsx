import type { JSX } from 'preact';
import type { Credentials } from '../api/session.js';
import { text } from '../messages/messages.js';
import { usePage } from './context.js';

interface CallerProps {
  /** Whether the server has rejected the credentials for what is shown. */
  readonly isRefused: boolean;
  openLogin(): void;
}

/** Who sends the requests, with the way to change it. */
export function Caller({ isRefused, openLogin }: CallerProps): JSX.Element {
  const { session, config } = usePage();
  const { credentials } = session;
  const { loginUrl, logoutUrl } = config.login;
  return (
    <div class="caller">
      {credentials && (
        <>
          {!isRefused && <span>{nameCaller(credentials)}</span>}
          <button
            type="button"
            onClick={() => {
              session.logOut();
            }}
          >
            {text('logOut')}
          </button>
        </>
      )}
      {!credentials && !isRefused && (
        <button type="button" onClick={openLogin}>
          {text('logIn')}
        </button>
      )}
      {loginUrl !== undefined && !credentials && <a href={loginUrl}>{text('logIn')} ↗</a>}
      {logoutUrl !== undefined && !credentials && <a href={logoutUrl}>{text('logOut')} ↗</a>}
    </div>
  );
}

/** Credentials that the server has not confirmed may be those of nobody. */
function nameCaller({ name, isConfirmed }: Credentials): string {
  if (isConfirmed !== true) return text('unconfirmed');
  return name === undefined ? text('loggedIn') : text('loggedInAs', { name });
}
