import type { JSX } from 'preact';
import { text } from '../messages/messages.js';
import { usePage } from './context.js';

/** Who sends the requests, with the way to change it. */
export function Caller({ openLogin }: { openLogin(): void }): JSX.Element {
  const { session, config } = usePage();
  const { credentials } = session;
  const { loginUrl, logoutUrl } = config.login;
  return (
    <div class="caller">
      {credentials && (
        <>
          <span>
            {credentials.name === undefined
              ? text('loggedIn')
              : text('loggedInAs', { name: credentials.name })}
          </span>
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
