import type { JSX } from 'preact';
import { text } from '../messages/messages.js';
import { usePage } from './context.js';

interface CallerProps {
  /** Whether the server has refused the credentials for what is shown. */
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
          {!isRefused && (
            <span>
              {credentials.name === undefined
                ? text('loggedIn')
                : text('loggedInAs', { name: credentials.name })}
            </span>
          )}
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
      {!credentials && (
        <button type="button" onClick={openLogin}>
          {text('logIn')}
        </button>
      )}
      {loginUrl !== undefined && !credentials && <a href={loginUrl}>{text('logIn')} ↗</a>}
      {logoutUrl !== undefined && !credentials && <a href={logoutUrl}>{text('logOut')} ↗</a>}
    </div>
  );
}
